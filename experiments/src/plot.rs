//! Plots as SVG: panels side by side, each with its legend below, colours that people with colour
//! blindness can tell apart. A printed formula that misses its claim is dashed, and its name says what
//! it truly leaks. A page takes the panels one by one and writes the legends itself, so that they stay
//! readable at any width.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::markdown::{by_title, escape};

/// Okabe and Ito's palette, without the yellow that vanishes on white.
const PALETTE: [RGBColor; 10] = [
    RGBColor(0x00, 0x72, 0xb2),
    RGBColor(0xd5, 0x5e, 0x00),
    RGBColor(0x00, 0x9e, 0x73),
    RGBColor(0xcc, 0x79, 0xa7),
    RGBColor(0xe6, 0x9f, 0x00),
    RGBColor(0x56, 0xb4, 0xe9),
    RGBColor(0x00, 0x00, 0x00),
    // More, from Tol's muted set.
    RGBColor(0x88, 0x22, 0x55),
    RGBColor(0x99, 0x99, 0x33),
    RGBColor(0x33, 0x22, 0x88),
];
const INK: RGBColor = RGBColor(0x22, 0x22, 0x22);
const FAINT: RGBColor = RGBColor(0x66, 0x66, 0x66);
const GRID: RGBColor = RGBColor(0xe2, 0xe2, 0xe2);

const PANEL_WIDTH: u32 = 480;
const CHART_HEIGHT: u32 = 340;
const TITLE_HEIGHT: u32 = 40;
const PANEL_TITLE: u32 = 26;
const LEGEND_LINE: u32 = 19;
/// About how many characters of 12 points fit beside the legend's stroke.
const LEGEND_CHARACTERS: usize = 66;

type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;

/// How a series is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stroke {
    /// A line.
    Solid,
    /// A dashed line: a printed formula that misses its claim.
    Dashed,
    /// A thin dotted line: a reference, such as "as promised".
    Dotted,
    /// Points without a line.
    Points,
}

/// One line or cloud of points. A value that is not finite is a gap.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// For the legend.
    pub name: String,
    /// How it is drawn.
    pub stroke: Stroke,
    /// Which colour; series that share a number share the colour. `None` takes the next one.
    pub colour: Option<usize>,
    /// (x, y).
    pub points: Vec<(f64, f64)>,
    /// Upright strokes (x, low, high), such as intervals; not in the legend.
    pub bars: Vec<(f64, f64, f64)>,
}

impl Series {
    /// A solid line.
    pub fn solid(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Self { name: name.into(), stroke: Stroke::Solid, colour: None, points, bars: Vec::new() }
    }

    /// A printed formula that misses its claim: dashed, its name followed by what it truly leaks.
    pub fn missing_its_claim(
        name: impl std::fmt::Display,
        leaks: impl std::fmt::Display,
        points: Vec<(f64, f64)>,
    ) -> Self {
        let name = format!("{name}; leaks {leaks}");
        Self { name, stroke: Stroke::Dashed, colour: None, points, bars: Vec::new() }
    }

    /// A thin dotted reference line.
    pub fn reference(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Self {
            name: name.into(),
            stroke: Stroke::Dotted,
            colour: Some(6),
            points,
            bars: Vec::new(),
        }
    }

    /// Points.
    pub fn points(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Self { name: name.into(), stroke: Stroke::Points, colour: None, points, bars: Vec::new() }
    }

    /// With upright strokes (x, low, high) in the same colour.
    pub fn with_bars(mut self, bars: Vec<(f64, f64, f64)>) -> Self {
        self.bars = bars;
        self
    }

    /// This series in a colour of one's choice.
    pub fn coloured(mut self, colour: usize) -> Self {
        self.colour = Some(colour);
        self
    }
}

/// One chart.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Panel {
    /// `(a) uniform prior`.
    pub title: String,
    /// With its unit.
    pub x_label: String,
    /// With its unit.
    pub y_label: String,
    /// A logarithmic x axis; points at or below zero are gaps.
    pub log_x: bool,
    /// A logarithmic y axis; points at or below zero are gaps.
    pub log_y: bool,
    /// The lines.
    pub series: Vec<Series>,
}

/// Panels under one title, at most three to a row.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Picture {
    /// Above everything.
    pub title: String,
    /// From left to right, top to bottom.
    pub panels: Vec<Panel>,
}

/// One chart as SVG, without its title and its legend.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chart {
    /// The panel's title.
    pub title: String,
    /// The chart.
    pub svg: String,
    /// What its lines are, in the order they were drawn.
    pub legend: Vec<Key>,
}

