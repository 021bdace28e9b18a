//! The search: prefixes that go on from round to round, and the test of whole values.
//!
//! A round's candidates are the prefixes kept in the round before with every way to go on. How many of the round's reports support each is
//! found for all ways to go on at once: whether a token supports a hash is a sum of characters of the hash (a Walsh transform of 2^k
//! numbers), the hash is linear in the code, and so the counts of all ways to go on are one Walsh transform of 2^step sums.

use std::thread;

use undertone_numeric::binomial::{binomial_at_least, binomial_interval};

use super::code::Code;
use super::found::{FoundReport, FoundValue, SearchedRound};
use super::hash::HashFunctions;
use super::known::KnownValues;
use super::plan::{HittersPlan, Longer};
use super::reports::{CollectedReports, RoundReports};
use super::support::Support;
use super::transform::walsh;
use super::visible::{Passage, critical_count, least_people};
use crate::Error;
use crate::columns::threads;

/// What to look for in collected reports.
#[derive(Debug, Clone)]
pub struct FindRequest {
    /// Values to test without being found first; they must not be chosen by a look at the same reports.
    pub known: KnownValues,
    /// Only values that more than this share of people have are listed.
    pub threshold: f64,
    /// The chance that any value is listed that no more than that share have.
    pub error: f64,
    /// The probability with which what is called visible is found.
    pub power: f64,
}

impl Default for FindRequest {
    fn default() -> Self {
        Self { known: KnownValues::default(), threshold: 0.0, error: 0.05, power: 0.9 }
    }
}

/// The most prefixes that go on from a round.
const MOST_KEPT: usize = 256;

/// On average this many prefixes that nobody has may go on from a round.
const FALSE_KEPT: f64 = 1.0;

/// A prefix that nobody has goes on with at most this chance, however few there are.
const MOST_CHANCE: f64 = 0.1;

/// All candidates are looked at where there are no more than these; else only those that could be listed.
const FEW: u64 = 1000;

/// A code and how many reports support it.
struct Counted {
    code: Code,
    count: u64,
}

/// Finds the values that many people have.
///
/// Every prefix and value is tested on the people of one round, who had no part in what was chosen before. The list is Holm's over all whole
/// values tested in the last round, with exact binomial p-values, so the chance that it holds any value that no more than the threshold's share have is at
/// most `error`, whatever happened in the rounds before.
pub fn find(
    plan: &HittersPlan,
    reports: &CollectedReports,
    request: &FindRequest,
) -> Result<FoundReport, Error> {
    check(request)?;
    let known = request.known.codes(plan.values())?;
    if reports.count() == 0 {
        return Err(Error::input("there are no reports: give at least one"));
    }
    let (rounds, repeated) = reports.distinct(plan);
    let null = plan.support().at(request.threshold);
    let (mut kept, mut before) = (vec![Code::new()], 0);
    let (mut searched, mut passage) = (Vec::new(), Vec::new());
    let last = rounds.len() - 1;
    for (round, &bits) in rounds[..last].iter().zip(plan.prefixes()) {
        let sheet = Sheet::new(plan, round, before, bits);
        let tested = sheet.candidates(&kept);
        // What is called visible must pass as one of all ways to go on from at least one prefix.
        passage.push((sheet.people(), FALSE_KEPT / tested.max(sheet.ways()) as f64));
        let chance = (FALSE_KEPT / tested.max(1) as f64).min(MOST_CHANCE);
        let critical = critical_count(sheet.people(), null, chance);
        let mut passed = critical.map_or_else(Vec::new, |least| sheet.at_least(&kept, least));
        passed.retain(|one| plan.values().begins(&one.code));
        passed.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.code.cmp(&b.code)));
        let crowded = passed.len() > MOST_KEPT;
        passed.truncate(MOST_KEPT);
        searched.push(SearchedRound {
            bits,
            people: sheet.people(),
            tested,
            kept: passed.len() as u64,
            crowded,
        });
        (kept, before) = (passed.into_iter().map(|one| one.code).collect(), bits);
    }
    let sheet = Sheet::new(plan, &rounds[last], before, plan.values().code_bits());
    let tested = sheet.candidates(&kept) + known.len() as u64;
    let assumed = tested.max(sheet.ways());
    passage.push((sheet.people(), request.error / assumed as f64));
    let found = listed(&sheet, &kept, &known, tested, null, request);
    searched.push(SearchedRound {
        bits: plan.values().code_bits(),
        people: sheet.people(),
        tested,
        kept: found.len() as u64,
        crowded: false,
    });
    let least = |from: usize| {
        let tests = passage[from..].iter().copied();
        Passage::new(plan.support(), request.threshold, tests).least_share(request.power)
    };
    let parts: Vec<(f64, f64)> =
        plan.chances().into_iter().zip(&passage).map(|(part, test)| (part, test.1)).collect();
    let needed_n = least_people(plan.support(), request.threshold, &parts, 1.0, request.power);
    let scale = Scale { plan, request, people: sheet.people(), tested };
    let values = found.into_iter().map(|one| scale.value(one, &known)).collect();
    Ok(FoundReport {
        plan_id: plan.id(),
        reports: reports.count() - repeated,
        repeated,
        rounds: searched,
        found: values,
        threshold: request.threshold,
        error: request.error,
        power: request.power,
        visible_share: least(0),
        visible_share_known: if known.is_empty() { None } else { least(last) },
        needed_n,
    })
}

