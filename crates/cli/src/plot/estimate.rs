//! Estimated shares with their intervals, and the prior beside them.

use plotters::prelude::*;
use plotters::style::text_anchor::HPos;
use undertone::estimate::{EstimatedNumber, EstimatedShare};

use super::scale::Scale;
use super::{Area, FAINT, GRID, INK, PALETTE, broken, plain, sheet, shortened, stroke, write};
use crate::failure::Failure;

const WIDTH: i32 = 960;
const HEAD: i32 = 116;
const ROW: i32 = 24;
const AXIS: i32 = 62;
/// The height of a histogram.
const TALL: i32 = 340;
/// As many symbols as a list shows.
const SHOWN: usize = 30;

/// What is drawn.
pub(crate) struct Estimated<'a> {
    /// The title, and what is stated below it.
    pub(crate) lines: Vec<String>,
    pub(crate) column: &'a str,
    pub(crate) shares: &'a [EstimatedShare],
    pub(crate) prior: Option<&'a [f64]>,
    /// The edges of bins: then a histogram is drawn, else a list.
    pub(crate) edges: Option<&'a [f64]>,
    pub(crate) mean: Option<EstimatedNumber>,
}

/// The estimate as an SVG picture.
pub(crate) fn estimate(estimated: &Estimated<'_>) -> Result<String, Failure> {
    match estimated.edges {
        Some(edges) if edges.len() == estimated.shares.len() + 1 => histogram(estimated, edges),
        _ => list(estimated),
    }
}

fn heading(area: &Area<'_>, estimated: &Estimated<'_>, mean: bool) -> Result<(), Failure> {
    for (at, line) in estimated.lines.iter().take(3).enumerate() {
        let (size, colour) = if at == 0 { (20, INK) } else { (14, FAINT) };
        let y = if at == 0 { 26 } else { 30 + 22 * at as i32 };
        write(area, &shortened(line, 115), (24, y), size, colour, HPos::Left)?;
    }
    let y = HEAD - 18;
    let interval = Rectangle::new([(24, y - 6), (52, y + 6)], PALETTE[0].mix(0.3).filled());
    area.draw(&interval).map_err(broken)?;
    stroke(area, (24, y), (52, y), PALETTE[0].stroke_width(2))?;
    write(area, "estimate and interval", (60, y), 13, INK, HPos::Left)?;
    let mut x = 230;
    if estimated.prior.is_some() {
        stroke(area, (x, y), (x + 28, y), PALETTE[1].stroke_width(2))?;
        write(area, "prior (assumed)", (x + 36, y), 13, INK, HPos::Left)?;
        x += 160;
    }
    if mean {
        let band = Rectangle::new([(x, y - 8), (x + 20, y + 8)], INK.mix(0.12).filled());
        area.draw(&band).map_err(broken)?;
        stroke(area, (x + 10, y - 8), (x + 10, y + 8), INK.stroke_width(2))?;
        write(area, "mean and interval", (x + 28, y), 13, INK, HPos::Left)?;
    }
    Ok(())
}

/// Bars over an axis of numbers.
fn histogram(estimated: &Estimated<'_>, edges: &[f64]) -> Result<String, Failure> {
    // Bins of different width are compared by area.
    let typical = (edges[edges.len() - 1] - edges[0]) / estimated.shares.len() as f64;
    let height = |bin: usize, share: f64| share * typical / (edges[bin + 1] - edges[bin]);
    let even = (0..estimated.shares.len()).all(|bin| (height(bin, 1.0) - 1.0).abs() < 1e-6);
    let tops = (0..estimated.shares.len()).map(|bin| {
        let prior = estimated.prior.map_or(0.0, |prior| prior[bin]);
        height(bin, estimated.shares[bin].share.high.max(prior))
    });
    let most = tops.fold(1e-9, f64::max);
    let bottom = HEAD + TALL;
    let across = Scale { least: edges[0], most: edges[edges.len() - 1], from: 76, to: WIDTH - 30 };
    let up = Scale { least: 0.0, most: 1.04 * most, from: bottom, to: HEAD };
    sheet((WIDTH as u32, (bottom + AXIS) as u32), |area| {
        heading(area, estimated, estimated.mean.is_some())?;
        for tick in up.ticks(6.0) {
            let y = up.at(tick);
            stroke(area, (across.from, y), (across.to, y), GRID.stroke_width(1))?;
            let text = format!("{} %", plain(100.0 * tick));
            write(area, &text, (across.from - 8, y), 13, INK, HPos::Right)?;
        }
        for tick in across.ticks(8.0) {
            let x = across.at(tick);
            stroke(area, (x, bottom), (x, bottom + 5), FAINT.stroke_width(1))?;
            write(area, &plain(tick), (x, bottom + 17), 13, INK, HPos::Center)?;
        }
        let what = if even { "share of each bin" } else { "share by width of bin" };
        let what = format!("{}: {what}", shortened(estimated.column, 60));
        let middle = (across.from + across.to) / 2;
        write(area, &what, (middle, bottom + 42), 14, INK, HPos::Center)?;
        for (bin, EstimatedShare { share, .. }) in estimated.shares.iter().enumerate() {
            let (left, right) = (across.at(edges[bin]), across.at(edges[bin + 1]));
            let (low, high) = (up.at(height(bin, share.low)), up.at(height(bin, share.high)));
            let gap = i32::from(right - left > 4);
            let band = [(left + gap, high), ((right - gap).max(left + gap + 1), low)];
            area.draw(&Rectangle::new(band, PALETTE[0].mix(0.3).filled())).map_err(broken)?;
            let y = up.at(height(bin, share.value));
            stroke(area, (left + gap, y), (right - gap, y), PALETTE[0].stroke_width(2))?;
        }
        if let Some(prior) = estimated.prior {
            let corners = |bin: usize| {
                let y = up.at(height(bin, prior[bin]));
                [(across.at(edges[bin]), y), (across.at(edges[bin + 1]), y)]
            };
            let steps: Vec<(i32, i32)> = (0..prior.len()).flat_map(corners).collect();
            area.draw(&PathElement::new(steps, PALETTE[1].stroke_width(2))).map_err(broken)?;
        }
        stroke(area, (across.from, bottom), (across.to, bottom), FAINT.stroke_width(1))?;
        if let Some(mean) = estimated.mean {
            let (low, high) = (across.at(mean.low), across.at(mean.high));
            let band = [(low, HEAD), (high.max(low + 1), bottom)];
            area.draw(&Rectangle::new(band, INK.mix(0.12).filled())).map_err(broken)?;
            let x = across.at(mean.value);
            stroke(area, (x, HEAD), (x, bottom), INK.stroke_width(2))?;
        }
        Ok(())
    })
}

