//! Named points over two logarithmic axes.

use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

use super::{FAINT, GRID, INK, PALETTE, broken, plain, sheet, shortened, stroke, write};
use crate::failure::Failure;

const WIDTH: i32 = 960;
const HEIGHT: i32 = 560;
const LEFT: i32 = 110;
const RIGHT: i32 = WIDTH - 150;
const TOP: i32 = 70;
const BOTTOM: i32 = HEIGHT - 80;

/// What is drawn. Points that are not above nought are left out.
pub(crate) struct Tradeoff {
    pub(crate) title: String,
    pub(crate) across: String,
    pub(crate) up: String,
    pub(crate) points: Vec<(String, f64, f64)>,
}

/// A logarithmic scale from numbers to the sheet.
struct Logarithmic {
    least: f64,
    most: f64,
    from: i32,
    to: i32,
}

impl Logarithmic {
    /// Room around all values, and ends that are never equal.
    fn around(values: &[f64], from: i32, to: i32) -> Self {
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let most = values.iter().copied().fold(0.0, f64::max);
        Self { least: least / 1.6, most: most * 1.6, from, to }
    }

    fn at(&self, value: f64) -> i32 {
        let share = (value / self.least).ln() / (self.most / self.least).ln();
        self.from + (share * f64::from(self.to - self.from)).round() as i32
    }

    /// 1, 2 and 5 times powers of ten, or powers alone where there are many.
    fn ticks(&self) -> Vec<f64> {
        let (low, high) = (self.least.log10().floor() as i32, self.most.log10().ceil() as i32);
        let steps: &[f64] = if high - low > 4 { &[1.0] } else { &[1.0, 2.0, 5.0] };
        let all = (low..=high).flat_map(|power| steps.iter().map(move |s| s * 10f64.powi(power)));
        all.filter(|tick| (self.least..=self.most).contains(tick)).collect()
    }
}

/// The points as an SVG picture.
pub(crate) fn tradeoff(plot: &Tradeoff) -> Result<String, Failure> {
    let shown: Vec<_> = plot
        .points
        .iter()
        .filter(|(_, x, y)| *x > 0.0 && *y > 0.0 && x.is_finite() && y.is_finite())
        .collect();
    if shown.is_empty() {
        return Err(Failure::input("cannot draw the picture: there is no finite point to show"));
    }
    let across: Vec<f64> = shown.iter().map(|(_, x, _)| *x).collect();
    let up: Vec<f64> = shown.iter().map(|(_, _, y)| *y).collect();
    let (across, up) =
        (Logarithmic::around(&across, LEFT, RIGHT), Logarithmic::around(&up, BOTTOM, TOP));
    sheet((WIDTH as u32, HEIGHT as u32), |area| {
        write(area, &shortened(&plot.title, 105), (24, 26), 20, INK, HPos::Left)?;
        write(area, &plot.up, (24, 52), 14, INK, HPos::Left)?;
        for tick in across.ticks() {
            let x = across.at(tick);
            stroke(area, (x, TOP), (x, BOTTOM + 5), GRID.stroke_width(1))?;
            write(area, &plain(tick), (x, BOTTOM + 18), 13, INK, HPos::Center)?;
        }
        for tick in up.ticks() {
            let y = up.at(tick);
            stroke(area, (LEFT - 5, y), (RIGHT, y), GRID.stroke_width(1))?;
            write(area, &plain(tick), (LEFT - 10, y), 13, INK, HPos::Right)?;
        }
        stroke(area, (LEFT, BOTTOM), (RIGHT, BOTTOM), FAINT.stroke_width(1))?;
        stroke(area, (LEFT, TOP), (LEFT, BOTTOM), FAINT.stroke_width(1))?;
        write(area, &plot.across, ((LEFT + RIGHT) / 2, BOTTOM + 46), 14, INK, HPos::Center)?;
        // Points that lie on one another are one dot with all their names.
        let mut dots: Vec<((i32, i32), String)> = Vec::new();
        for (name, x, y) in &shown {
            let at = (across.at(*x), up.at(*y));
            let near = |dot: &&mut ((i32, i32), String)| {
                (dot.0.0 - at.0).abs() <= 4 && (dot.0.1 - at.1).abs() <= 4
            };
            match dots.iter_mut().find(near) {
                Some((_, names)) => *names = format!("{names}, {name}"),
                None => dots.push((at, name.clone())),
            }
        }
        for ((at, names), colour) in dots.iter().zip(PALETTE.iter().cycle()) {
            area.draw(&Circle::new(*at, 6, colour.filled())).map_err(broken)?;
            write(area, &shortened(names, 40), (at.0 + 12, at.1), 14, INK, HPos::Left)?;
        }
        Ok(())
    })
}
