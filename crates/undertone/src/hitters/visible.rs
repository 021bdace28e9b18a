//! From which share on a value is seen.

use undertone_numeric::binomial::binomial_at_least;
use undertone_numeric::bisection::Bracket;
use undertone_numeric::normal::normal_quantile;

use super::support::Support;

/// The rule of thumb: a value is seen from about (z_{error/candidates} + z_{1-power})·√(v·rounds/people) on, where v is
/// n times the variance of a share of nought ([`Support::variance_at_zero`]) and the people are shared out evenly. It is about one round; that a value
/// must pass all of them is in [`Passage::least_share`].
pub fn rule_of_thumb(
    variance: f64,
    rounds: usize,
    people: u64,
    candidates: u64,
    error: f64,
    power: f64,
) -> f64 {
    let quantiles = normal_quantile(error / candidates as f64) + normal_quantile(1.0 - power);
    quantiles * (variance * rounds as f64 / people as f64).sqrt()
}

/// The least number of n reports, each of which supports a value with this probability at most, that is reached with at most
/// this chance; nothing if even n is reached too often.
pub fn critical_count(people: u64, probability: f64, chance: f64) -> Option<u64> {
    let reached = |count| binomial_at_least(people, probability, 1.0 - probability, count);
    if people == 0 || reached(people) > chance {
        return None;
    }
    let (mut low, mut high) = (0, people);
    // Reached too often at `low`, seldom enough at `high`.
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if reached(middle) > chance { low = middle } else { high = middle }
    }
    Some(high)
}

/// The tests that a value must pass to be found: in every round, so many supporting reports of so many.
#[derive(Debug, Clone)]
pub struct Passage<'a> {
    support: &'a Support,
    /// People and critical counts.
    rounds: Vec<(u64, Option<u64>)>,
}

impl<'a> Passage<'a> {
    /// Rounds of so many people, each of which lets a value through that nobody, or at most this share, has with at most the
    /// chance given.
    pub fn new(
        support: &'a Support,
        threshold: f64,
        rounds: impl IntoIterator<Item = (u64, f64)>,
    ) -> Self {
        let probability = support.at(threshold);
        let round = |(people, chance)| (people, critical_count(people, probability, chance));
        Self { support, rounds: rounds.into_iter().map(round).collect() }
    }

    /// The critical count of every round.
    pub fn critical(&self) -> impl Iterator<Item = Option<u64>> + '_ {
        self.rounds.iter().map(|(_, count)| *count)
    }

    /// The probability that a value of this share passes all rounds; its prefixes have at least its share.
    pub fn power(&self, share: f64) -> f64 {
        let probability = self.support.at(share);
        let passes = |&(people, count): &(u64, Option<u64>)| {
            count.map_or(0.0, |count| {
                binomial_at_least(people, probability, 1.0 - probability, count)
            })
        };
        self.rounds.iter().map(passes).product()
    }

    /// The least share of which a value passes all rounds with this probability; nothing if not even a value that everybody has
    /// does.
    pub fn least_share(&self, power: f64) -> Option<f64> {
        if self.power(1.0) < power {
            return None;
        }
        let bracket = Bracket { holds: 1.0, fails: 0.0 };
        Some(bracket.halve(50, |share| self.power(share) >= power).holds)
    }
}

/// The fewest people of whom, shared out to rounds with these chances, enough are in every round for a value of this share to pass
/// them all with this probability, where a round lets a value through that at most the threshold's share have with at most its level;
/// nothing if 2^50 are not enough. Rounds are given as chance and level.
pub fn least_people(
    support: &Support,
    threshold: f64,
    rounds: &[(f64, f64)],
    share: f64,
    power: f64,
) -> Option<u64> {
    let enough = |people: u64| {
        let rounds = rounds.iter().map(|&(part, level)| ((people as f64 * part) as u64, level));
        Passage::new(support, threshold, rounds).power(share) >= power
    };
    let mut high = 1;
    while !enough(high) {
        high *= 2;
        if high > 1 << 50 {
            return None;
        }
    }
    let mut low = high / 2;
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if enough(middle) { high = middle } else { low = middle }
    }
    Some(high)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::hitters::policy_over;

    /// What persons.md says: ε = 1, 8 rounds, 1,000 candidates, 5 % error, 90 % power.
    #[test]
    fn two_point_eight_percent_of_a_million() {
        let textbook = 4.0 * 1f64.exp() / (1f64.exp() - 1.0).powi(2);
        let shipped = Support::of(&policy_over(4, "1", "optimal").unwrap()).unwrap();
        for variance in [textbook, shipped.variance_at_zero()] {
            let share = |people| rule_of_thumb(variance, 8, people, 1000, 0.05, 0.9);
            assert!((share(1_000_000) - 0.028).abs() < 0.0003, "{}", share(1_000_000));
            assert!((share(10_000_000) - 0.0089).abs() < 0.0001, "{}", share(10_000_000));
        }
    }

    /// Pr(Bin(n, p) >= count), added up.
    fn tail(n: u64, p: f64, count: u64) -> f64 {
        let mut ln_mass = n as f64 * (1.0 - p).ln();
        let mut sum = 0.0;
        for hits in 0..=n {
            sum += if hits >= count { ln_mass.exp() } else { 0.0 };
            ln_mass += ((n - hits) as f64 / (hits + 1) as f64 * p / (1.0 - p)).ln();
        }
        sum
    }

    #[test]
    fn critical_counts_are_the_least_by_brute_force() {
        for n in [1, 2, 5, 17, 60] {
            for p in [0.1, 0.25, 0.5] {
                for chance in [0.4, 0.05, 1e-3, 1e-9] {
                    let direct = (1..=n).find(|&count| tail(n, p, count) <= chance * (1.0 + 1e-12));
                    assert_eq!(critical_count(n, p, chance), direct, "{n} {p} {chance}");
                }
            }
        }
        assert_eq!(critical_count(0, 0.25, 0.5), None);
    }

    #[test]
    fn the_least_share_has_the_power_asked_for() {
        let support = Support::of(&policy_over(4, "1", "krr").unwrap()).unwrap();
        let passage = Passage::new(&support, 0.0, [(5000, 1e-4), (5000, 1e-6)]);
        let share = passage.least_share(0.9).unwrap();
        assert!((passage.power(share) - 0.9).abs() < 1e-9);
        let each: f64 =
            passage.critical().map(|k| tail(5000, support.at(share), k.unwrap())).product();
        assert!((each - 0.9).abs() < 1e-6, "{each}");
        assert_eq!(Passage::new(&support, 0.0, [(3, 1e-4)]).least_share(0.9), None);
    }
}
