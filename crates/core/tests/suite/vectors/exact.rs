//! What a policy document attains, worked out from its JSON alone with big rationals: every output
//! is listed, every pair compared, every corner of a box tried. Slow, plain, and nothing of the kernel.

use crate::vectors::blocks::Blocks;
use dashu::base::Abs;
use dashu::float::{FBig, round::mode::HalfEven};
use dashu::integer::{IBig, UBig};
use dashu::rational::RBig;
use serde_json::Value;

/// A ratio, or no bound at all, which is above every ratio.
#[derive(Clone, PartialEq, PartialOrd, Debug)]
pub(crate) enum Level {
    Finite(RBig),
    Unbounded,
}

impl Level {
    pub(crate) const NOTHING: Self = Self::Finite(RBig::ONE);

    /// The larger of this and a/b; 0/0 says nothing.
    fn or(self, a: &UBig, b: &UBig) -> Self {
        match (a.is_zero(), b.is_zero()) {
            (true, true) => self,
            (false, true) => Self::Unbounded,
            _ => {
                let ratio = Self::Finite(RBig::from_parts(a.clone().into(), b.clone()));
                if ratio > self { ratio } else { self }
            }
        }
    }

    pub(crate) fn parse(text: &str) -> Self {
        let Some((a, b)) = text.split_once('/') else {
            assert_eq!(text, "unbounded");
            return Self::Unbounded;
        };
        let ratio = RBig::from_parts(a.parse().unwrap(), b.parse().unwrap());
        let lowest = format!("{}/{}", ratio.numerator(), ratio.denominator());
        assert_eq!(text, lowest, "not in lowest terms");
        Self::Finite(ratio)
    }

    /// The logarithm in units of 10^-10, rounded up, as it is printed.
    pub(crate) fn nats(&self) -> String {
        match self {
            Self::Unbounded => "unbounded".into(),
            Self::Finite(ratio) => printed(&ln_up(float(ratio))),
        }
    }
}

type Float = FBig<HalfEven, 2>;

/// With 300 bits, far more than any value here needs.
fn float(ratio: &RBig) -> Float {
    let part = |value: IBig| Float::from(value).with_precision(300).value();
    part(ratio.numerator().clone()) / part(ratio.denominator().clone().into())
}

/// ln in units of 10^-10, rounded up.
fn ln_up(value: Float) -> IBig {
    if value == Float::ONE {
        return IBig::ZERO;
    }
    (value.ln() * Float::from(10_000_000_000u64)).ceil().to_int().value()
}

/// ln(p + (1 - p) e^spent) in nats as printed, p = `weight`/2^32 and spent in units of 10^-10.
pub(crate) fn consequence(spent: u64, weight: u64) -> String {
    let exact = |a: u64, b: u64| float(&RBig::from_parts(a.into(), b.into()));
    let p = exact(weight, 1 << 32);
    let raised = exact(spent, 10_000_000_000).exp();
    let one = exact(1, 1);
    printed(&ln_up(p.clone() + (one - p) * raised))
}

fn printed(units: &IBig) -> String {
    let units: u64 = units.clone().abs().try_into().unwrap();
    let text = format!("{}.{:010}", units / 10_000_000_000, units % 10_000_000_000);
    text.trim_end_matches('0').trim_end_matches('.').into()
}

/// Units of 10^-10 of printed nats.
pub(crate) fn units(nats: &str) -> u64 {
    let (whole, fraction) = nats.split_once('.').unwrap_or((nats, ""));
    format!("{whole}{fraction:0<10}").parse().unwrap()
}

pub(crate) fn numbers(value: &Value) -> Vec<UBig> {
    value.as_array().unwrap().iter().map(|v| v.as_u64().unwrap().into()).collect()
}

/// A distribution of something over its own unit.
pub(crate) struct Weights {
    pub(crate) parts: Vec<UBig>,
    one: UBig,
}

/// Rows of likelihoods, and the priors they are held against: one, several, or the corners of a box.
pub(crate) struct Channel {
    pub(crate) rows: Vec<Vec<UBig>>,
    /// Likelihoods from below, where those above are from above.
    floor: Option<Vec<Vec<UBig>>>,
    /// For subsets under a box, the levels of blocks and the ends of their masses.
    masses: Option<(Blocks, [UBig; 2])>,
    one: UBig,
    pub(crate) priors: Vec<Weights>,
    boxed: bool,
}

