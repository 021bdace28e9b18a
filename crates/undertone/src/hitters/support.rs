//! Which values a report speaks for, and how likely it is to: from the integers of a policy.

use undertone_core::{KEEP_ONE, MASS_ONE, Policy, Shape, Token, WEIGHT_ONE};
use undertone_design::mechanism::incidence::Rates;

use super::transform::walsh;
use crate::Error;

/// What a policy's tokens say about hashes of few bits: a token supports the symbols it is rather released for.
///
/// With a hash function drawn for every report, the symbol of a value is uniform and that of any other value is independent of it. So a
/// report of somebody with the value supports it with probability [`Support::own`], a report of anybody else with probability
/// [`Support::other`], exactly, whatever the policy.
#[derive(Debug, Clone)]
pub struct Support {
    hash_bits: usize,
    own: f64,
    other: f64,
    /// For every token, which symbols it supports; empty where tokens are bits.
    sets: Vec<Vec<bool>>,
    /// For every token, the Walsh transform of that.
    transforms: Vec<Vec<i64>>,
    /// How many bytes a packed token has, and whether its bits that are set speak for their symbols.
    packed: Option<(usize, bool)>,
}

impl Support {
    /// The most bits of a hash.
    pub const MOST_BITS: usize = 8;

    /// What the tokens of a policy over 2^k unnamed symbols support, for a k from 1 to 8.
    pub fn of(policy: &Policy) -> Result<Self, Error> {
        let symbols = policy.inputs().len();
        let hash_bits = symbols.trailing_zeros() as usize;
        if !symbols.is_power_of_two() || !(1..=Self::MOST_BITS).contains(&hash_bits) {
            return Err(Error::input(format!(
                "the policy has {symbols} symbols where hashes need 2, 4, 8 and so on up to 256"
            )));
        }
        let support = match policy.draft().shape() {
            Shape::Table(table) => {
                let row = |x: usize| table.rows()[x].masses();
                Self::listed(symbols, table.outputs(), |x, y| row(x)[y] as f64 / MASS_ONE as f64)
            }
            Shape::Keep(keep) => Self::listed(symbols, symbols, |x, y| {
                let kept = keep.keep()[x] as f64 / KEEP_ONE as f64;
                let drawn = keep.base().masses()[y] as f64 / MASS_ONE as f64;
                (1.0 - kept) * drawn + if x == y { kept } else { 0.0 }
            }),
            Shape::Bits(bits) => {
                let share = |parts: u64| parts as f64 / WEIGHT_ONE as f64;
                Self::packed(symbols, share(bits.own()), share(bits.other()))
            }
            Shape::Incidence(incidence) => {
                let inside = incidence.coin() as f64 / MASS_ONE as f64;
                match (incidence.blocks(), incidence.replication()) {
                    (Some(all), Some(each)) => Self::listed(symbols, all, |x, y| {
                        match incidence.contains(y as u32, x as u32) {
                            true => inside / each as f64,
                            false => (1.0 - inside) / (all - each) as f64,
                        }
                    }),
                    _ => {
                        let rates = Rates::of(incidence).ok_or_else(|| {
                            Error::input(
                                "the policy's blocks tell some symbols apart better than others",
                            )
                        })?;
                        Self::packed(symbols, rates.own, rates.other)
                    }
                }
            }
        };
        if support.own > support.other {
            Ok(support)
        } else {
            Err(Error::input("the policy's reports tell no symbol from another"))
        }
    }

    /// One bit for each symbol: that of the input is set with one probability, any other with another.
    fn packed(symbols: usize, own: f64, other: f64) -> Self {
        let set = own >= other;
        let (own, other) = if set { (own, other) } else { (1.0 - own, 1.0 - other) };
        let others = (symbols - 1) as f64 / symbols as f64;
        Self {
            hash_bits: symbols.trailing_zeros() as usize,
            own,
            other: own / symbols as f64 + other * others,
            sets: Vec::new(),
            transforms: Vec::new(),
            packed: Some((symbols.div_ceil(8), set)),
        }
    }

