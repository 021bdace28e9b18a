//! The map: every notion a node, every implication an arrow with its constant, and a table with the
//! full formulas. Drawn from the rules themselves, so it cannot drift from what `relate` computes.

mod layout;
mod table;

use std::fmt::Write;

use layout::{Arrow, ArrowKind, Box2, Layout};

/// Width of the drawing.
const WIDTH: f64 = 2000.0;

const FONT: &str = "DejaVu Sans, Verdana, Helvetica, sans-serif";

/// The map as a self-contained SVG document.
///
/// Solid arrows are implications of the papers (blue) or derived here (grey); dashed red arrows are
/// what does not follow; orange marks what is printed but false. An arrow carries the simplest
/// constant of its pair; the table below gives every formula, printed and corrected.
pub fn svg() -> String {
    let layout = Layout::new();
    let table = table::rows(&layout);
    let height = layout::HEIGHT + 40.0 + table.height;
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write!(
        out,
        r##"<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" font-family="{FONT}">
<rect width="100%" height="100%" fill="#fcfcfa"/>
<defs>"##
    );
    for kind in ArrowKind::ALL {
        let _ = write!(
            out,
            r#"<marker id="{0}" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="9" markerHeight="9" markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0 10 5 0 10z" fill="{1}"/></marker>"#,
            kind.name(),
            kind.colour()
        );
    }
    out.push_str("</defs>\n");
    heading(&mut out);
    for arrow in &layout.arrows {
        curve(&mut out, arrow);
    }
    for arrow in &layout.arrows {
        pill(&mut out, arrow);
    }
    for node in &layout.nodes {
        let Box2 { x, y, w, h } = node.area;
        let _ = writeln!(
            out,
            r##"<g><title>{3}</title><rect x="{0}" y="{1}" width="{w}" height="{h}" rx="9" fill="#1f2d3d"/><text x="{4}" y="{5}" fill="#fff" font-size="17" font-weight="bold" text-anchor="middle">{2}</text></g>"##,
            x,
            y,
            node.notion,
            escape(node.notion.description()),
            x + w / 2.0,
            y + h / 2.0 + 6.0
        );
    }
    table.draw(&mut out, layout::HEIGHT + 30.0);
    out.push_str("</svg>\n");
    out
}

fn heading(out: &mut String) {
    text(out, 24.0, 40.0, 24.0, "#1f2d3d", true, "Privacy notions and what they imply");
    let note = "E = e^ε, p = smallest probability of the secret, M symbols, s sensors, q secrets; all in nats. \
        Arrows carry the simplest constant; the table gives every formula.";
    text(out, 24.0, 64.0, 13.0, "#555", false, note);
    let entries = [
        (ArrowKind::Paper, "implies, in a paper (corrected constant)"),
        (ArrowKind::Derived, "implies, derived here"),
        (ArrowKind::Not, "does not imply"),
        (ArrowKind::False, "printed, but false"),
    ];
    for (row, (kind, words)) in entries.into_iter().enumerate() {
        let y = layout::HEIGHT - 88.0 + 22.0 * row as f64;
        let _ = write!(
            out,
            r#"<path d="M30 {y}H90" stroke="{}" stroke-width="2" {} fill="none" marker-end="url(#{})"/>"#,
            kind.colour(),
            kind.dashes(),
            kind.name()
        );
        text(out, 102.0, y + 4.0, 13.0, "#333", false, words);
    }
}

fn curve(out: &mut String, arrow: &Arrow) {
    let [(ax, ay), (bx, by), (cx, cy)] = arrow.path;
    let _ = writeln!(
        out,
        r#"<path d="M{ax:.1} {ay:.1}Q{bx:.1} {by:.1} {cx:.1} {cy:.1}" fill="none" stroke="{}" stroke-width="1.6" {} marker-end="url(#{})"><title>{} to {}</title></path>"#,
        arrow.kind.colour(),
        arrow.kind.dashes(),
        arrow.kind.name(),
        arrow.from,
        arrow.to
    );
}

