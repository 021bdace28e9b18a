//! Where everything goes: nodes by hand, arrows and labels by a greedy search that keeps them apart.

use super::super::{Notion, Scope, Verdict, counterexample, rules};

/// Height of the part with the arrows.
pub(super) const HEIGHT: f64 = 1290.0;

const NODE_WIDTH: f64 = 104.0;
const NODE_HEIGHT: f64 = 40.0;
const PILL_HEIGHT: f64 = 18.0;

/// Centres of the nodes: one datum on the left, the sensor network on the right, the instance-wise
/// notions above the averages.
const CENTRES: [(Notion, f64, f64); 17] = [
    (Notion::Wclip, 330.0, 120.0),
    (Notion::Ldp, 960.0, 120.0),
    (Notion::Ident, 1580.0, 120.0),
    (Notion::Bplip, 110.0, 330.0),
    (Notion::Lip, 560.0, 400.0),
    (Notion::Di, 1270.0, 330.0),
    (Notion::Infp, 1860.0, 470.0),
    (Notion::Alip, 600.0, 720.0),
    (Notion::Pml, 110.0, 640.0),
    (Notion::Alphalift, 130.0, 930.0),
    (Notion::Mil, 960.0, 930.0),
    (Notion::Sibson, 420.0, 1130.0),
    (Notion::Arimoto, 720.0, 1230.0),
    (Notion::Mip, 1120.0, 1180.0),
    (Notion::Mipx, 1500.0, 900.0),
    (Notion::Infdp, 1750.0, 800.0),
    (Notion::Avgleak, 1800.0, 1180.0),
];

/// A rectangle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Box2 {
    pub x: f64,
    pub y: f64,
    pub w: f64,
    pub h: f64,
}

impl Box2 {
    fn around(centre: (f64, f64), w: f64, h: f64) -> Self {
        Self { x: centre.0 - w / 2.0, y: centre.1 - h / 2.0, w, h }
    }

    /// Whether the two come closer than `gap`.
    pub(super) fn overlaps(&self, other: &Self, gap: f64) -> bool {
        self.x < other.x + other.w + gap
            && other.x < self.x + self.w + gap
            && self.y < other.y + other.h + gap
            && other.y < self.y + self.h + gap
    }

    fn contains(&self, (x, y): (f64, f64), margin: f64) -> bool {
        x > self.x - margin
            && x < self.x + self.w + margin
            && y > self.y - margin
            && y < self.y + self.h + margin
    }
}

/// The relation that an arrow of the map shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ArrowKind {
    /// An implication a paper prints.
    Paper,
    /// An implication derived here.
    Derived,
    /// No implication.
    Not,
    /// Printed as no implication, wrongly.
    False,
}

impl ArrowKind {
    pub(super) const ALL: [Self; 4] = [Self::Paper, Self::Derived, Self::Not, Self::False];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Paper => "paper",
            Self::Derived => "derived",
            Self::Not => "not",
            Self::False => "false",
        }
    }

    pub(super) fn colour(self) -> &'static str {
        match self {
            Self::Paper => "#1d5fa8",
            Self::Derived => "#6b7280",
            Self::Not => "#c62828",
            Self::False => "#d97706",
        }
    }

    pub(super) fn dashes(self) -> &'static str {
        match self {
            Self::Paper | Self::Derived => "",
            Self::Not => r#"stroke-dasharray="6 5""#,
            Self::False => r#"stroke-dasharray="2 4""#,
        }
    }
}

/// A notion and its place.
pub(super) struct Node {
    pub notion: Notion,
    pub area: Box2,
}

/// A quadratic curve: start, control, end.
type Path = [(f64, f64); 3];

/// An arrow, its label and their places.
pub(super) struct Arrow {
    pub number: usize,
    pub from: Notion,
    pub to: Notion,
    pub kind: ArrowKind,
    /// Whether some printed form of this pair is false.
    pub printed_false: bool,
    pub label: String,
    pub path: Path,
    pub pill: Box2,
}