    /// A channel whose outputs are listed.
    fn listed(symbols: usize, outputs: usize, mass: impl Fn(usize, usize) -> f64) -> Self {
        let (mut own, mut other) = (0.0, 0.0);
        let (mut sets, mut transforms) = (Vec::new(), Vec::new());
        for y in 0..outputs {
            let column: Vec<f64> = (0..symbols).map(|x| mass(x, y)).collect();
            let high = column.iter().copied().fold(0.0, f64::max);
            let low = column.iter().copied().fold(1.0, f64::min);
            // A token that tells nothing supports nothing: with as much likelihood for all there is no middle.
            let supports: Vec<bool> = column.iter().map(|&w| 2.0 * w > high + low).collect();
            let size = supports.iter().filter(|&&one| one).count() as f64;
            let inside = column.iter().zip(&supports).filter(|(_, one)| **one);
            own += inside.map(|(w, _)| w).sum::<f64>() / symbols as f64;
            // Hashes of different values are independent, so that another value's is in the set with its share of symbols.
            let shown: f64 = column.iter().sum::<f64>() / symbols as f64;
            other += shown * size / symbols as f64;
            let mut transform: Vec<i64> = supports.iter().map(|&one| i64::from(one)).collect();
            walsh(&mut transform);
            transforms.push(transform);
            sets.push(supports);
        }
        let hash_bits = symbols.trailing_zeros() as usize;
        Self { hash_bits, own, other, sets, transforms, packed: None }
    }

    /// How many bits a hash has.
    pub fn hash_bits(&self) -> usize {
        self.hash_bits
    }

    /// The probability that a report of somebody with a value supports it.
    pub fn own(&self) -> f64 {
        self.own
    }

    /// The probability that a report of somebody with another value supports it.
    pub fn other(&self) -> f64 {
        self.other
    }

    /// The probability that a report supports a value that so large a share of people have.
    pub fn at(&self, share: f64) -> f64 {
        self.other + share * (self.own - self.other)
    }

    /// The share of people at which reports support a value with this probability.
    pub fn share(&self, probability: f64) -> f64 {
        (probability - self.other) / (self.own - self.other)
    }

    /// n times the variance of the estimate of a share that is nought, from n reports of one round.
    pub fn variance_at_zero(&self) -> f64 {
        let gap = self.own - self.other;
        self.other * (1.0 - self.other) / (gap * gap)
    }

    /// How many bytes a token takes in a report.
    pub fn token_bytes(&self) -> usize {
        match self.packed {
            Some((bytes, _)) => bytes,
            None => {
                if self.transforms.len() <= 1 << 8 {
                    1
                } else {
                    4
                }
            }
        }
    }

    /// A token as bytes of a report.
    pub fn to_bytes(&self, token: &Token) -> Vec<u8> {
        match token {
            Token::Bits(packed) => packed.to_vec(),
            Token::Index(index) => index.to_be_bytes()[4 - self.token_bytes().min(4)..].to_vec(),
        }
    }

    /// A token from bytes of a report; nothing if the policy releases no such token.
    pub fn token(&self, bytes: &[u8]) -> Option<Token> {
        if bytes.len() != self.token_bytes() {
            return None;
        }
        match self.packed {
            Some(_) => {
                let spare = (8 * bytes.len()).saturating_sub(1 << self.hash_bits);
                let over = bytes.last().is_some_and(|last| last & ((1u16 << spare) - 1) as u8 != 0);
                (!over).then(|| Token::Bits(bytes.into()))
            }
            None => {
                let index = number(bytes);
                (index < self.transforms.len()).then_some(Token::Index(index as u32))
            }
        }
    }

    /// Whether a token, given as its bytes, supports a symbol.
    pub(super) fn supports(&self, token: &[u8], symbol: u32) -> bool {
        let at = symbol as usize;
        match self.packed {
            Some((_, set)) => (token[at / 8] & (0x80 >> (at % 8)) != 0) == set,
            None => self.sets[number(token)][at],
        }
    }

    /// The Walsh transform of the symbols that a token, given as its bytes, supports: the sum of these 2^k numbers, each with
    /// the sign (-1)^(u·x), is 2^k if the symbol x is supported and 0 if not.
    pub(super) fn transform<'a>(&'a self, token: &[u8], room: &'a mut [i64]) -> &'a [i64] {
        if self.packed.is_none() {
            return &self.transforms[number(token)];
        }
        for (symbol, one) in (0..).zip(&mut *room) {
            *one = i64::from(self.supports(token, symbol));
        }
        walsh(room);
        room
    }
}

