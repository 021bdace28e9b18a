//! What numbers of people reach: power, or a half-width.

use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

use super::{FAINT, GRID, INK, PALETTE, plain, round_step, sheet, shortened, stroke, write};
use crate::failure::Failure;

const WIDTH: i32 = 960;
const HEIGHT: i32 = 460;
const LEFT: i32 = 90;
const RIGHT: i32 = WIDTH - 40;
const TOP: i32 = 60;
const BOTTOM: i32 = HEIGHT - 70;

/// What is drawn.
pub(crate) struct SizePlot {
    pub(crate) title: String,
    /// What the upright axis shows.
    pub(crate) reached: String,
    /// Number of people and what it reaches, by increasing number.
    pub(crate) points: Vec<(f64, f64)>,
    /// The number of people that is needed.
    pub(crate) needed: f64,
}

/// The curve as an SVG picture.
pub(crate) fn size(plot: &SizePlot) -> Result<String, Failure> {
    let most = |of: fn(&(f64, f64)) -> f64| plot.points.iter().map(of).fold(0.0, f64::max);
    let (people, reached) = (most(|point| point.0), most(|point| point.1));
    if !(people > 0.0 && reached > 0.0) {
        return Err(Failure::input("cannot draw the picture: there is no point above 0 to show"));
    }
    let across = |n: f64| LEFT + (n / people * f64::from(RIGHT - LEFT)).round() as i32;
    let up = |value: f64| BOTTOM - (value / reached * f64::from(BOTTOM - TOP)).round() as i32;
    sheet((WIDTH as u32, HEIGHT as u32), |area| {
        write(area, &shortened(&plot.title, 105), (24, 26), 20, INK, HPos::Left)?;
        let step = round_step(people, 8.0);
        for tick in 0..=(people / step).floor() as i32 {
            let n = f64::from(tick) * step;
            stroke(area, (across(n), TOP), (across(n), BOTTOM), GRID.stroke_width(1))?;
            write(area, &plain(n), (across(n), BOTTOM + 16), 13, INK, HPos::Center)?;
        }
        let step = round_step(reached, 6.0);
        for tick in 0..=(reached / step).floor() as i32 {
            let value = f64::from(tick) * step;
            stroke(area, (LEFT, up(value)), (RIGHT, up(value)), GRID.stroke_width(1))?;
            write(area, &plain(value), (LEFT - 10, up(value)), 13, INK, HPos::Right)?;
        }
        let needed = across(plot.needed);
        stroke(area, (needed, TOP), (needed, BOTTOM), FAINT.stroke_width(2))?;
        let label = format!("{} people", plain(plot.needed));
        write(area, &label, (needed + 8, TOP + 10), 13, FAINT, HPos::Left)?;
        for pair in plot.points.windows(2) {
            let place = |point: (f64, f64)| (across(point.0), up(point.1));
            stroke(area, place(pair[0]), place(pair[1]), PALETTE[0].stroke_width(3))?;
        }
        write(area, "people", ((LEFT + RIGHT) / 2, BOTTOM + 46), 14, INK, HPos::Center)?;
        write(area, &plot.reached, (LEFT, TOP - 12), 14, INK, HPos::Left)
    })
}
