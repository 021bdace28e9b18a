//! Every shape in every context with every legal claim, alone and exactly tight; and the same one
//! unit too far.

use super::blocks;
use dashu::integer::UBig;
use undertone_core::{
    Alphabet, Bits, Bound, Claim, Context, Delta, Draft, Epsilon, Incidence, Keep, MASS_ONE, Prior,
    PriorBox, Priors, Provenance, Ratio, Shape, Subject, Table, WEIGHT_ONE, Worst,
};

/// A policy of the vectors.
pub(crate) struct Named {
    pub(crate) name: String,
    pub(crate) about: String,
    pub(crate) parts: Parts,
}

/// What a draft is made of.
#[derive(Clone)]
pub(crate) struct Parts {
    pub(crate) inputs: Alphabet,
    pub(crate) outputs: Option<Alphabet>,
    pub(crate) shape: Shape,
    pub(crate) context: Context,
    pub(crate) claims: Vec<Claim>,
    pub(crate) provenance: Provenance,
}

impl Parts {
    /// A channel on bare indices.
    pub(crate) fn plain(shape: Shape, context: Context, claims: Vec<Claim>) -> Self {
        let inputs = Alphabet::indices(shape.inputs()).expect("a size");
        let renamed = matches!(shape, Shape::Table(_)) && shape.inputs() != shape.outputs();
        let outputs = renamed.then(|| Alphabet::indices(shape.outputs()).expect("a size"));
        Self { inputs, outputs, shape, context, claims, provenance: Provenance::default() }
    }

    pub(crate) fn draft(&self) -> Draft {
        self.try_draft().expect("parts that fit")
    }

    fn try_draft(&self) -> Result<Draft, undertone_core::DraftError> {
        let Self { inputs, outputs, shape, context, claims, provenance } = self.clone();
        Draft::new(inputs, outputs, shape, context, claims, provenance)
    }

    fn claiming(&self, claim: Claim) -> Self {
        Self { claims: vec![claim], ..self.clone() }
    }
}

/// A table in units of 2^-`bits`.
pub(crate) fn table(bits: u32, rows: &[&[u64]]) -> Shape {
    let masses = |row: &&[u64]| row.iter().map(|w| w << (48 - bits)).collect();
    Shape::Table(Table::from_masses(rows.iter().map(masses).collect()).expect("a table"))
}

/// A `Keep` in units of 2^-`bits`.
pub(crate) fn keep(bits: u32, keep: &[u64], base: &[u64]) -> Shape {
    let keep = keep.iter().map(|k| k << (40 - bits)).collect();
    let base = base.iter().map(|b| b << (48 - bits)).collect();
    Shape::Keep(Keep::new(keep, base).expect("a keep"))
}

/// `Bits` in units of 2^-`bits`.
pub(crate) fn unary(symbols: usize, bits: u32, own: u64, other: u64) -> Shape {
    let scale = 32 - bits;
    Shape::Bits(Bits::new(symbols, own << scale, other << scale).expect("probabilities"))
}

/// Weights in units of 2^-`bits`.
pub(crate) fn weights(bits: u32, weights: &[u64]) -> Vec<u64> {
    weights.iter().map(|w| w << (32 - bits)).collect()
}

/// A prior in units of 2^-`bits`.
pub(crate) fn prior(bits: u32, parts: &[u64]) -> Prior {
    Prior::new(weights(bits, parts)).expect("a prior")
}

/// A secret in units of 2^-`bits`.
pub(crate) fn secret(name: &str, bits: u32, of: &[u64], rows: &[&[u64]]) -> Context {
    let rows = rows.iter().map(|row| prior(bits, row)).collect();
    Context::Secret(
        undertone_core::Secret::new(name.into(), prior(bits, of), rows).expect("a secret"),
    )
}

/// Odds as a level.
pub(crate) fn odds(numerator: u32, denominator: u32) -> Epsilon {
    Epsilon::from_odds(numerator, denominator).expect("odds")
}

/// Every shape by its name, and every family of blocks by its own, over three symbols.
fn shapes() -> Vec<(&'static str, Shape)> {
    let mut shapes = vec![
        ("table", table(4, &[&[9, 4, 3], &[3, 8, 5], &[4, 4, 8]])),
        ("keep", keep(3, &[4, 2, 3], &[4, 2, 2])),
        ("bits", unary(3, 2, 2, 1)),
    ];
    shapes.extend(blocks::families());
    shapes
}