fn pill(out: &mut String, arrow: &Arrow) {
    let Box2 { x, y, w, h } = arrow.pill;
    // A false printed form of a pair that does imply marks its label.
    let frame = if arrow.printed_false { ArrowKind::False.colour() } else { arrow.kind.colour() };
    let stroke = if arrow.printed_false { 2.2 } else { 1.0 };
    let _ = write!(
        out,
        r##"<rect x="{x:.1}" y="{y:.1}" width="{w:.1}" height="{h}" rx="8" fill="#fff" stroke="{frame}" stroke-width="{stroke}"/>"##
    );
    let _ = writeln!(
        out,
        r#"<text x="{:.1}" y="{:.1}" font-size="12" fill="{}" text-anchor="middle">{}</text>"#,
        x + w / 2.0,
        y + 13.5,
        arrow.kind.colour(),
        escape(&arrow.label)
    );
}

fn text(out: &mut String, x: f64, y: f64, size: f64, colour: &str, bold: bool, words: &str) {
    let weight = if bold { r#" font-weight="bold""# } else { "" };
    let _ = writeln!(
        out,
        r#"<text x="{x:.1}" y="{y:.1}" font-size="{size}" fill="{colour}"{weight}>{}</text>"#,
        escape(words)
    );
}

fn escape(words: &str) -> String {
    words.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::{counterexample, rules};
    use super::*;

    #[test]
    fn every_rule_and_every_refutation_is_drawn() {
        let layout = Layout::new();
        let drawn = svg();
        for rule in rules::all() {
            let found = layout.arrows.iter().any(|a| (a.from, a.to) == (rule.from, rule.to));
            assert!(found || rule.from == rule.to, "{} to {}", rule.from, rule.to);
            assert!(drawn.contains(&escape(rule.formula)), "{}", rule.formula);
            assert!(rule.printed.is_none_or(|p| drawn.contains(&escape(p.formula))));
        }
        for statement in counterexample::all() {
            let found = layout.arrows.iter().any(|a| {
                (a.from, a.to) == (statement.from, statement.to)
                    && matches!(a.kind, ArrowKind::Not | ArrowKind::False)
            });
            assert!(found, "{} not to {}", statement.from, statement.to);
        }
    }

    #[test]
    fn nothing_overlaps() {
        let layout = Layout::new();
        let mut boxes: Vec<(String, Box2)> =
            layout.nodes.iter().map(|n| (n.notion.to_string(), n.area)).collect();
        boxes.extend(layout.arrows.iter().map(|a| (a.label.clone(), a.pill)));
        for (i, (name, a)) in boxes.iter().enumerate() {
            assert!(a.x >= 0.0 && a.x + a.w <= WIDTH && a.y >= 70.0, "{name} is outside");
            assert!(a.y + a.h <= layout::HEIGHT, "{name} is outside");
            for (other, b) in &boxes[i + 1..] {
                assert!(!a.overlaps(b, 1.0), "{name} overlaps {other}");
            }
        }
        // No arrow runs through a third notion.
        for arrow in &layout.arrows {
            for node in &layout.nodes {
                let own = node.notion == arrow.from || node.notion == arrow.to;
                assert!(
                    own || !layout::crosses(&arrow.path, &node.area),
                    "{} {}",
                    arrow.label,
                    node.notion
                );
            }
        }
    }

    #[test]
    fn the_document_is_closed_and_escaped() {
        let drawn = svg();
        assert!(drawn.starts_with("<svg") && drawn.ends_with("</svg>\n"));
        for tag in ["text", "g", "marker", "defs", "title"] {
            let opened = drawn.matches(&format!("<{tag}>")).count()
                + drawn.matches(&format!("<{tag} ")).count();
            assert_eq!(opened, drawn.matches(&format!("</{tag}>")).count(), "{tag}");
        }
        assert!(!drawn.contains("& ") && !drawn.contains("< "));
    }
}
