//! JLT18 Figure 9: the flip probabilities that are ε-LIP, and how much the answer then explains.

use undertone_design::Distribution;
use undertone_design::mechanism::randomized_response;

use super::model::{Model, keeps_its_claim, printed_leakage};
use crate::claim::short;
use crate::row;
use crate::{Claim, Context, Error, Experiment, Outcome, Panel, Paper, Picture, Series, Table};
use undertone_numeric::bisection::Bracket;

/// The experiment.
pub const EXPERIMENT: Experiment = Experiment {
    key: "jlt18-fig-9",
    paper: Paper::Jlt18,
    title: "Figure 9: the feasible region and the contours of the objective",
    data: &[],
    run,
};

/// The figure names neither; one prior for which Theorem 2 holds at ε = 1, one for which it does not.
const PRIORS: [f64; 2] = [0.3, 0.1];
const EPSILON: f64 = 1.0;
const CONTOURS: [f64; 5] = [0.05, 0.15, 0.3, 0.5, 0.75];

/// Flip probabilities: q0 = Pr(1|0), q1 = Pr(0|1).
#[derive(Debug, Clone, Copy)]
struct Flips {
    p: f64,
    q0: f64,
    q1: f64,
}

impl Flips {
    /// Pr(Y=0), Pr(Y=1).
    fn outputs(self) -> (f64, f64) {
        let one = (1.0 - self.p) * self.q0 + self.p * (1.0 - self.q1);
        (1.0 - one, one)
    }

    /// The share of the variance that the answer explains, P₁/(1−P₁) times L of (29).
    fn explained(self) -> f64 {
        let (zero, one) = self.outputs();
        if !(zero > 0.0 && one > 0.0) {
            return 0.0;
        }
        self.p * (1.0 - self.p) * (1.0 - self.q0 - self.q1).powi(2) / (zero * one)
    }

    /// The four ratios F of (31), prior over posterior.
    fn ratios(self) -> [f64; 4] {
        let (zero, one) = self.outputs();
        [zero / self.q1, one / (1.0 - self.q1), zero / (1.0 - self.q0), one / self.q0]
    }

    /// What all four constraints of (17) leave, and what the two that Step 3 keeps leave.
    fn feasible(self, kept: &[usize]) -> bool {
        let ratios = self.ratios();
        kept.iter().all(|&at| ratios[at].ln().abs() <= EPSILON + 1e-9)
    }
}

fn run(context: &Context) -> Result<Outcome, Error> {
    let mut outcome = Outcome::default();
    outcome.note("The figure names neither P₁ nor ε. Contours are of the share of variance that an answer explains, P₁/(1−P₁) times the paper's L; the region is symmetric about (.5, .5), so the lower left half tells all.");
    let steps = context.pick(200, 400);
    let mut points = Table::new(
        "points",
        &["p1", "point", "q0", "q1", "error", "f1", "f2", "f3", "f4", "leaks", "attained_ldp"],
    );
    let mut panels = Vec::new();
    let mut facts = Facts::default();
    for (letter, p) in ["a", "b"].into_iter().zip(PRIORS) {
        let prior = Distribution::new("prior", vec![1.0 - p, p])?;
        let right = randomized_response::binary_optimal(&prior, EPSILON)?;
        let policy = Model::Optimum.policy(p, EPSILON)?;
        let printed = Flips { p, q0: p * (-EPSILON).exp(), q1: (1.0 - p) * (-EPSILON).exp() };
        let optimum = Flips { p, q0: right.q(0, 1), q1: right.q(1, 0) };
        let searched = search(p, steps, &[0, 1, 2, 3]);
        for (name, at, leaks, ldp) in [
            ("Theorem 2", printed, printed_leakage(p, EPSILON), f64::NAN),
            ("optimum", optimum, policy.lip.unwrap_or(f64::NAN), policy.ldp),
            ("best of the grid", searched, f64::NAN, f64::NAN),
        ] {
            let error = p * (1.0 - p) * (1.0 - at.explained());
            let [f1, f2, f3, f4] = at.ratios();
            points.push(row![p, name, at.q0, at.q1, error, f1, f2, f3, f4, leaks, ldp]);
        }
        facts.look(p, printed, optimum, searched);
        panels.push(panel(letter, p, printed, optimum));
    }
    facts.claims(&mut outcome, &points);
    outcome.draw("region", &Picture { title: "JLT18 Figure 9, ε = 1".into(), panels })?;
    outcome.table(points);
    Ok(outcome)
}