/// A line of a legend.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Key {
    /// What it is.
    pub name: String,
    /// How it is drawn.
    pub stroke: Stroke,
    /// `#RRGGBB`.
    pub colour: String,
}

/// An SVG that says what it shows to those who cannot see it.
pub fn titled(svg: &str, title: &str) -> String {
    let title = escape(&by_title(title));
    match svg.split_once("<svg ") {
        Some((before, rest)) => match rest.split_once('>') {
            Some((attributes, body)) => {
                format!("{before}<svg role=\"img\" {attributes}>\n<title>{title}</title>{body}")
            }
            None => svg.to_owned(),
        },
        None => svg.to_owned(),
    }
}

impl Picture {
    /// The panels one by one.
    pub fn charts(&self) -> Result<Vec<Chart>, Error> {
        let chart = |panel: &Panel| {
            let mut svg = String::new();
            {
                let area = SVGBackend::with_string(&mut svg, (PANEL_WIDTH, CHART_HEIGHT));
                let area = area.into_drawing_area();
                panel.chart(&area)?;
                area.present().map_err(broken)?;
            }
            let name = |ink: RGBColor| format!("#{:02X}{:02X}{:02X}", ink.0, ink.1, ink.2);
            let key = |(series, ink): (&Series, RGBColor)| Key {
                name: series.name.clone(),
                stroke: series.stroke,
                colour: name(ink),
            };
            let legend = panel.series.iter().zip(panel.inks()).map(key).collect();
            let svg = titled(&svg, &format!("{}: {}", self.title, panel.title));
            Ok(Chart { title: panel.title.clone(), svg, legend })
        };
        self.panels.iter().map(chart).collect()
    }

    /// The picture as SVG.
    pub fn svg(&self) -> Result<String, Error> {
        let across = self.panels.len().clamp(1, if self.panels.len() == 4 { 2 } else { 3 });
        let heights: Vec<u32> = self
            .panels
            .chunks(across)
            .map(|row| {
                let lines = row.iter().map(legend_lines).max().unwrap_or(0) as u32;
                PANEL_TITLE + CHART_HEIGHT + LEGEND_LINE * lines + 16
            })
            .collect();
        let size = (PANEL_WIDTH * across as u32, TITLE_HEIGHT + heights.iter().sum::<u32>());
        let mut svg = String::new();
        {
            let area = SVGBackend::with_string(&mut svg, size).into_drawing_area();
            area.fill(&WHITE).map_err(broken)?;
            let most = across * 56;
            write(&area, &shortened(&self.title, most), (16, 22), 17, INK, HPos::Left)?;
            let mut rest = area.split_vertically(TITLE_HEIGHT).1;
            for (row, height) in self.panels.chunks(across).zip(heights) {
                let (mut strip, below) = rest.split_vertically(height);
                rest = below;
                for panel in row {
                    let (own, right) = strip.split_horizontally(PANEL_WIDTH);
                    strip = right;
                    panel.draw(&own)?;
                }
            }
            area.present().map_err(broken)?;
        }
        Ok(titled(&svg, &self.title))
    }
}