/// Everything, placed.
pub(super) struct Layout {
    pub nodes: Vec<Node>,
    pub arrows: Vec<Arrow>,
}

impl Layout {
    pub(super) fn new() -> Self {
        let place = |&(notion, x, y): &(Notion, f64, f64)| Node {
            notion,
            area: Box2::around((x, y), NODE_WIDTH, NODE_HEIGHT),
        };
        let mut layout = Self { nodes: CENTRES.iter().map(place).collect(), arrows: Vec::new() };
        for mut arrow in arrows() {
            layout.place(&mut arrow);
            layout.arrows.push(arrow);
        }
        layout
    }

    /// Finds the gentlest bend and the most central spot for the label that are free.
    fn place(&self, arrow: &mut Arrow) {
        let centre = |notion: Notion| {
            CENTRES.iter().find(|c| c.0 == notion).map_or((0.0, 0.0), |c| (c.1, c.2))
        };
        let (a, b) = (centre(arrow.from), centre(arrow.to));
        // DejaVu Sans at 12 units is about 6.9 wide per character in such formulas.
        let width = 14.0 + 6.9 * arrow.label.chars().count() as f64;
        let mut best = f64::INFINITY;
        for step in 0..24 {
            // 0.07, -0.07, 0.14, ... of the length, to the right of the direction first.
            let bend = 0.07 * f64::from(step / 2 + 1) * if step % 2 == 0 { 1.0 } else { -1.0 };
            let path = bow(a, b, bend);
            let blocked = self.nodes.iter().filter(|node| {
                node.notion != arrow.from && node.notion != arrow.to && crosses(&path, &node.area)
            });
            let blocked = blocked.count() as f64;
            let over: usize =
                self.arrows.iter().filter(|other| crosses(&path, &other.pill)).count();
            // Arrows between the same two notions, either way, must not lie on each other.
            let twins = self.arrows.iter().filter(|other| {
                let same = (other.from, other.to) == (arrow.from, arrow.to)
                    || (other.to, other.from) == (arrow.from, arrow.to);
                let ((ax, ay), (bx, by)) = (at(&path, 0.5), at(&other.path, 0.5));
                same && (ax - bx).hypot(ay - by) < 24.0
            });
            let twins = twins.count() as f64;
            for spot in 0..27 {
                let shift =
                    0.025 * f64::from((spot + 1) / 2) * if spot % 2 == 0 { 1.0 } else { -1.0 };
                let pill = Box2::around(at(&path, 0.5 + shift), width, PILL_HEIGHT);
                let inside = pill.x > 4.0
                    && pill.x + pill.w < super::WIDTH - 4.0
                    && pill.y > 76.0
                    && pill.y + pill.h < HEIGHT - 4.0
                    && !pill.overlaps(&LEGEND, 4.0);
                let hit_node = self.nodes.iter().any(|node| pill.overlaps(&node.area, 5.0));
                let hit_pill = self.arrows.iter().any(|other| pill.overlaps(&other.pill, 3.0));
                let under = self.arrows.iter().filter(|other| crosses(&other.path, &pill)).count();
                let cost = 1000.0 * blocked
                    + 300.0 * twins
                    + 500.0 * f64::from(u8::from(!inside || hit_node || hit_pill))
                    + 6.0 * over as f64
                    + 2.5 * under as f64
                    + 30.0 * bend.abs()
                    + 6.0 * shift.abs();
                if cost < best {
                    best = cost;
                    (arrow.path, arrow.pill) = (path, pill);
                }
            }
        }
    }
}

/// Where the key to the arrows stands.
const LEGEND: Box2 = Box2 { x: 20.0, y: HEIGHT - 104.0, w: 370.0, h: 96.0 };