/// The channel from the input; `None` if its outputs are too many to list.
pub(crate) fn input(document: &Value) -> Option<Channel> {
    let channel = &document["channel"];
    let (mut floor, mut masses) = (None, None);
    let (rows, one) = match channel["shape"].as_str().unwrap() {
        "table" => {
            let rows = channel["masses"].as_array().unwrap().iter().map(numbers).collect();
            (rows, UBig::ONE << 48)
        }
        "keep" => {
            let (keep, base) = (numbers(&channel["keep"]), numbers(&channel["base"]));
            let row = |x: usize| {
                let rest = (UBig::ONE << 40) - &keep[x];
                let cell = |y: usize| {
                    let kept = if x == y { &keep[x] << 48 } else { UBig::ZERO };
                    kept + &rest * &base[y]
                };
                (0..base.len()).map(cell).collect()
            };
            ((0..keep.len()).map(row).collect(), UBig::ONE << 88)
        }
        "incidence" => {
            let blocks = Blocks::new(channel)?;
            floor = Some(blocks.rows(false));
            let rows = blocks.rows(true);
            if blocks.subset_size().is_some() && document["context"]["kind"] == "box" {
                let ends = subset_masses(&blocks, &document["context"]);
                masses = Some((blocks, ends));
            }
            (rows, UBig::ONE << 112)
        }
        _ => {
            let number = |name: &str| channel[name].as_u64().unwrap();
            let symbols = number("symbols") as usize;
            if symbols > 11 {
                return None;
            }
            let row = |x: usize| {
                let cell = |output: usize| {
                    (0..symbols).fold(UBig::ONE, |product, at| {
                        let set = number(if at == x { "own" } else { "other" });
                        product * if output >> at & 1 == 1 { set } else { (1 << 32) - set }
                    })
                };
                (0..1 << symbols).map(cell).collect()
            };
            ((0..symbols).map(row).collect(), UBig::ONE << (32 * symbols))
        }
    };
    Some(under(document, rows, one, floor, masses))
}

/// What the pinned draw really does, where a channel's levels are bounds: the channels from the input and from the secret.
pub(crate) fn truth(document: &Value) -> Option<(Channel, Option<Channel>)> {
    let (rows, one) = Blocks::new(&document["channel"])?.truth();
    let of = || under(document, rows.clone(), one.clone(), None, None);
    Some((of(), pushed(document, of())))
}

/// The least and the greatest mass of a subset under a box, where its own sum and that of the others may be of different subsets.
fn subset_masses(blocks: &Blocks, context: &Value) -> [UBig; 2] {
    let size = blocks.subset_size().unwrap();
    let one = UBig::ONE << 32;
    let least = |name: &str, count: usize| -> UBig {
        let mut ends = numbers(&context[name]);
        ends.sort();
        ends[..count].iter().sum()
    };
    let most = |name: &str, count: usize| -> UBig {
        let mut ends = numbers(&context[name]);
        ends.sort();
        ends[ends.len() - count..].iter().sum()
    };
    let rest = blocks.symbols - size;
    let left = &one - most("upper", rest).min(one.clone());
    [least("lower", size).max(left), most("upper", size).min(one - least("lower", rest))]
}

fn under(
    document: &Value,
    rows: Vec<Vec<UBig>>,
    one: UBig,
    floor: Option<Vec<Vec<UBig>>>,
    masses: Option<(Blocks, [UBig; 2])>,
) -> Channel {
    let context = &document["context"];
    let unit = UBig::ONE << 32;
    let weights = |value: &Value| Weights { parts: numbers(value), one: unit.clone() };
    let priors = match context["kind"].as_str().unwrap() {
        "unknown" => vec![],
        "prior" => vec![weights(&context["weights"])],
        "priors" => context["list"].as_array().unwrap().iter().map(weights).collect(),
        "box" if rows.len() > 12 => vec![],
        "box" => corners(&numbers(&context["lower"]), &numbers(&context["upper"]), &unit),
        _ => {
            let of = numbers(&context["weights"]);
            let given: Vec<Vec<UBig>> =
                context["rows"].as_array().unwrap().iter().map(numbers).collect();
            vec![Weights { parts: mix(&of, &given), one: UBig::ONE << 64 }]
        }
    };
    Channel { rows, floor, masses, one, priors, boxed: context["kind"] == "box" }
}

/// The channel from the secret, where the context has one.
pub(crate) fn secret(document: &Value) -> Option<Channel> {
    pushed(document, input(document)?)
}