/// The best feasible point of a grid on the lower left half.
fn search(p: f64, steps: u32, kept: &[usize]) -> Flips {
    let mut best = Flips { p, q0: 0.5, q1: 0.5 };
    for i in 1..steps {
        for j in 1..steps - i {
            let at = Flips {
                p,
                q0: f64::from(i) / f64::from(steps),
                q1: f64::from(j) / f64::from(steps),
            };
            if at.explained() > best.explained() && at.feasible(kept) {
                best = at;
            }
        }
    }
    best
}

/// What the claims are about, gathered over both priors.
#[derive(Default)]
struct Facts {
    asymmetry: f64,
    rises: usize,
    pairs: usize,
    beyond: f64,
    theorem_holds: Vec<bool>,
    two_suffice: Vec<bool>,
}

impl Facts {
    fn look(&mut self, p: f64, printed: Flips, optimum: Flips, searched: Flips) {
        for i in 1..50 {
            for j in 1..50 {
                let at =
                    |i: i32, j: i32| Flips { p, q0: f64::from(i) / 50.0, q1: f64::from(j) / 50.0 };
                let (here, mirrored) = (at(i, j), at(50 - i, 50 - j));
                let all = [0, 1, 2, 3];
                let gap = (here.explained() - mirrored.explained()).abs();
                let moved = here.feasible(&all) != mirrored.feasible(&all);
                self.asymmetry = self.asymmetry.max(gap).max(f64::from(u8::from(moved)));
                if i + j < 50 {
                    for next in [at(i + 1, j), at(i, j + 1)] {
                        self.pairs += 1;
                        self.rises += usize::from(next.explained() > here.explained() + 1e-12);
                    }
                }
            }
        }
        self.beyond = self.beyond.max(searched.explained() - optimum.explained());
        self.theorem_holds.push(printed.feasible(&[0, 1, 2, 3]));
        // F1 and F4, the constraints that Step 3 keeps.
        self.two_suffice.push(!printed.feasible(&[0, 3]) || printed.feasible(&[1, 2]));
    }

    fn claims(&self, outcome: &mut Outcome, points: &Table) {
        outcome.claim(
            Claim::tested(
                "the objective and the feasible region are symmetric about (.5, .5)",
                format!("largest difference {}", short(self.asymmetry)),
                "below 1e-9 on a grid of 49 by 49, both priors",
                self.asymmetry < 1e-9,
            )
            .tautology()
            .because("exchanging the two outputs changes nothing"),
        );
        outcome.claim(Claim::tested(
            "below q0 + q1 = 1 the objective falls in both flips",
            format!("it rises at {} of {} steps", self.rises, self.pairs),
            "at no step of the grid",
            self.rises == 0,
        ));
        let f2 = points
            .find(&[("p1", "0.1"), ("point", "Theorem 2")])
            .map_or([f64::NAN; 2], |row| ["f2", "leaks"].map(|column| points.number(row, column)));
        outcome.claim(
            Claim::tested(
                "Step 3: the optimum is where F1 = F4 = E, the other constraints then hold",
                format!(
                    "P₁ = .3: {}; P₁ = .1: F2 = {} is below 1/E = .3679",
                    if self.two_suffice[0] { "they hold" } else { "they do not" },
                    short(f2[0])
                ),
                "F2 and F3 between 1/E and E at the printed point, both priors",
                self.two_suffice.iter().all(|holds| *holds),
            )
            .because("(32) has the right four constraints; the case distinction after it drops F2 and F3"),
        );
        outcome.claim(
            Claim::tested(
                "Theorem 2: (P₁/E, (1−P₁)/E) is feasible and optimal",
                format!(
                    "feasible for P₁ = .3: {}; for .1: {}, it leaks {}",
                    self.theorem_holds[0],
                    self.theorem_holds[1],
                    short(f2[1])
                ),
                "feasible for both priors at ε = 1",
                self.theorem_holds.iter().all(|holds| *holds),
            )
            .because("only if min(P₁, 1−P₁) ≥ 1/(1+E), .269 at ε = 1"),
        );
        outcome.claim(
            Claim::tested(
                "(ours) the corrected closed form is the best feasible point",
                format!(
                    "no point of a grid over the region explains more, by {}",
                    short(self.beyond)
                ),
                "no grid point explains more than the closed form, beyond 1e-9",
                self.beyond <= 1e-9,
            )
            .ours()
            .because("a brute-force search beside the proof"),
        );
    }
}