/// A token's number, from its bytes.
fn number(bytes: &[u8]) -> usize {
    bytes.iter().fold(0, |number, &byte| number << 8 | usize::from(byte))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::hitters::policy_over;
    use undertone_core::Family;

    /// Every token's bytes.
    fn tokens(policy: &Policy, symbols: usize) -> Vec<Vec<u8>> {
        match policy.draft().shape() {
            shape if shape.releases_bits() => {
                (0..1u16 << symbols).map(|bits| vec![(bits << (8 - symbols)) as u8]).collect()
            }
            shape => (0..shape.outputs()).map(|index| vec![index as u8]).collect(),
        }
    }

    fn likelihood(policy: &Policy, x: usize, token: &[u8]) -> f64 {
        let mass = |mass: u64| mass as f64 / MASS_ONE as f64;
        match policy.draft().shape() {
            Shape::Table(table) => mass(table.rows()[x].masses()[token[0] as usize]),
            Shape::Keep(keep) => {
                let kept = keep.keep()[x] as f64 / KEEP_ONE as f64;
                let own = if x == token[0] as usize { kept } else { 0.0 };
                own + (1.0 - kept) * mass(keep.base().masses()[token[0] as usize])
            }
            Shape::Incidence(incidence) if !incidence.releases_bits() => {
                let inside = mass(incidence.coin());
                let (all, each) = (incidence.blocks().unwrap(), incidence.replication().unwrap());
                match incidence.contains(token[0].into(), x as u32) {
                    true => inside / each as f64,
                    false => (1.0 - inside) / (all - each) as f64,
                }
            }
            Shape::Incidence(incidence) => {
                let size = incidence.symbols();
                let Family::Subsets(subsets) = incidence.family() else { panic!() };
                let choose = |n: usize, d: usize| {
                    (0..d).fold(1.0, |c, j| c * (n - j) as f64 / (j + 1) as f64)
                };
                let (inside, d) = (mass(incidence.coin()), subsets.size());
                match (incidence.accepts_subset(token), token[0] & (0x80 >> x) != 0) {
                    (false, _) => 0.0,
                    (true, true) => inside / choose(size - 1, d - 1),
                    (true, false) => (1.0 - inside) / choose(size - 1, d),
                }
            }
            Shape::Bits(bits) => (0..bits.symbols())
                .map(|at| {
                    let set = if at == x { bits.own() } else { bits.other() };
                    let set = set as f64 / WEIGHT_ONE as f64;
                    if token[0] & (0x80 >> at) != 0 { set } else { 1.0 - set }
                })
                .product(),
        }
    }

    /// Support by brute force: over all symbols of the value, all tokens and all symbols of a candidate.
    #[test]
    fn probabilities_are_those_of_the_integers_that_ship() {
        for (epsilon, symbols, method) in [
            ("0.5", 8, "optimal"),
            ("1", 4, "optimal"),
            ("1", 4, "krr"),
            ("1", 8, "optimal"),
            ("2", 8, "krr"),
            ("1", 4, "oue"),
            ("1", 8, "subset"),
            ("1", 4, "blocks"),
            ("1", 8, "projective"),
        ] {
            let policy = policy_over(symbols, epsilon, method).unwrap();
            let support = Support::of(&policy).unwrap();
            let (mut own, mut other, mut whole) = (0.0, 0.0, 0.0);
            for token in tokens(&policy, symbols) {
                let mut room = vec![0; symbols];
                let mut sums = support.transform(&token, &mut room).to_vec();
                walsh(&mut sums);
                for (symbol, &sum) in (0..).zip(&sums) {
                    let whole = if support.supports(&token, symbol) { symbols as i64 } else { 0 };
                    assert_eq!(sum, whole);
                }
                for x in 0..symbols {
                    let w = likelihood(&policy, x, &token) / symbols as f64;
                    whole += w;
                    own += if sums[x] != 0 { w } else { 0.0 };
                    other += w * sums.iter().sum::<i64>() as f64 / (symbols * symbols) as f64;
                }
                let read = support.token(&token).map(|token| support.to_bytes(&token));
                assert_eq!(read.as_ref(), Some(&token));
            }
            assert!((whole - 1.0).abs() < 1e-12);
            assert!((support.own() - own).abs() < 1e-12, "{epsilon} {symbols} {method}");
            assert!((support.other() - other).abs() < 1e-12, "{epsilon} {symbols} {method}");
        }
    }

    /// Local hashing to e^ε + 1 symbols: 4e^ε/(e^ε - 1)² = 3.683 at ε = 1, a little more with 4 symbols.
    #[test]
    fn the_variance_is_that_of_local_hashing() {
        let e = 1f64.exp();
        for method in ["optimal", "krr"] {
            let support = Support::of(&policy_over(4, "1", method).unwrap()).unwrap();
            let own = e / (e + 3.0);
            let expected = 0.25 * 0.75 / (own - 0.25).powi(2);
            assert!((support.variance_at_zero() / expected - 1.0).abs() < 1e-6, "{method}");
            assert!(support.variance_at_zero() < 1.01 * 4.0 * e / (e - 1.0).powi(2));
        }
    }

    #[test]
    fn policies_of_other_sizes_are_refused() {
        for symbols in [3, 512] {
            let error = Support::of(&policy_over(symbols, "1", "krr").unwrap()).unwrap_err();
            assert!(error.to_string().contains("2, 4, 8"), "{error}");
        }
    }
}
