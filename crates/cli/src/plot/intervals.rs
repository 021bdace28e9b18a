//! Numbers with their intervals, one below the other: shares in groups, coefficients.

use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

use super::scale::Scale;
use super::{FAINT, GRID, INK, PALETTE, broken, plain, sheet, shortened, stroke, write};
use crate::failure::Failure;

const WIDTH: i32 = 960;
const HEAD: i32 = 64;
const ROW: i32 = 24;
const GAP: i32 = 12;
const AXIS: i32 = 62;
const NAMES: i32 = 300;
/// As many numbers as a picture shows.
const SHOWN: usize = 60;

/// What is drawn.
pub(crate) struct IntervalPlot {
    pub(crate) title: String,
    /// What the axis shows.
    pub(crate) axis: String,
    pub(crate) rows: Vec<IntervalRow>,
}

/// One number with its interval; nothing is drawn of one that is not known.
pub(crate) struct IntervalRow {
    pub(crate) name: String,
    /// What it belongs to: there is room between rows of different groups.
    pub(crate) group: String,
    pub(crate) value: Option<f64>,
    pub(crate) low: Option<f64>,
    pub(crate) high: Option<f64>,
}

/// The numbers as an SVG picture.
pub(crate) fn intervals(plot: &IntervalPlot) -> Result<String, Failure> {
    let rows = &plot.rows[..plot.rows.len().min(SHOWN)];
    let ends = || rows.iter().flat_map(|row| [row.value, row.low, row.high]).flatten();
    let finite = || ends().filter(|end| end.is_finite());
    // Nought is where shares begin and where a coefficient says nothing.
    let (least, most) = (finite().fold(0.0, f64::min), finite().fold(0.0, f64::max));
    let room = 0.03 * (most - least).max(1e-9);
    let least = if least < 0.0 { least - room } else { least };
    let across = Scale { least, most: most + room, from: NAMES + 20, to: WIDTH - 30 };
    let mut places = Vec::new();
    let mut y = HEAD + ROW / 2;
    for (at, row) in rows.iter().enumerate() {
        if at > 0 && row.group != rows[at - 1].group {
            y += GAP;
        }
        places.push(y);
        y += ROW;
    }
    let bottom = y - ROW / 2 + 4;
    sheet((WIDTH as u32, (bottom + AXIS) as u32), |area| {
        write(area, &shortened(&plot.title, 95), (24, 26), 20, INK, HPos::Left)?;
        if rows.len() < plot.rows.len() {
            let left = format!("the first {SHOWN} of {}", plot.rows.len());
            write(area, &left, (24, 48), 14, FAINT, HPos::Left)?;
        }
        for tick in across.ticks(8.0) {
            let x = across.at(tick);
            let style = if tick == 0.0 { FAINT.stroke_width(1) } else { GRID.stroke_width(1) };
            stroke(area, (x, HEAD - 4), (x, bottom), style)?;
            write(area, &plain(tick), (x, bottom + 15), 13, INK, HPos::Center)?;
        }
        let middle = (across.from + across.to) / 2;
        write(area, &plot.axis, (middle, bottom + 42), 14, INK, HPos::Center)?;
        for (row, &y) in rows.iter().zip(&places) {
            let name = match row.group.is_empty() {
                true => row.name.clone(),
                false => format!("{}: {}", row.group, row.name),
            };
            write(area, &shortened(&name, 44), (NAMES, y), 13, INK, HPos::Right)?;
            let (Some(value), Some(low), Some(high)) = (row.value, row.low, row.high) else {
                write(area, "not determined", (across.from + 8, y), 13, FAINT, HPos::Left)?;
                continue;
            };
            let band = [(across.at(low), y - 6), (across.at(high).max(across.at(low) + 1), y + 6)];
            area.draw(&Rectangle::new(band, PALETTE[0].mix(0.3).filled())).map_err(broken)?;
            let dot = Circle::new((across.at(value), y), 4, PALETTE[0].filled());
            area.draw(&dot).map_err(broken)?;
        }
        Ok(())
    })
}
