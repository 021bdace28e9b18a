//! Trade-off curves: utility against ε, and under it what is really leaked.

use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

use super::{Area, FAINT, GRID, INK, PALETTE, broken, plain, sheet, shortened, stroke, write};
use crate::failure::Failure;

const WIDTH: u32 = 960;
const TITLE: u32 = 44;
const UPPER: u32 = 400;
const LOWER: u32 = 300;
const LEGEND: i32 = 210;

/// One line of a plot. A value that is not finite is a gap.
pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) dashed: bool,
    /// (ε, value), by increasing ε.
    pub(crate) points: Vec<(f64, f64)>,
}

/// Two panels over one axis of ε. A name has the same colour in both.
pub(crate) struct Curves {
    pub(crate) title: String,
    /// What the upper panel shows.
    pub(crate) utility_label: String,
    pub(crate) utility: Vec<Series>,
    /// What the lower panel shows.
    pub(crate) leakage_label: String,
    pub(crate) leakage: Vec<Series>,
}

/// The curves as an SVG picture.
pub(crate) fn curves(curves: &Curves) -> Result<String, Failure> {
    let mut names: Vec<&str> = Vec::new();
    for series in curves.utility.iter().chain(&curves.leakage) {
        if !names.contains(&series.name.as_str()) {
            names.push(&series.name);
        }
    }
    let colour = |name: &str| {
        let at = names.iter().position(|candidate| *candidate == name).unwrap_or(0);
        PALETTE[at % PALETTE.len()]
    };
    let epsilons = range(curves.utility.iter().chain(&curves.leakage), |point| point.0);
    let Some(epsilons) = epsilons else {
        return Err(Failure::input("cannot draw the picture: there is no finite point to show"));
    };
    sheet((WIDTH, TITLE + UPPER + LOWER), |area| {
        write(area, &shortened(&curves.title, 105), (24, 26), 20, INK, HPos::Left)?;
        let (_, rest) = area.split_vertically(TITLE);
        let (upper, lower) = rest.split_vertically(UPPER);
        panel(&upper, &curves.utility_label, &curves.utility, epsilons, &colour, false)?;
        panel(&lower, &curves.leakage_label, &curves.leakage, epsilons, &colour, true)
    })
}

/// How a series appears.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Line {
    Solid,
    Dashed,
    /// It has no finite point.
    None,
}

/// The least and greatest finite coordinate.
fn range<'a>(
    series: impl Iterator<Item = &'a Series>,
    of: impl Fn(&(f64, f64)) -> f64,
) -> Option<(f64, f64)> {
    let points = series.flat_map(|series| &series.points);
    let finite = points.filter(|point| point.0.is_finite() && point.1.is_finite()).map(of);
    finite.fold(None, |seen, value| match seen {
        None => Some((value, value)),
        Some((low, high)) => Some((low.min(value), high.max(value))),
    })
}

/// A range with room around it, and never of width zero.
fn roomy((low, high): (f64, f64)) -> (f64, f64) {
    let room = if high > low { 0.05 * (high - low) } else { 0.05 * high.abs().max(0.1) };
    // An axis that begins near zero begins at zero.
    let low = if low >= 0.0 && low <= 0.35 * high { 0.0 } else { low - room };
    (low, high + room)
}