/// A legend's text, cut into lines that fit.
fn wrapped(text: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let length = lines.last().map_or(0, |line| line.chars().count());
        if length > 0 && length + 1 + word.chars().count() > LEGEND_CHARACTERS {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines
}

fn legend_lines(panel: &Panel) -> usize {
    panel.series.iter().map(|series| wrapped(&series.name).len()).sum()
}

impl Panel {
    /// A point as drawn, or nothing for a gap.
    fn place(&self, point: (f64, f64)) -> Option<(f64, f64)> {
        let axis = |value: f64, log: bool| if log { value.log10() } else { value };
        let (x, y) = (axis(point.0, self.log_x), axis(point.1, self.log_y));
        (x.is_finite() && y.is_finite()).then_some((x, y))
    }

    fn range(&self, of: impl Fn((f64, f64)) -> f64, log: bool) -> Option<(f64, f64)> {
        let points = self.series.iter().flat_map(|series| series.points.iter().copied());
        let ends = self.series.iter().flat_map(|series| &series.bars);
        let ends = ends.flat_map(|(x, low, high)| [(*x, *low), (*x, *high)]);
        let mut placed = points.chain(ends).filter_map(|point| self.place(point)).map(of);
        let first = placed.next()?;
        let (low, high) = placed.fold((first, first), |(l, h), v| (l.min(v), h.max(v)));
        let room = if high > low { 0.04 * (high - low) } else { 0.05 * high.abs().max(0.1) };
        let near_zero = !log && low >= 0.0 && low <= 0.35 * high;
        Some((if near_zero { 0.0 } else { low - room }, high + room))
    }

    /// The colour of each series.
    fn inks(&self) -> Vec<RGBColor> {
        let mut next = 0;
        let mut colour = |series: &Series| {
            let given = series.colour.unwrap_or_else(|| {
                next += 1;
                next - 1
            });
            PALETTE[given % PALETTE.len()]
        };
        self.series.iter().map(&mut colour).collect()
    }

    /// Title, chart and legend.
    fn draw(&self, area: &Area<'_>) -> Result<(), Error> {
        write(area, &shortened(&self.title, 62), (64, 12), 14, INK, HPos::Left)?;
        let below = area.split_vertically(PANEL_TITLE).1;
        let (body, legend) = below.split_vertically(CHART_HEIGHT);
        self.chart(&body)?;
        let mut y = 8;
        for (series, ink) in self.series.iter().zip(self.inks()) {
            key(&legend, y, series.stroke, ink)?;
            for line in wrapped(&series.name) {
                write(&legend, &line, (78, y), 12, INK, HPos::Left)?;
                y += LEGEND_LINE as i32;
            }
        }
        Ok(())
    }

    /// The chart alone.
    fn chart(&self, body: &Area<'_>) -> Result<(), Error> {
        let ranges = self.range(|p| p.0, self.log_x).zip(self.range(|p| p.1, self.log_y));
        let Some(((left, right), (bottom, top))) = ranges else {
            return write(body, "nothing finite to show here", (90, 60), 14, FAINT, HPos::Left);
        };
        let mut chart = ChartBuilder::on(body)
            .margin(6)
            .margin_right(18)
            .x_label_area_size(52)
            .y_label_area_size(80)
            .build_cartesian_2d(left..right, bottom..top)
            .map_err(broken)?;
        let label = |log: bool| move |value: &f64| if log { power(*value) } else { plain(*value) };
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(GRID)
            .axis_style(FAINT)
            .x_desc(self.x_label.clone())
            .y_desc(self.y_label.clone())
            .x_labels(if self.log_x { decades(left, right) } else { 7 })
            .y_labels(if self.log_y { decades(bottom, top) } else { 7 })
            .x_label_formatter(&label(self.log_x))
            .y_label_formatter(&label(self.log_y))
            .label_style(("sans-serif", 18).into_font().color(&INK))
            .axis_desc_style(("sans-serif", 18).into_font().color(&INK))
            .draw()
            .map_err(broken)?;
        for (series, ink) in self.series.iter().zip(self.inks()) {
            let placed: Vec<_> = series.points.iter().map(|point| self.place(*point)).collect();
            for (x, low, high) in &series.bars {
                let ends = self.place((*x, *low)).zip(self.place((*x, *high)));
                if let Some((low, high)) = ends {
                    let stroke = PathElement::new(vec![low, high], ink.stroke_width(1));
                    chart.draw_series([stroke]).map_err(broken)?;
                }
            }
            // A series of one point is a thing to be found, not part of a cloud.
            let size = if series.points.len() == 1 { 5 } else { 2 };
            for piece in placed.split(|point| point.is_none()) {
                let points = piece.iter().flatten().copied();
                match (series.stroke, piece) {
                    (_, []) => {}
                    (Stroke::Points, _) | (_, [_]) => drop(
                        chart
                            .draw_series(points.map(|point| Circle::new(point, size, ink.filled())))
                            .map_err(broken)?,
                    ),
                    (Stroke::Dashed, _) => drop(
                        chart
                            .draw_series(DashedLineSeries::new(points, 8, 5, ink.stroke_width(2)))
                            .map_err(broken)?,
                    ),
                    (Stroke::Dotted, _) => drop(
                        chart
                            .draw_series(DashedLineSeries::new(points, 2, 4, ink.stroke_width(1)))
                            .map_err(broken)?,
                    ),
                    (Stroke::Solid, _) => drop(
                        chart
                            .draw_series(LineSeries::new(points, ink.stroke_width(2)))
                            .map_err(broken)?,
                    ),
                }
            }
        }
        Ok(())
    }
}

/// How many labels put a logarithmic axis's marks on powers of ten.
fn decades(low: f64, high: f64) -> usize {
    ((high.floor() - low.ceil()).max(0.0) as usize + 1).clamp(2, 10)
}

/// The stroke beside a legend's text.
fn key(area: &Area<'_>, y: i32, stroke: Stroke, ink: RGBColor) -> Result<(), Error> {
    let (pieces, width): (&[(i32, i32)], u32) = match stroke {
        Stroke::Solid => (&[(0, 28)], 3),
        Stroke::Dashed => (&[(0, 8), (12, 20), (24, 28)], 3),
        Stroke::Dotted => (&[(0, 3), (7, 10), (14, 17), (21, 24)], 1),
        Stroke::Points => {
            return area.draw(&Circle::new((54, y), 3, ink.filled())).map_err(broken);
        }
    };
    for (from, to) in pieces {
        let ends = vec![(42 + from, y), (42 + to, y)];
        area.draw(&PathElement::new(ends, ink.stroke_width(width))).map_err(broken)?;
    }
    Ok(())
}

fn write(
    area: &Area<'_>,
    text: &str,
    at: (i32, i32),
    size: i32,
    colour: RGBColor,
    side: HPos,
) -> Result<(), Error> {
    let style = ("sans-serif", size).into_font().color(&colour).pos(Pos::new(side, VPos::Center));
    area.draw(&Text::new(text.to_owned(), at, style)).map_err(broken)
}

fn broken(error: impl std::fmt::Display) -> Error {
    Error::other(format!("cannot draw the picture: {error}"))
}

fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}