fn pushed(document: &Value, input: Channel) -> Option<Channel> {
    let context = &document["context"];
    let given = context.get("rows")?.as_array().unwrap();
    let pushed = |rows: &Vec<Vec<UBig>>| given.iter().map(|row| mix(&numbers(row), rows)).collect();
    let (rows, floor) = (pushed(&input.rows), input.floor.as_ref().map(pushed));
    let prior = Weights { parts: numbers(&context["weights"]), one: UBig::ONE << 32 };
    let one = input.one << 32;
    Some(Channel { rows, floor, masses: None, one, priors: vec![prior], boxed: false })
}

fn mix(weights: &[UBig], rows: &[Vec<UBig>]) -> Vec<UBig> {
    let cell = |y: usize| weights.iter().zip(rows).map(|(p, row)| p * &row[y]).sum();
    (0..rows[0].len()).map(cell).collect()
}

/// The corners of a box of priors: all coordinates but one at an end.
fn corners(lower: &[UBig], upper: &[UBig], one: &UBig) -> Vec<Weights> {
    let mut corners = Vec::new();
    for free in 0..lower.len() {
        for ends in (0..1usize << lower.len()).filter(|ends| ends >> free & 1 == 0) {
            let end = |x: usize| if ends >> x & 1 == 1 { &upper[x] } else { &lower[x] };
            let mut parts: Vec<UBig> = (0..lower.len()).map(|x| end(x).clone()).collect();
            let others: UBig = parts.iter().sum::<UBig>() - &lower[free];
            if &others > one {
                continue;
            }
            parts[free] = one - others;
            if lower[free] <= parts[free] && parts[free] <= upper[free] {
                corners.push(Weights { parts, one: one.clone() });
            }
        }
    }
    assert!(!corners.is_empty(), "a box without corners");
    corners
}

/// e^ε of a claim.
pub(crate) fn odds(level: &Value) -> (UBig, UBig) {
    let pair = numbers(&level["odds"]);
    (pair[0].clone(), pair[1].clone())
}

/// Where a ratio or a sum is taken, as a refusal names it.
#[derive(Clone, Copy, Default)]
pub(crate) struct At {
    pub(crate) output: Option<usize>,
    pub(crate) high: Option<usize>,
    pub(crate) low: Option<usize>,
    pub(crate) prior: Option<usize>,
}

impl Channel {
    fn outputs(&self) -> usize {
        self.rows[0].len()
    }

    /// Likelihoods from below.
    fn floor(&self) -> &Vec<Vec<UBig>> {
        self.floor.as_ref().unwrap_or(&self.rows)
    }

    /// Whether there are priors to hold likelihoods against; a large box has too many corners.
    pub(crate) fn is_weighed(&self) -> bool {
        !self.priors.is_empty()
    }

    /// The largest rise or fall of belief over the ends of the masses of subsets.
    fn by_masses(&self, rises: bool) -> Option<Level> {
        let (blocks, ends) = self.masses.as_ref()?;
        let one = UBig::ONE << 32;
        let levels = [blocks.level(true), blocks.level(false)];
        let mut worst = Level::NOTHING;
        for mass in ends {
            let mixed = |end: usize| &levels[0][end] * mass + &levels[1][end] * (&one - mass);
            for level in &levels {
                worst = match rises {
                    true => worst.or(&(&level[1] * &one), &mixed(0)),
                    false => worst.or(&mixed(1), &(&level[0] * &one)),
                };
            }
        }
        Some(worst)
    }

    /// The inputs an index stands for: itself, or all.
    fn inputs(&self, at: Option<usize>) -> std::ops::Range<usize> {
        at.map_or(0..self.rows.len(), |x| x..x + 1)
    }

    fn columns(&self, at: Option<usize>) -> std::ops::Range<usize> {
        at.map_or(0..self.outputs(), |y| y..y + 1)
    }

    fn chosen(&self, at: Option<usize>) -> &[Weights] {
        at.map_or(&self.priors[..], |prior| &self.priors[prior..=prior])
    }

    /// The largest ratio of two likelihoods of one output, over all that `at` leaves open.
    pub(crate) fn ldp(&self, at: At) -> Level {
        let mut worst = Level::NOTHING;
        for y in self.columns(at.output) {
            let high = self.inputs(at.high).map(|x| &self.rows[x][y]).max().unwrap();
            let low = self.inputs(at.low).map(|x| &self.floor()[x][y]).min().unwrap();
            worst = worst.or(high, low);
        }
        worst
    }

