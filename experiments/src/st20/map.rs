//! The six notions of ST20 and the arrows between them, as in its Figure 2, with corrected constants.

use std::fmt::Write;

use undertone_theory::relation::{Notion, Verdict, counterexample, rules};

/// A notion, its name on the map, and where it stands.
const NODES: [(Notion, &str, (f64, f64)); 6] = [
    (Notion::Infdp, "inference DP of G", (330.0, 130.0)),
    (Notion::Infp, "information privacy of G", (330.0, 330.0)),
    (Notion::Avgleak, "average leakage I(G;Z)", (330.0, 530.0)),
    (Notion::Ident, "identifiability of X", (850.0, 130.0)),
    (Notion::Ldp, "LDP of every reading", (850.0, 330.0)),
    (Notion::Mipx, "mutual information I(X;Z)", (850.0, 530.0)),
];
/// Half of a box's width and height.
const BOX: (f64, f64) = (104.0, 22.0);
const PAPER: &str = "ST20 Thm 1 ";

/// How an arrow is drawn.
#[derive(Clone, Copy, PartialEq)]
enum ArrowKind {
    Implies,
    DoesNot,
    Denied,
}

impl ArrowKind {
    fn style(self) -> (&'static str, &'static str) {
        match self {
            Self::Implies => ("#0072b2", "none"),
            Self::DoesNot => ("#c1272d", "7 5"),
            Self::Denied => ("#b86b00", "2 4"),
        }
    }
}

/// How far each arrow bends to its left and how far along it its label stands, so that nothing overlaps.
const BENDS: [(Notion, Notion, ArrowKind, f64, f64); 19] = [
    (Notion::Infp, Notion::Infdp, ArrowKind::Implies, -42.0, 0.5),
    (Notion::Infdp, Notion::Infp, ArrowKind::Implies, -42.0, 0.62),
    (Notion::Infdp, Notion::Infp, ArrowKind::DoesNot, -110.0, 0.4),
    (Notion::Infp, Notion::Avgleak, ArrowKind::Implies, -42.0, 0.4),
    (Notion::Avgleak, Notion::Infp, ArrowKind::DoesNot, -42.0, 0.3),
    (Notion::Infdp, Notion::Avgleak, ArrowKind::Implies, 150.0, 0.28),
    (Notion::Infdp, Notion::Avgleak, ArrowKind::DoesNot, -240.0, 0.5),
    (Notion::Avgleak, Notion::Infdp, ArrowKind::DoesNot, 150.0, 0.3),
    (Notion::Ldp, Notion::Infp, ArrowKind::Implies, 30.0, 0.32),
    (Notion::Infp, Notion::Ldp, ArrowKind::DoesNot, 40.0, 0.6),
    (Notion::Infp, Notion::Mipx, ArrowKind::DoesNot, 40.0, 0.7),
    (Notion::Mipx, Notion::Infp, ArrowKind::DoesNot, 40.0, 0.45),
    (Notion::Mipx, Notion::Avgleak, ArrowKind::Implies, 0.0, 0.5),
    (Notion::Ldp, Notion::Mipx, ArrowKind::Implies, -42.0, 0.5),
    (Notion::Mipx, Notion::Ldp, ArrowKind::DoesNot, -42.0, 0.5),
    (Notion::Ldp, Notion::Ident, ArrowKind::Implies, -42.0, 0.25),
    (Notion::Ident, Notion::Ldp, ArrowKind::Implies, -42.0, 0.3),
    (Notion::Ldp, Notion::Ident, ArrowKind::DoesNot, 130.0, 0.35),
    (Notion::Ident, Notion::Ldp, ArrowKind::Denied, 130.0, 0.5),
];

/// The map as SVG, from the same rules that compute numbers.
pub fn svg() -> String {
    let mut svg = String::from(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"1100\" height=\"700\" viewBox=\"0 0 1100 700\" \
         font-family=\"sans-serif\" font-size=\"13\">\n<rect width=\"1100\" height=\"700\" fill=\"#fff\"/>\n",
    );
    text(&mut svg, (20.0, 30.0), 17, "#222", "start", "Figure 2, with corrected constants");
    let about = [
        (330.0, "what outputs say of the private hypothesis"),
        (850.0, "what they say of the readings"),
    ];
    for (x, words) in about {
        text(&mut svg, (x, 80.0), 14, "#666", "middle", words);
    }
    let mut labels = String::new();
    for rule in rules::all().filter(|rule| rule.paper.starts_with(PAPER)) {
        let label = format!("{} {}", rule.paper.trim_start_matches(PAPER), rule.label);
        arrow(&mut svg, &mut labels, (rule.from, rule.to), ArrowKind::Implies, &label);
    }
    for denial in counterexample::all().iter().filter(|denial| denial.paper.starts_with(PAPER)) {
        let item = denial.paper.trim_start_matches(PAPER);
        let (kind, more) = match (denial.verdict, item) {
            (Verdict::False, _) => (ArrowKind::Denied, " denied, falsely"),
            (_, "(iii)" | "(iv)") => (ArrowKind::DoesNot, " if q grows"),
            (_, "(xiii)") => (ArrowKind::DoesNot, " unless uniform"),
            _ => (ArrowKind::DoesNot, ""),
        };
        let label = format!("✗ {item}{more}");
        arrow(&mut svg, &mut labels, (denial.from, denial.to), kind, &label);
    }
    svg.push_str(&labels);
    for (_, name, (x, y)) in NODES {
        let _ = writeln!(
            svg,
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"6\" fill=\"#1f2d3d\"/>",
            x - BOX.0,
            y - BOX.1,
            2.0 * BOX.0,
            2.0 * BOX.1
        );
        text(&mut svg, (x, y + 5.0), 14, "#fff", "middle", name);
    }
    let legend = [
        (
            ArrowKind::Implies,
            "implies, with the sharp constant (s sensors, q private bits, p the rarest value of G)",
        ),
        (ArrowKind::DoesNot, "does not guarantee"),
        (ArrowKind::Denied, "printed as \"does not guarantee\", but it does: 2ε"),
    ];
    for ((kind, words), at) in legend.into_iter().zip(0..) {
        let y = 615.0 + 24.0 * f64::from(at);
        let (colour, dash) = kind.style();
        let _ = writeln!(
            svg,
            "<path d=\"M60 {y} H110\" stroke=\"{colour}\" stroke-width=\"2\" stroke-dasharray=\"{dash}\"/>"
        );
        text(&mut svg, (122.0, y + 4.0), 13, "#222", "start", words);
    }
    svg.push_str("</svg>\n");
    svg
}