/// One row for every symbol, the largest share first.
fn list(estimated: &Estimated<'_>) -> Result<String, Failure> {
    let mut order: Vec<usize> = (0..estimated.shares.len()).collect();
    if estimated.mean.is_none() || order.len() > SHOWN {
        let value = |x: usize| estimated.shares[x].share.value;
        order.sort_by(|&a, &b| value(b).total_cmp(&value(a)).then(a.cmp(&b)));
    }
    order.truncate(SHOWN);
    let longest =
        order.iter().map(|&x| estimated.shares[x].symbol.chars().count()).max().unwrap_or(1);
    let left = 30 + 8 * longest.clamp(6, 28) as i32;
    let high = |&x: &usize| {
        let prior = estimated.prior.map_or(0.0, |prior| prior[x]);
        estimated.shares[x].share.high.max(prior)
    };
    let low = |&x: &usize| estimated.shares[x].share.low.min(0.0);
    let scale = Scale {
        least: order.iter().map(low).fold(0.0, f64::min),
        most: 1.02 * order.iter().map(high).fold(1e-9, f64::max),
        from: left,
        to: WIDTH - 220,
    };
    let bottom = HEAD + ROW * order.len() as i32;
    sheet((WIDTH as u32, (bottom + AXIS) as u32), |area| {
        heading(area, estimated, false)?;
        for tick in scale.ticks(7.0) {
            let x = scale.at(tick);
            stroke(area, (x, HEAD), (x, bottom + 5), GRID.stroke_width(1))?;
            let text = format!("{} %", plain(100.0 * tick));
            write(area, &text, (x, bottom + 17), 13, INK, HPos::Center)?;
        }
        stroke(area, (scale.from, bottom), (scale.to, bottom), FAINT.stroke_width(1))?;
        let all = estimated.shares.len();
        let what = if order.len() < all {
            format!("share of each answer; the {} largest of {all}", order.len())
        } else {
            "share of each answer".into()
        };
        let middle = (scale.from + scale.to) / 2;
        write(area, &what, (middle, bottom + 42), 14, INK, HPos::Center)?;
        for (at, &x) in order.iter().enumerate() {
            let y = HEAD + ROW * at as i32 + ROW / 2;
            let EstimatedShare { share, symbol } = &estimated.shares[x];
            let label = shortened(symbol, 28);
            write(area, &label, (left - 10, y), 13, INK, HPos::Right)?;
            let (from, to) = (scale.at(share.low), scale.at(share.high));
            let band = [(from, y - 7), (to.max(from + 2), y + 7)];
            area.draw(&Rectangle::new(band, PALETTE[0].mix(0.3).filled())).map_err(broken)?;
            let middle = scale.at(share.value);
            stroke(area, (middle, y - 7), (middle, y + 7), PALETTE[0].stroke_width(3))?;
            if let Some(prior) = estimated.prior {
                let x = scale.at(prior[x]);
                stroke(area, (x, y - 9), (x, y + 9), PALETTE[1].stroke_width(2))?;
            }
            // The interval's ends are rounded outward.
            let text = format!(
                "{:.2} % ({:.2} to {:.2})",
                100.0 * share.value,
                (1e4 * share.low + 1e-9).floor() / 100.0,
                (1e4 * share.high - 1e-9).ceil() / 100.0
            );
            write(area, &text, (scale.to + 16, y), 13, INK, HPos::Left)?;
        }
        Ok(())
    })
}
