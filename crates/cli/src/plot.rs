//! Pictures, as SVG: light background, colours that people with colour blindness can tell apart.

mod curve;
mod density;
mod dots;
mod estimate;
mod intervals;
mod risk;
mod scale;
mod size;
mod tradeoff;

pub(crate) use curve::{Curves, Series, curves};
pub(crate) use density::{DensityPlot, density};
pub(crate) use dots::{DotPlot, Dots, dots};
pub(crate) use estimate::{Estimated, estimate};
pub(crate) use intervals::{IntervalPlot, IntervalRow, intervals};
pub(crate) use risk::{Panel, risk};
pub(crate) use size::{SizePlot, size};
pub(crate) use tradeoff::{Tradeoff, tradeoff};

use std::path::Path;

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::failure::Failure;

/// Okabe and Ito's palette, without the yellow that vanishes on white.
const PALETTE: [RGBColor; 7] = [
    RGBColor(0x00, 0x72, 0xb2),
    RGBColor(0xd5, 0x5e, 0x00),
    RGBColor(0x00, 0x9e, 0x73),
    RGBColor(0xcc, 0x79, 0xa7),
    RGBColor(0xe6, 0x9f, 0x00),
    RGBColor(0x56, 0xb4, 0xe9),
    RGBColor(0x00, 0x00, 0x00),
];
const INK: RGBColor = RGBColor(0x22, 0x22, 0x22);
const FAINT: RGBColor = RGBColor(0x66, 0x66, 0x66);
const GRID: RGBColor = RGBColor(0xe2, 0xe2, 0xe2);

type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;

/// Draws on a white sheet and returns the SVG.
fn sheet(
    size: (u32, u32),
    draw: impl FnOnce(&Area<'_>) -> Result<(), Failure>,
) -> Result<String, Failure> {
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        area.fill(&WHITE).map_err(broken)?;
        draw(&area)?;
        area.present().map_err(broken)?;
    }
    Ok(svg)
}

/// Writes a picture to a file.
pub(crate) fn save(path: &Path, svg: &str) -> Result<(), Failure> {
    crate::output::save(path, svg)
}

fn broken(error: impl std::fmt::Display) -> Failure {
    Failure::input(format!("cannot draw the picture: {error}"))
}

fn write(
    area: &Area<'_>,
    text: &str,
    at: (i32, i32),
    size: i32,
    colour: RGBColor,
    side: HPos,
) -> Result<(), Failure> {
    let style = ("sans-serif", size).into_font().color(&colour).pos(Pos::new(side, VPos::Center));
    area.draw(&Text::new(text.to_owned(), at, style)).map_err(broken)
}

fn stroke(
    area: &Area<'_>,
    from: (i32, i32),
    to: (i32, i32),
    style: ShapeStyle,
) -> Result<(), Failure> {
    area.draw(&PathElement::new(vec![from, to], style)).map_err(broken)
}

/// A text cut to a number of characters.
fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}

/// Round steps that divide `span` into about `count` parts: 1, 2 or 5 times a power of ten.
fn round_step(span: f64, count: f64) -> f64 {
    let rough = span / count;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().find(|m| m * power >= rough * 0.999);
    step.unwrap_or(10.0) * power
}

/// A number without trailing zeros.
fn plain(value: f64) -> String {
    let text = format!("{value:.6}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".into() } else { text.into() }
}