    /// The largest likelihood over marginal.
    pub(crate) fn upper(&self, at: At) -> Level {
        if let Some(worst) = self.by_masses(true) {
            return worst;
        }
        let mut worst = Level::NOTHING;
        for prior in self.chosen(at.prior) {
            let marginal = mix(&prior.parts, self.floor());
            for y in self.columns(at.output) {
                let high = self.inputs(at.high).map(|x| &self.rows[x][y]).max().unwrap();
                worst = worst.or(&(high * &prior.one), &marginal[y]);
            }
        }
        worst
    }

    /// The largest marginal over likelihood.
    pub(crate) fn lower(&self, at: At) -> Level {
        if let Some(worst) = self.by_masses(false) {
            return worst;
        }
        let mut worst = Level::NOTHING;
        for prior in self.chosen(at.prior) {
            let marginal = mix(&prior.parts, &self.rows);
            for y in self.columns(at.output) {
                let low = self.inputs(at.low).map(|x| &self.floor()[x][y]).min().unwrap();
                worst = worst.or(&marginal[y], &(low * &prior.one));
            }
        }
        worst
    }

    /// The largest posterior odds between two inputs.
    pub(crate) fn identifiability(&self, at: At) -> Level {
        let mut worst = Level::NOTHING;
        for prior in self.chosen(at.prior) {
            for y in self.columns(at.output) {
                let joint = |x: usize, rows: &[Vec<UBig>]| &prior.parts[x] * &rows[x][y];
                let high = self.inputs(at.high).map(|x| joint(x, &self.rows)).max().unwrap();
                let low = self.inputs(at.low).map(|x| joint(x, self.floor())).min().unwrap();
                worst = worst.or(&high, &low);
            }
        }
        worst
    }

    /// The least δ at a claim's odds, over all rows (and priors) that `at` leaves open.
    pub(crate) fn delta(&self, claim: &Value, at: At) -> RBig {
        let positive = |a: UBig, b: UBig| if a > b { a - b } else { UBig::ZERO };
        let ratio = |sum: UBig, unit: UBig| RBig::from_parts(sum.into(), unit);
        let mut worst = RBig::ZERO;
        if claim["notion"] == "ldp" {
            let (n, d) = odds(&claim["epsilon"]);
            for x in self.inputs(at.high) {
                for z in self.inputs(at.low) {
                    let excess = |y| positive(&self.rows[x][y] * &d, &self.rows[z][y] * &n);
                    let sum: UBig = (0..self.outputs()).map(excess).sum();
                    worst = worst.max(ratio(sum, &self.one * &d));
                }
            }
            return worst;
        }
        let symmetric = claim["notion"] == "lip";
        let (up_n, up_d) = odds(&claim[if symmetric { "epsilon" } else { "upper" }]);
        let (low_n, low_d) = odds(&claim[if symmetric { "epsilon" } else { "lower" }]);
        let (rises, falls) = match (at.high, at.low) {
            (None, Some(_)) => (false, true),
            (Some(_), None) => (true, false),
            _ => (true, true),
        };
        let unit = &self.one * &self.priors[0].one;
        for (least, greatest) in self.marginal_ranges(at.prior) {
            let cell = |x: usize, y: usize| &self.rows[x][y] * &self.priors[0].one;
            for x in self.inputs(at.high).filter(|_| rises) {
                let excess = |y| positive(cell(x, y) * &up_d, &least[y] * &up_n);
                let sum: UBig = (0..self.outputs()).map(excess).sum();
                worst = worst.max(ratio(sum, &unit * &up_d));
            }
            for x in self.inputs(at.low).filter(|_| falls) {
                let excess = |y| positive(&greatest[y] * &low_d, cell(x, y) * &low_n);
                let sum: UBig = (0..self.outputs()).map(excess).sum();
                worst = worst.max(ratio(sum, &unit * &low_d));
            }
        }
        worst
    }

    /// For every prior its marginal twice; for a box, once, the least and greatest of each output.
    fn marginal_ranges(&self, prior: Option<usize>) -> Vec<(Vec<UBig>, Vec<UBig>)> {
        let marginals: Vec<Vec<UBig>> =
            self.chosen(prior).iter().map(|prior| mix(&prior.parts, &self.rows)).collect();
        if !self.boxed {
            return marginals.into_iter().map(|m| (m.clone(), m)).collect();
        }
        let column = |y: usize| marginals.iter().map(move |m| &m[y]);
        let least = (0..self.outputs()).map(|y| column(y).min().unwrap().clone()).collect();
        let greatest = (0..self.outputs()).map(|y| column(y).max().unwrap().clone()).collect();
        vec![(least, greatest)]
    }
}