/// A number without trailing zeros; large and tiny ones with an exponent.
fn plain(value: f64) -> String {
    if value != 0.0 && (value.abs() >= 1e6 || value.abs() < 1e-4) {
        // A tick that should be zero is off by rounding only.
        return if value.abs() < 1e-12 { "0".into() } else { format!("{value:.0e}") };
    }
    let text = format!("{value:.5}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".into() } else { text.into() }
}

/// The number whose decimal logarithm this is, two digits.
fn power(logarithm: f64) -> String {
    let value = 10f64.powf(logarithm);
    if (1e-3..1e5).contains(&value) {
        return crate::claim::short((value * 1e6).round() / 1e6);
    }
    format!("{value:.1e}").replace(".0e", "e")
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn panel() -> Panel {
        let line = |scale: f64| (1..=20).map(|i| (f64::from(i), scale / f64::from(i))).collect();
        Panel {
            title: "(a) a panel".into(),
            x_label: "ε, in nats".into(),
            y_label: "error".into(),
            series: vec![
                Series::solid("certified", line(1.0)),
                Series::missing_its_claim("printed (19)", "1.9 where it claims 1", line(0.5)),
                Series::reference("as promised", vec![(1.0, 0.0), (20.0, 1.0)]),
                Series::points("gap", vec![(1.0, f64::NAN), (f64::INFINITY, 2.0)]),
            ],
            ..Panel::default()
        }
    }

    #[test]
    fn every_series_is_named_and_gaps_are_not_drawn() {
        let mut log = panel();
        (log.log_y, log.log_x) = (true, true);
        let picture = Picture { title: "Figure".into(), panels: vec![panel(), log] };
        let svg = picture.svg().unwrap();
        for text in ["Figure", "(a) a panel", "printed (19); leaks 1.9 where it claims 1", "gap"] {
            assert_eq!(svg.matches(text).count(), 2, "{text}");
        }
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
        let charts = picture.charts().unwrap();
        let keys: Vec<_> = charts[1].legend.iter().map(|key| key.colour.as_str()).collect();
        assert_eq!(keys, ["#0072B2", "#D55E00", "#000000", "#009E73"]);
        for chart in &charts {
            assert!(chart.svg.contains("<title>Figure: (a) a panel</title>"));
            assert!(chart.svg.contains("role=\"img\"") && !chart.svg.contains("certified"));
            assert!(chart.svg.contains("stroke=\"#0072B2\""), "{}", chart.svg);
        }
    }

    #[test]
    fn an_empty_panel_says_so() {
        let picture = Picture { title: "t".into(), panels: vec![Panel::default()] };
        assert!(picture.svg().unwrap().contains("nothing finite"));
        assert!(Picture::default().svg().is_ok());
    }

    #[test]
    fn long_names_are_wrapped() {
        let lines = wrapped(&"word ".repeat(40));
        assert!(lines.len() > 2 && lines.iter().all(|l| l.chars().count() <= LEGEND_CHARACTERS));
    }
}