fn panel(
    area: &Area<'_>,
    label: &str,
    all: &[Series],
    epsilons: (f64, f64),
    colour: &dyn Fn(&str) -> RGBColor,
    promised: bool,
) -> Result<(), Failure> {
    let Some(values) = range(all.iter(), |point| point.1) else {
        return write(area, "nothing finite to show here", (90, 60), 14, FAINT, HPos::Left);
    };
    let values =
        roomy(if promised { (values.0.min(epsilons.0), values.1.max(epsilons.1)) } else { values });
    let width =
        if epsilons.1 > epsilons.0 { epsilons } else { (epsilons.0 - 0.1, epsilons.1 + 0.1) };
    let mut chart = ChartBuilder::on(area)
        .margin(10)
        .margin_right(LEGEND)
        .x_label_area_size(46)
        .y_label_area_size(70)
        .build_cartesian_2d(width.0..width.1, values.0..values.1)
        .map_err(broken)?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(GRID)
        .axis_style(FAINT)
        .x_desc("ε asked for, in nats")
        .y_desc(label)
        .x_labels(10)
        .y_labels(7)
        .x_label_formatter(&|value| plain(*value))
        .y_label_formatter(&|value| plain(*value))
        .label_style(("sans-serif", 13).into_font().color(&INK))
        .axis_desc_style(("sans-serif", 14).into_font().color(&INK))
        .draw()
        .map_err(broken)?;
    let mut legend: Vec<(String, RGBColor, Line)> = Vec::new();
    if promised {
        // What is promised is leaked: lines above this one break their promise.
        let ends = [width.0, width.1].map(|e| (e, e));
        chart
            .draw_series(DashedLineSeries::new(ends, 2, 4, FAINT.stroke_width(1)))
            .map_err(broken)?;
        legend.push(("as promised".into(), FAINT, Line::Dashed));
    }
    for (at, series) in all.iter().enumerate() {
        let ink = colour(&series.name);
        // The first is the widest, so that lines on top of each other can all be seen.
        let width = 4u32.saturating_sub(at as u32).max(2);
        let mut line = Line::None;
        for piece in series.points.split(|point| !(point.0.is_finite() && point.1.is_finite())) {
            let points = piece.iter().copied();
            match piece {
                [] => continue,
                [alone] => drop(
                    chart.draw_series([Circle::new(*alone, 3, ink.filled())]).map_err(broken)?,
                ),
                _ if series.dashed => drop(
                    chart
                        .draw_series(DashedLineSeries::new(points, 8, 5, ink.stroke_width(width)))
                        .map_err(broken)?,
                ),
                _ => drop(
                    chart
                        .draw_series(LineSeries::new(points, ink.stroke_width(width)))
                        .map_err(broken)?,
                ),
            }
            line = if series.dashed { Line::Dashed } else { Line::Solid };
        }
        legend.push((series.name.clone(), ink, line));
    }
    let left = WIDTH as i32 - LEGEND + 16;
    for (at, (name, ink, line)) in legend.iter().enumerate() {
        let y = 24 + 22 * at as i32;
        let (pieces, colour): (&[(i32, i32)], _) = match line {
            Line::Solid => (&[(0, 30)], INK),
            Line::Dashed => (&[(0, 8), (13, 21), (26, 30)], INK),
            Line::None => (&[], FAINT),
        };
        for (from, to) in pieces {
            stroke(area, (left + from, y), (left + to, y), ink.stroke_width(3))?;
        }
        let none = if *line == Line::None { ": none" } else { "" };
        write(
            area,
            &format!("{}{none}", shortened(name, 22)),
            (left + 38, y),
            13,
            colour,
            HPos::Left,
        )?;
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn series(name: &str, dashed: bool, of: impl Fn(f64) -> f64) -> Series {
        let points = (1..=50).map(|at| f64::from(at) / 10.0).map(|e| (e, of(e))).collect();
        Series { name: name.into(), dashed, points }
    }

    fn example() -> Curves {
        let lost = |scale: f64| move |e: f64| 0.4 / (1.0 + (scale * e).exp() / 4.0);
        Curves {
            title: "Zipf prior, 4 symbols, hamming".into(),
            utility_label: "expected loss".into(),
            utility: vec![
                series("optimal", false, lost(1.0)),
                series("published", true, |e| if e < 1.0 { f64::NAN } else { lost(0.8)(e) }),
                series("krr", false, lost(0.6)),
                series("sampling", false, |_| f64::NAN),
            ],
            leakage_label: "attained LIP, in nats".into(),
            leakage: vec![
                series("optimal", false, |e| e),
                series("published", true, |e| if e > 4.0 { f64::INFINITY } else { 1.6 * e }),
                series("krr", false, |e| 0.7 * e),
            ],
        }
    }

    #[test]
    fn every_series_is_drawn_named_and_coloured_alike_in_both_panels() {
        let svg = curves(&example()).unwrap();
        for text in [
            "optimal",
            "published",
            "krr",
            "as promised",
            "sampling: none",
            "expected loss",
            "attained LIP",
        ] {
            assert!(svg.contains(text), "{text}");
        }
        for colour in ["#0072B2", "#D55E00", "#009E73"] {
            assert!(svg.matches(colour).count() >= 4, "{colour}: line and legend in two panels");
        }
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "gaps are not drawn");
        if let Ok(folder) = std::env::var("UNDERTONE_PLOTS") {
            std::fs::write(std::path::Path::new(&folder).join("curves.svg"), svg).unwrap();
        }
    }

    #[test]
    fn odd_inputs_are_drawn_or_refused_but_never_break() {
        let mut flat = example();
        flat.utility = vec![Series { name: "one".into(), dashed: false, points: vec![(1.0, 0.5)] }];
        flat.leakage.clear();
        assert!(curves(&flat).unwrap().contains("nothing finite"));
        flat.utility[0].points = vec![(1.0, f64::NAN)];
        assert!(curves(&flat).is_err());
        flat.utility.clear();
        assert!(curves(&flat).is_err());
    }
}