fn contexts() -> [(&'static str, Context); 5] {
    let list = [[4, 2, 2], [2, 4, 2], [1, 2, 5]].iter().map(|w| prior(3, w)).collect();
    let lower = weights(3, &[2, 1, 1]);
    let upper = weights(3, &[5, 4, 4]);
    [
        ("unknown", Context::Unknown),
        ("prior", Context::Known(prior(3, &[4, 2, 2]))),
        ("priors", Context::Each(Priors::new(list).expect("priors"))),
        ("box", Context::Within(PriorBox::new(lower, upper).expect("a box"))),
        ("secret", secret("habit", 3, &[5, 3], &[&[5, 2, 1], &[1, 3, 4]])),
    ]
}

/// Every kind of claim, legal or not, to be made tight: the odds for those with δ, which is the
/// largest there is.
fn kinds() -> Vec<(String, Claim)> {
    let bounds = [
        ("ldp", Bound::Ldp(odds(5, 4))),
        ("di", Bound::Di(odds(1, 1))),
        ("lip", Bound::Lip { lower: odds(9, 8), upper: odds(9, 8) }),
        ("alip", Bound::Lip { lower: odds(9, 8), upper: odds(17, 16) }),
    ];
    let mut kinds = Vec::new();
    for (subject, about) in [("", Subject::Input), ("_of_secret", Subject::Secret)] {
        for (suffix, units) in [("", 0), ("_delta", MASS_ONE - 1)] {
            for (notion, bound) in bounds {
                let delta = Delta::from_units(units).expect("below one");
                kinds.push((format!("{notion}{suffix}{subject}"), Claim { about, bound, delta }));
            }
        }
    }
    kinds
}

/// The claim of the same kind that just holds: for a pure one the least odds that can be written, which are those attained
/// wherever these have 32 bits, the least δ otherwise.
fn tight(parts: &Parts, claim: Claim) -> Claim {
    if claim.delta != Delta::ZERO {
        return Claim { delta: least_delta(parts, claim), ..claim };
    }
    let draft = parts.claiming(claim).draft();
    let (input, secret) = draft.strength();
    let strength = match claim.about {
        Subject::Input => input,
        Subject::Secret => secret.expect("a secret"),
    };
    let side = |worst: Option<Worst>| around(worst.expect("a context").ratio).1;
    let bound = match claim.bound {
        Bound::Ldp(_) => Bound::Ldp(around(strength.ldp.ratio).1),
        Bound::Lip { lower, upper } if lower == upper => {
            let epsilon = around(strength.lip().expect("a context")).1;
            Bound::Lip { lower: epsilon, upper: epsilon }
        }
        Bound::Lip { .. } => {
            Bound::Lip { lower: side(strength.lower), upper: side(strength.upper) }
        }
        // No certificate states it, but the refusal of too low a level does.
        Bound::Di(_) => Bound::Di(around(draft.verify().expect_err("odds above one").attained).1),
    };
    Claim { bound, ..claim }
}

/// The largest odds below a ratio above one and the least that are not, by the tree of Stern and Brocot.
pub(crate) fn around(ratio: Ratio) -> (Epsilon, Epsilon) {
    let text = ratio.to_string();
    let (n, d) = text.split_once('/').expect("a finite ratio");
    let (n, d): (UBig, UBig) = (n.parse().expect("digits"), d.parse().expect("digits"));
    let is_below = |(a, b): (u64, u64)| UBig::from(a) * &d < UBig::from(b) * &n;
    let along = |(a, b): (u64, u64), (c, e): (u64, u64), k: u64| (a + k * c, b + k * e);
    let fits = |(a, b): (u64, u64)| a.max(b) <= u64::from(u32::MAX);
    // The most steps of at most 2^32 for which a condition holds, which it does up to some point.
    let most = |holds: &dyn Fn(u64) -> bool| {
        (0..=32).rev().fold(0u64, |k, bit| if holds(k + (1 << bit)) { k + (1 << bit) } else { k })
    };
    let (mut low, mut high) = ((1, 1), (1, 0));
    loop {
        let up = most(&|k| fits(along(low, high, k)) && is_below(along(low, high, k)));
        low = along(low, high, up);
        let down = most(&|k| fits(along(high, low, k)) && !is_below(along(high, low, k)));
        high = along(high, low, down);
        if up == 0 && down == 0 {
            return (odds(low.0 as u32, low.1 as u32), odds(high.0 as u32, high.1 as u32));
        }
    }
}

/// The least δ at a claim's odds, in whole units.
pub(crate) fn least_delta(parts: &Parts, claim: Claim) -> Delta {
    let loose = Claim { delta: Delta::from_units(MASS_ONE - 1).expect("below one"), ..claim };
    let policy = parts.claiming(loose).draft().verify().expect("a loose claim");
    let least = policy.certificate().deltas[0].expect("a least delta");
    let units = least.ratio.scaled_up(48);
    assert!(units > 0, "a delta claim that needs no delta");
    Delta::from_units(units).expect("below one")
}

/// The grid: 86 policies of the three plain shapes, and 18 of each family of blocks.
pub(crate) fn grid() -> Vec<Named> {
    let mut policies = Vec::new();
    for (shape_name, shape) in shapes() {
        for (context_name, context) in contexts() {
            for (kind, claim) in kinds() {
                let parts = Parts::plain(shape.clone(), context.clone(), vec![claim]);
                // What a draft cannot even say is no policy: LIP without a context, a secret that
                // is not there, δ on bits and blocks, identifiability of anything but an input with a prior.
                if parts.try_draft().is_err() {
                    continue;
                }
                let claim = tight(&parts, claim);
                policies.push(Named {
                    name: format!("{shape_name}_{context_name}_{kind}"),
                    about: format!("{claim}, which just holds"),
                    parts: parts.claiming(claim),
                });
            }
        }
    }
    let families = blocks::families().len();
    assert_eq!(policies.len(), 86 + 18 * families, "every legal combination");
    policies
}

/// A draft whose claim just holds, made false by the smallest change there is: one unit of δ less,
/// one unit of probability moved, or, where that is less than the odds can say, the next lower odds.
pub(crate) fn one_unit_past(parts: &Parts) -> Parts {
    let claim = parts.claims[0];
    if claim.delta != Delta::ZERO {
        let delta = Delta::from_units(claim.delta.units() - 1).expect("below one");
        return parts.claiming(Claim { delta, ..claim });
    }
    let mut moved = moves(&parts.shape).into_iter().map(|shape| Parts { shape, ..parts.clone() });
    let refused = moved.find(|moved| moved.draft().verify().is_err());
    refused.unwrap_or_else(|| parts.claiming(lowered(parts, claim)))
}

/// A claim with the next lower odds on the side that is attained.
fn lowered(parts: &Parts, claim: Claim) -> Claim {
    let below = |bound: Bound| {
        let weaker = Claim { bound, ..claim };
        let refusal = parts.claiming(weaker).draft().verify().expect_err("nothing is attained");
        around(refusal.attained).0
    };
    let bound = match claim.bound {
        Bound::Ldp(_) => Bound::Ldp(below(Bound::Ldp(Epsilon::ZERO))),
        Bound::Di(_) => Bound::Di(below(Bound::Di(Epsilon::ZERO))),
        Bound::Lip { lower, upper } if lower == upper => {
            let [rise, fall] =
                [(Epsilon::LARGEST, Epsilon::ZERO), (Epsilon::ZERO, Epsilon::LARGEST)]
                    .map(|(lower, upper)| below(Bound::Lip { lower, upper }));
            let epsilon = if rise.ratio() > fall.ratio() { rise } else { fall };
            Bound::Lip { lower: epsilon, upper: epsilon }
        }
        Bound::Lip { lower, .. } => {
            let upper = below(Bound::Lip { lower: Epsilon::LARGEST, upper: Epsilon::ZERO });
            Bound::Lip { lower, upper }
        }
    };
    Claim { bound, ..claim }
}

/// All channels one unit away.
fn moves(shape: &Shape) -> Vec<Shape> {
    match shape {
        Shape::Table(table) => {
            let rows: Vec<Vec<u64>> = table.rows().iter().map(|r| r.masses().to_vec()).collect();
            let mut moved = Vec::new();
            for x in 0..rows.len() {
                for to in 0..rows[x].len() {
                    for from in (0..rows[x].len()).filter(|&from| from != to && rows[x][from] > 0) {
                        let mut rows = rows.clone();
                        rows[x][to] += 1;
                        rows[x][from] -= 1;
                        moved.push(Shape::Table(Table::from_masses(rows).expect("a table")));
                    }
                }
            }
            moved
        }
        Shape::Keep(keep) => {
            let change = |(x, up): (usize, bool)| {
                let mut kept = keep.keep().to_vec();
                kept[x] = if up { kept[x] + 1 } else { kept[x] - 1 };
                Shape::Keep(Keep::new(kept, keep.base().masses().to_vec()).expect("a keep"))
            };
            (0..keep.keep().len()).flat_map(|x| [(x, true), (x, false)]).map(change).collect()
        }
        Shape::Bits(bits) => {
            let own = bits.own() + 1;
            assert!(own <= WEIGHT_ONE, "room for one unit");
            vec![Shape::Bits(Bits::new(bits.symbols(), own, bits.other()).expect("bits"))]
        }
        Shape::Incidence(blocks) => {
            let change = |coin: u64| {
                let family = blocks.family().clone();
                Shape::Incidence(Incidence::new(blocks.symbols(), coin, family).expect("blocks"))
            };
            [blocks.coin() + 1, blocks.coin() - 1].map(change).into()
        }
    }
}
