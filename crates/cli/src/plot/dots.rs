//! Rows of dots on one axis: several figures of several methods.

use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

use super::{
    FAINT, GRID, INK, PALETTE, broken, plain, round_step, sheet, shortened, stroke, write,
};
use crate::failure::Failure;

const WIDTH: i32 = 960;
const HEAD: i32 = 92;
const ROW: i32 = 34;
const AXIS: i32 = 66;

/// What is drawn.
pub(crate) struct DotPlot {
    pub(crate) title: String,
    /// What the axis shows.
    pub(crate) axis: String,
    /// The names of the dots in every row.
    pub(crate) series: Vec<String>,
    pub(crate) rows: Vec<Dots>,
    /// Vertical lines, with their names.
    pub(crate) marks: Vec<(String, f64)>,
}

/// One row. A value that is not finite is left out.
pub(crate) struct Dots {
    pub(crate) label: String,
    pub(crate) values: Vec<f64>,
    /// A remark at its end.
    pub(crate) note: String,
}

/// The dots as an SVG picture.
pub(crate) fn dots(plot: &DotPlot) -> Result<String, Failure> {
    let values =
        plot.rows.iter().flat_map(|row| &row.values).chain(plot.marks.iter().map(|m| &m.1));
    let most = values.copied().filter(|value| value.is_finite()).fold(0.0, f64::max);
    if plot.rows.is_empty() || !(most > 0.0) {
        return Err(Failure::input("cannot draw the picture: there is no value above 0 to show"));
    }
    let most = 1.04 * most;
    let longest = plot.rows.iter().map(|row| row.label.chars().count()).max().unwrap_or(1);
    let left = 30 + 8 * longest.clamp(6, 24) as i32;
    let right = WIDTH - 240;
    let bottom = HEAD + ROW * plot.rows.len() as i32;
    let at = |value: f64| left + (value / most * f64::from(right - left)).round() as i32;
    sheet((WIDTH as u32, (bottom + AXIS) as u32), |area| {
        write(area, &shortened(&plot.title, 105), (24, 26), 20, INK, HPos::Left)?;
        let mut x = 24;
        for (name, colour) in plot.series.iter().zip(PALETTE) {
            area.draw(&Circle::new((x + 6, 58), 6, colour.filled())).map_err(broken)?;
            write(area, name, (x + 18, 58), 13, INK, HPos::Left)?;
            x += 40 + 7 * name.chars().count() as i32;
        }
        let step = round_step(most, 8.0);
        for tick in 0..=(most / step).floor() as i32 {
            let value = f64::from(tick) * step;
            stroke(area, (at(value), HEAD), (at(value), bottom + 5), GRID.stroke_width(1))?;
            write(area, &plain(value), (at(value), bottom + 17), 13, INK, HPos::Center)?;
        }
        for (name, value) in plot.marks.iter().filter(|(_, value)| value.is_finite()) {
            stroke(area, (at(*value), HEAD - 4), (at(*value), bottom), FAINT.stroke_width(2))?;
            write(area, name, (at(*value), HEAD - 12), 12, FAINT, HPos::Center)?;
        }
        stroke(area, (left, bottom), (right, bottom), FAINT.stroke_width(1))?;
        write(area, &plot.axis, ((left + right) / 2, bottom + 44), 14, INK, HPos::Center)?;
        for (place, row) in plot.rows.iter().enumerate() {
            let y = HEAD + ROW * place as i32 + ROW / 2;
            stroke(area, (left, y), (right, y), GRID.stroke_width(1))?;
            write(area, &shortened(&row.label, 24), (left - 10, y), 14, INK, HPos::Right)?;
            for (value, colour) in row.values.iter().zip(PALETTE).filter(|(v, _)| v.is_finite()) {
                area.draw(&Circle::new((at(*value), y), 6, colour.filled())).map_err(broken)?;
            }
            write(area, &shortened(&row.note, 34), (right + 14, y), 12, FAINT, HPos::Left)?;
        }
        Ok(())
    })
}