fn panel(letter: &str, p: f64, printed: Flips, optimum: Flips) -> Panel {
    let mut series = Vec::new();
    // The region as dots, below q0 + q1 = 1 and its mirror image.
    let mut dots = Vec::new();
    for i in 1..40 {
        for j in 1..40 {
            let at = Flips { p, q0: f64::from(i) / 40.0, q1: f64::from(j) / 40.0 };
            if at.feasible(&[0, 1, 2, 3]) {
                dots.push((at.q0, at.q1));
            }
        }
    }
    series.push(Series::points("flips that are 1-LIP", dots).coloured(5));
    let levels = CONTOURS.map(|level| format!("{:.0}", 100.0 * level)).join(", ");
    let lines = CONTOURS.into_iter().flat_map(|level| contour(p, level)).collect();
    series.push(Series::reference(format!("{levels} % of the variance explained"), lines));
    let name = if keeps_its_claim(p, EPSILON) {
        "Theorem 2: optimal here".to_owned()
    } else {
        let leaks = short(printed_leakage(p, EPSILON));
        format!("Theorem 2: outside the region, leaks {leaks}")
    };
    series.push(Series::solid(name, cross(printed, 0.03)).coloured(1));
    series.push(Series::solid("optimum", cross(optimum, 0.018)).coloured(6));
    Panel {
        title: format!("({letter}) P₁ = {p}"),
        x_label: "q0 = Pr(1|0)".into(),
        y_label: "q1 = Pr(0|1)".into(),
        series,
        ..Panel::default()
    }
}

/// A cross that can be seen among dots.
fn cross(at: Flips, arm: f64) -> Vec<(f64, f64)> {
    let (x, y, gap) = (at.q0, at.q1, (f64::NAN, f64::NAN));
    vec![(x - arm, y - arm), (x + arm, y + arm), gap, (x - arm, y + arm), (x + arm, y - arm)]
}

/// Where the explained share has this value, below q0 + q1 = 1 and mirrored above: bisection in q1, since
/// the share falls in it.
fn contour(p: f64, level: f64) -> Vec<(f64, f64)> {
    let mut below = Vec::new();
    for i in 0..=200 {
        let q0 = f64::from(i) / 200.0;
        let explained = |q1: f64| Flips { p, q0, q1 }.explained();
        if !(explained(0.0) >= level) {
            continue;
        }
        let bracket = Bracket { holds: 0.0, fails: 1.0 - q0 };
        below.push((q0, bracket.halve(50, |q1| explained(q1) >= level).holds));
    }
    let mirrored: Vec<(f64, f64)> = below.iter().map(|(a, b)| (1.0 - a, 1.0 - b)).collect();
    below.push((f64::NAN, f64::NAN));
    below.extend(mirrored);
    below.push((f64::NAN, f64::NAN));
    below
}
