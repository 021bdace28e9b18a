//! The table under the map: every rule and every refutation, in words and formulas.

use std::fmt::Write;

use super::super::{NonImplication, Scope, Verdict, counterexample, rules};
use super::layout::{ArrowKind, Layout};
use super::text;

const ROW: f64 = 19.0;
const SIZE: f64 = 12.0;

/// Where the columns begin: number, pair, corrected, paper, printed, verdict.
const COLUMNS: [f64; 6] = [24.0, 64.0, 240.0, 960.0, 1190.0, 1800.0];

struct Line {
    cells: Vec<(usize, String)>,
    colour: &'static str,
    bold: bool,
}

/// The lines of the table and the height they need.
pub(super) struct Table {
    lines: Vec<Line>,
    pub height: f64,
}

/// All lines, numbered like the arrows.
pub(super) fn rows(layout: &Layout) -> Table {
    let mut lines = vec![head(&["", "from, to", "corrected", "source", "as printed", "verdict"])];
    for rule in rules::all() {
        let arrow = layout.arrows.iter().find(|a| {
            (a.from, a.to) == (rule.from, rule.to)
                && !matches!(a.kind, ArrowKind::Not | ArrowKind::False)
        });
        let number = arrow.map_or(String::new(), |a| a.number.to_string());
        let mut cells = vec![
            (0, number),
            (1, format!("{} → {}", rule.from, rule.to)),
            (2, rule.formula.to_string()),
            (3, rule.paper.to_string()),
        ];
        if let Some(convention) = rule.convention
            && rule.from == rule.to
        {
            cells[1].1 = format!("lip δ {convention}");
            cells[2].1 = format!("{}: {}", rule.name, rule.formula);
        }
        let mut colour = ArrowKind::Paper.colour();
        match rule.printed {
            Some(printed) => {
                cells.push((4, printed.formula.to_string()));
                cells.push((5, printed.verdict.to_string()));
                if printed.verdict == Verdict::False {
                    colour = ArrowKind::False.colour();
                }
            }
            None => colour = ArrowKind::Derived.colour(),
        }
        lines.push(Line { cells, colour, bold: false });
    }
    lines.push(Line { cells: vec![], colour: "", bold: false });
    lines.push(head(&["", "does not imply", "why", "", "", ""]));
    for statement in counterexample::all() {
        let arrow = layout.arrows.iter().find(|a| {
            (a.from, a.to) == (statement.from, statement.to)
                && matches!(a.kind, ArrowKind::Not | ArrowKind::False)
        });
        let number = arrow.map_or(String::new(), |a| a.number.to_string());
        let colour =
            if statement.verdict == Verdict::False { ArrowKind::False } else { ArrowKind::Not }
                .colour();
        lines.push(Line {
            cells: vec![
                (0, number),
                (1, format!("{} ↛ {}", statement.from, statement.to)),
                (2, format!("{}{} [{}]", when(statement), statement.words, statement.paper)),
            ],
            colour,
            bold: false,
        });
    }
    let height = ROW * lines.len() as f64 + 20.0;
    Table { lines, height }
}

fn when(statement: &NonImplication) -> &'static str {
    match statement.scope {
        _ if statement.verdict == Verdict::False => "",
        Scope::Always => "",
        Scope::Delta => "for δ > 0: ",
        Scope::Prior => "unless the smallest probability is known and large enough: ",
        Scope::Vanishing => "not with vanishing budget: ",
        Scope::Growing => "when q may grow: ",
    }
}

fn head(names: &[&str]) -> Line {
    let cells = names.iter().enumerate().map(|(at, name)| (at, (*name).to_string())).collect();
    Line { cells, colour: "#1f2d3d", bold: true }
}

impl Table {
    pub(super) fn draw(&self, out: &mut String, top: f64) {
        for (row, line) in self.lines.iter().enumerate() {
            let y = top + ROW * row as f64;
            if line.bold {
                // Writing to a string cannot fail.
                let _ = writeln!(
                    out,
                    r##"<path d="M20 {:.1}H1980" stroke="#c9ced6" stroke-width="1"/>"##,
                    y + 6.0
                );
            }
            for (column, words) in line.cells.iter().filter(|cell| !cell.1.is_empty()) {
                text(out, COLUMNS[*column], y, SIZE, line.colour, line.bold, words);
            }
        }
    }
}