fn check(request: &FindRequest) -> Result<(), Error> {
    for (field, share) in [("error", request.error), ("power", request.power)] {
        if !(share > 0.0 && share < 1.0) {
            let problem = format!("is {share}: give a probability above 0 and below 1");
            return Err(Error::field(field, problem));
        }
    }
    if !(0.0..1.0).contains(&request.threshold) {
        let problem = format!("is {}: give a share from 0, below 1", request.threshold);
        return Err(Error::field("threshold", problem));
    }
    Ok(())
}

/// A value that was found, with its p-value and the same adjusted for all that were tested.
struct Listed {
    code: Code,
    count: u64,
    p: f64,
    adjusted: f64,
}

/// The codes that Holm's procedure lists: the i-th smallest of m p-values is held against error/(m - i + 1) until one is above.
fn listed(
    sheet: &Sheet<'_>,
    kept: &[Code],
    known: &[Code],
    tested: u64,
    null: f64,
    request: &FindRequest,
) -> Vec<Listed> {
    // Of many candidates at most half are listed, so that no level exceeds twice the first.
    let level = if tested <= FEW { 1.0 } else { 2.0 * request.error / tested as f64 };
    let Some(least) = critical_count(sheet.people(), null, level) else { return Vec::new() };
    let mut passed = sheet.at_least(kept, least);
    passed.extend(sheet.exactly(known).into_iter().filter(|one| one.count >= least));
    passed.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.code.cmp(&b.code)));
    // A known value to which prefixes led as well has the same count.
    passed.dedup_by(|b, a| a.code == b.code);
    let (mut list, mut adjusted) = (Vec::new(), 0f64);
    for (before, one) in (0u64..).zip(passed) {
        let p = binomial_at_least(sheet.people(), null, 1.0 - null, one.count);
        adjusted = adjusted.max((tested.saturating_sub(before).max(1) as f64 * p).min(1.0));
        if adjusted > request.error || (tested > FEW && 2 * before > tested) {
            break;
        }
        list.push(Listed { code: one.code, count: one.count, p, adjusted });
    }
    list.retain(|one| sheet.plan.values().value(&one.code).is_some());
    list
}

/// What turns counts of the last round into shares.
struct Scale<'a> {
    plan: &'a HittersPlan,
    request: &'a FindRequest,
    people: u64,
    tested: u64,
}

impl Scale<'_> {
    fn value(&self, one: Listed, known: &[Code]) -> FoundValue {
        let (support, values) = (self.plan.support(), self.plan.values());
        let people = self.people as f64;
        let mean = one.count as f64 / people;
        // All tested values at once: what is listed is chosen by the same counts.
        let tail = self.request.error / (2.0 * self.tested as f64);
        let (low, high) = binomial_interval(one.count, self.people, tail);
        let gap = support.own() - support.other();
        let text = values.value(&one.code).unwrap_or_default();
        let full = !values.ended(&one.code) && values.has_empty();
        FoundValue {
            cut: full && self.plan.longer() == Longer::Cut,
            value: text,
            share: support.share(mean).clamp(0.0, 1.0),
            low: support.share(low).clamp(0.0, 1.0),
            high: support.share(high).clamp(0.0, 1.0),
            standard_error: (mean * (1.0 - mean) / people).sqrt() / gap,
            supporting: one.count,
            p_value: one.p,
            p_adjusted: one.adjusted,
            known: known.contains(&one.code),
        }
    }
}