fn place(notion: Notion) -> Option<(f64, f64)> {
    NODES.iter().find(|(node, ..)| *node == notion).map(|(.., place)| *place)
}

/// A bent arrow from box to box; its label goes to `labels`, which are drawn above all arrows.
fn arrow(
    svg: &mut String,
    labels: &mut String,
    ends: (Notion, Notion),
    kind: ArrowKind,
    label: &str,
) {
    let (Some(from), Some(to)) = (place(ends.0), place(ends.1)) else { return };
    let listed = BENDS.iter().find(|(a, b, k, ..)| (*a, *b) == ends && *k == kind);
    let (bend, along) = listed.map_or((60.0, 0.5), |(.., bend, along)| (*bend, *along));
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let length = dx.hypot(dy).max(1.0);
    let middle = ((from.0 + to.0) / 2.0, (from.1 + to.1) / 2.0);
    // The left side of the direction, on a page whose y grows downwards.
    let control = (middle.0 + 2.0 * bend * dy / length, middle.1 - 2.0 * bend * dx / length);
    let at = |t: f64| {
        let mix = |a: f64, c: f64, b: f64| {
            (1.0 - t) * (1.0 - t) * a + 2.0 * t * (1.0 - t) * c + t * t * b
        };
        (mix(from.0, control.0, to.0), mix(from.1, control.1, to.1))
    };
    let inside = |(x, y): (f64, f64), (cx, cy): (f64, f64)| {
        (x - cx).abs() <= BOX.0 && (y - cy).abs() <= BOX.1
    };
    let steps: Vec<(f64, f64)> = (0..=200).map(|k| at(f64::from(k) / 200.0)).collect();
    let path: Vec<(f64, f64)> =
        steps.into_iter().filter(|p| !inside(*p, from) && !inside(*p, to)).collect();
    let (Some(first), Some(last)) = (path.first(), path.last()) else { return };
    let (colour, dash) = kind.style();
    let mut line = format!("M{:.1} {:.1}", first.0, first.1);
    for point in path.iter().skip(1).step_by(4).chain([last]) {
        let _ = write!(line, " L{:.1} {:.1}", point.0, point.1);
    }
    let _ = writeln!(
        svg,
        "<path d=\"{line}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.8\" stroke-dasharray=\"{dash}\"/>"
    );
    let before = path[path.len().saturating_sub(8)];
    let (ux, uy) = (last.0 - before.0, last.1 - before.1);
    let size = ux.hypot(uy).max(1e-9);
    let (ux, uy) = (10.0 * ux / size, 10.0 * uy / size);
    let _ = writeln!(
        svg,
        "<path d=\"M{:.1} {:.1} L{:.1} {:.1} L{:.1} {:.1} Z\" fill=\"{colour}\"/>",
        last.0,
        last.1,
        last.0 - ux - uy / 2.5,
        last.1 - uy + ux / 2.5,
        last.0 - ux + uy / 2.5,
        last.1 - uy - ux / 2.5
    );
    let centre = path[((path.len() - 1) as f64 * along) as usize];
    let width = 7.4 * label.chars().count() as f64 + 10.0;
    let _ = writeln!(
        labels,
        "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"19\" rx=\"4\" fill=\"#fff\" stroke=\"{colour}\"/>",
        centre.0 - width / 2.0,
        centre.1 - 9.5
    );
    text(labels, (centre.0, centre.1 + 4.5), 13, colour, "middle", label);
}

fn text(svg: &mut String, at: (f64, f64), size: u32, colour: &str, anchor: &str, words: &str) {
    let words = words.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;");
    let _ = writeln!(
        svg,
        "<text x=\"{:.1}\" y=\"{:.1}\" font-size=\"{size}\" fill=\"{colour}\" text-anchor=\"{anchor}\">{words}</text>",
        at.0, at.1
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_arrow_of_theorem_1_is_on_the_map() {
        let svg = svg();
        let items = [
            "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii", "xiii", "xiv",
        ];
        for item in items {
            assert!(svg.contains(&format!("({item})")), "{item}");
        }
        assert!(svg.contains("denied, falsely") && !svg.contains("NaN"));
    }
}