/// One arrow per pair of notions, numbered in the order of the rules; refutations follow.
fn arrows() -> Vec<Arrow> {
    let mut all: Vec<Arrow> = Vec::new();
    let nowhere = Box2 { x: 0.0, y: 0.0, w: 0.0, h: 0.0 };
    for rule in rules::all().filter(|rule| rule.from != rule.to) {
        if all.iter().any(|arrow| (arrow.from, arrow.to) == (rule.from, rule.to)) {
            continue;
        }
        let number = all.len() + 1;
        let pair = || rules::all().filter(|r| (r.from, r.to) == (rule.from, rule.to));
        let labels = pair().filter(|r| r.convention.is_none()).map(|r| r.label);
        let simplest = labels.min_by_key(|label| label.chars().count()).unwrap_or(rule.label);
        all.push(Arrow {
            number,
            from: rule.from,
            to: rule.to,
            kind: if pair().all(|r| r.is_derived()) {
                ArrowKind::Derived
            } else {
                ArrowKind::Paper
            },
            printed_false: pair().any(|r| r.printed.is_some_and(|p| p.verdict == Verdict::False)),
            label: format!("{number}: {simplest}"),
            path: [(0.0, 0.0); 3],
            pill: nowhere,
        });
    }
    for statement in counterexample::all() {
        let same = |arrow: &Arrow| {
            (arrow.from, arrow.to) == (statement.from, statement.to) && arrow.label.starts_with('✗')
        };
        if all.iter().any(same) {
            continue;
        }
        let number = all.len() + 1;
        all.push(Arrow {
            number,
            from: statement.from,
            to: statement.to,
            kind: if statement.verdict == Verdict::False {
                ArrowKind::False
            } else {
                ArrowKind::Not
            },
            printed_false: false,
            label: match statement.verdict {
                Verdict::False => format!("✗ {number} (false)"),
                _ => format!("✗ {number}{}", scope(statement.scope)),
            },
            path: [(0.0, 0.0); 3],
            pill: nowhere,
        });
    }
    all
}

/// When the refutation speaks, in a few characters.
fn scope(scope: Scope) -> &'static str {
    match scope {
        Scope::Always => "",
        Scope::Delta => " (δ>0)",
        Scope::Prior => " (p unknown)",
        Scope::Vanishing => " (not to 0)",
        Scope::Growing => " (q→∞)",
    }
}

/// A curve from the edge of one node to the edge of another, bent to its right by a part of its length.
fn bow(a: (f64, f64), b: (f64, f64), bend: f64) -> Path {
    let (dx, dy) = (b.0 - a.0, b.1 - a.1);
    let control =
        (f64::midpoint(a.0, b.0) - bend * dy * 2.0, f64::midpoint(a.1, b.1) + bend * dx * 2.0);
    [leave(a, control, 2.0), control, leave(b, control, 6.0)]
}

/// Where the ray from a node's centre towards `target` leaves the node, and a little further.
fn leave(centre: (f64, f64), target: (f64, f64), gap: f64) -> (f64, f64) {
    let (dx, dy) = (target.0 - centre.0, target.1 - centre.1);
    let across = (NODE_WIDTH / 2.0 + gap) / dx.abs().max(1e-9);
    let down = (NODE_HEIGHT / 2.0 + gap) / dy.abs().max(1e-9);
    let part = across.min(down);
    (centre.0 + part * dx, centre.1 + part * dy)
}

/// A point of the curve.
fn at(path: &Path, t: f64) -> (f64, f64) {
    let mix =
        |a: f64, b: f64, c: f64| (1.0 - t) * (1.0 - t) * a + 2.0 * t * (1.0 - t) * b + t * t * c;
    (mix(path[0].0, path[1].0, path[2].0), mix(path[0].1, path[1].1, path[2].1))
}

/// Whether the curve runs through the box.
pub(super) fn crosses(path: &Path, area: &Box2) -> bool {
    (0..=80).any(|i| area.contains(at(path, f64::from(i) / 80.0), 2.0))
}