/// The reports of a round, ready to be counted for prefixes from one length to another.
struct Sheet<'a> {
    plan: &'a HittersPlan,
    support: &'a Support,
    reports: &'a RoundReports,
    functions: HashFunctions,
    from: usize,
    to: usize,
}

impl<'a> Sheet<'a> {
    fn new(plan: &'a HittersPlan, reports: &'a RoundReports, from: usize, to: usize) -> Self {
        let support = plan.support();
        let mut functions = HashFunctions::new(plan.values().code_bits(), support.hash_bits());
        reports.seeds.chunks_exact(plan.seed_bytes()).for_each(|seed| functions.push(seed));
        Self { plan, support, reports, functions, from, to }
    }

    fn people(&self) -> u64 {
        self.reports.count as u64
    }

    /// In how many ways one prefix goes on.
    fn ways(&self) -> u64 {
        1 << (self.to - self.from)
    }

    /// How many candidates there are.
    fn candidates(&self, kept: &[Code]) -> u64 {
        let values = self.plan.values();
        kept.iter().map(|prefix| if values.ended(prefix) { 1 } else { self.ways() }).sum()
    }

    fn token(&self, at: usize) -> &[u8] {
        let size = self.support.token_bytes();
        &self.reports.tokens[at * size..(at + 1) * size]
    }

    /// The candidates that at least so many reports support.
    fn at_least(&self, kept: &[Code], least: u64) -> Vec<Counted> {
        let values = self.plan.values();
        let (ended, open): (Vec<&Code>, Vec<&Code>) =
            kept.iter().partition(|prefix| values.ended(prefix));
        let step = self.to - self.from;
        let whole = |prefix: &&Code| prefix.extended(values.after_end(step), step);
        let only: Vec<Code> = ended.iter().map(whole).collect();
        let mut all = self.exactly(&only);
        all.retain(|one| one.count >= least);
        let found = shared_out(&open, |prefixes| {
            let mut sums = vec![0i64; 1 << step];
            prefixes.iter().flat_map(|prefix| self.going_on(prefix, least, &mut sums)).collect()
        });
        all.extend(found);
        all
    }

    /// The ways to go on from a prefix that at least so many reports support.
    fn going_on(&self, prefix: &Code, least: u64, sums: &mut [i64]) -> Vec<Counted> {
        let symbols = 1 << self.support.hash_bits();
        let (mut combined, mut room) = (vec![0u32; symbols], vec![0i64; symbols]);
        sums.fill(0);
        for at in 0..self.functions.len() {
            let function = self.functions.get(at);
            function.combined(self.from, self.to, &mut combined);
            let hash = function.of(prefix);
            let transform = self.support.transform(self.token(at), &mut room);
            for ((u, &place), &part) in (0u32..).zip(&combined).zip(transform) {
                let odd = i64::from((u & hash).count_ones() & 1);
                sums[place as usize] += part * (1 - 2 * odd);
            }
        }
        walsh(sums);
        let step = self.to - self.from;
        let least = least as i64 * symbols as i64;
        let passed = (0u64..).zip(&*sums).filter(|(_, sum)| **sum >= least);
        passed
            .map(|(ending, &sum)| Counted {
                code: prefix.extended(ending, step),
                count: (sum / symbols as i64) as u64,
            })
            .collect()
    }

    /// How many reports support each of some codes, counted one by one.
    fn exactly(&self, codes: &[Code]) -> Vec<Counted> {
        shared_out(codes, |codes| {
            let mut counts = vec![0u64; codes.len()];
            for at in 0..self.functions.len() {
                let (function, token) = (self.functions.get(at), self.token(at));
                for (code, count) in codes.iter().zip(&mut counts) {
                    *count += u64::from(self.support.supports(token, function.of(code)));
                }
            }
            codes
                .iter()
                .zip(counts)
                .map(|(code, count)| Counted { code: code.clone(), count })
                .collect()
        })
    }
}

/// Work on parts of a list, one for every processor, and its results in the list's order.
fn shared_out<T: Sync, O: Send>(list: &[T], work: impl Fn(&[T]) -> Vec<O> + Sync) -> Vec<O> {
    let parts = threads(None).min(list.len());
    if parts < 2 {
        return if list.is_empty() { Vec::new() } else { work(list) };
    }
    let (work, size) = (&work, list.len().div_ceil(parts));
    thread::scope(|scope| {
        let parts = list.chunks(size);
        let handles: Vec<_> = parts.map(|part| scope.spawn(move || work(part))).collect();
        handles
            .into_iter()
            .flat_map(|handle| {
                handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            })
            .collect()
    })
}
