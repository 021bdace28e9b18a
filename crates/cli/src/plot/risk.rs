//! The risk picture: for every symbol, belief before as a mark and beliefs after as a bar.

use plotters::prelude::*;
use plotters::style::text_anchor::HPos;
use undertone_design::risk::{Belief, Beliefs};

use super::{
    Area, FAINT, GRID, INK, PALETTE, broken, plain, round_step, sheet, shortened, stroke, write,
};
use crate::failure::Failure;
use undertone::risk::percent;

/// The most symbols drawn for one subject.
const SHOWN: usize = 30;
const WIDTH: i32 = 960;
const ROW: i32 = 26;
const RIGHT: i32 = 210;
const HEAD: i32 = 128;
const PANEL_HEAD: i32 = 34;
const AXIS: i32 = 46;
/// Significant digits of a percentage: narrower than in the text.
const DIGITS: i32 = 3;

/// One subject of the picture.
pub(crate) struct Panel<'a> {
    /// Who is learnt about.
    pub(crate) title: String,
    pub(crate) beliefs: &'a Beliefs,
    pub(crate) label: Box<dyn Fn(usize) -> String + 'a>,
}

/// Where probabilities go on the sheet.
struct Scale {
    left: i32,
    right: i32,
    /// The exponent of the left end on a logarithmic axis; `None` is linear from zero.
    decades: Option<i32>,
    top: f64,
}

impl Scale {
    /// Linear unless some symbol is so rare that it would vanish.
    fn of(shown: &[(Vec<usize>, &Panel<'_>)], left: i32) -> Self {
        let beliefs =
            || shown.iter().flat_map(|(rows, panel)| rows.iter().map(|&x| &panel.beliefs.list[x]));
        let top = beliefs().map(|b| b.most.max(b.before_most)).fold(0.0, f64::max);
        let rarest = beliefs()
            .map(|b| b.before_least)
            .filter(|&p| p > 0.0)
            .fold(top.max(f64::MIN_POSITIVE), f64::min);
        let lowest = beliefs().map(|b| b.least).filter(|&p| p > 0.0).fold(rarest, f64::min);
        let right = WIDTH - RIGHT;
        if rarest >= top / 40.0 {
            let step = round_step(top.max(1e-9), 6.0);
            let top = ((top / step).ceil() * step).min(1.0);
            return Self { left, right, decades: None, top };
        }
        // A belief that can all but vanish must not push the others together.
        let bottom = lowest.max(rarest / 1e3).log10().floor().max(-12.0) as i32;
        Self {
            left,
            right,
            decades: Some(bottom),
            top: 10f64.powi(top.log10().ceil().min(0.0) as i32),
        }
    }

    fn at(&self, p: f64) -> i32 {
        let share = match self.decades {
            None => p / self.top,
            Some(bottom) => {
                let (bottom, top) = (f64::from(bottom), self.top.log10());
                if p > 0.0 { (p.log10() - bottom) / (top - bottom) } else { 0.0 }
            }
        };
        self.left + (share.clamp(0.0, 1.0) * f64::from(self.right - self.left)).round() as i32
    }

    fn ticks(&self) -> Vec<f64> {
        match self.decades {
            None => {
                let step = round_step(self.top, 6.0);
                (0..=12)
                    .map(|at| f64::from(at) * step)
                    .take_while(|t| *t <= self.top * 1.0001)
                    .collect()
            }
            Some(bottom) => {
                let top = self.top.log10().round() as i32;
                // Steps of 1, 2, 5 when there are few decades; not every decade when there are many.
                let steps: &[f64] = if top - bottom <= 3 { &[1.0, 2.0, 5.0] } else { &[1.0] };
                let stride = 1 + (top - bottom) / 8;
                let decades = (bottom..=top).rev().step_by(stride as usize);
                decades
                    .flat_map(|e| steps.iter().map(move |step| step * 10f64.powi(e)))
                    .filter(|tick| *tick <= self.top * 1.0001)
                    .collect()
            }
        }
    }
}

/// Draws the panels under each other with one axis; `lines` are the title and what is stated below it.
pub(crate) fn risk(lines: &[String], panels: &[Panel<'_>]) -> Result<String, Failure> {
    let shown: Vec<(Vec<usize>, &Panel<'_>)> =
        panels.iter().map(|panel| (panel.beliefs.worst(SHOWN), panel)).collect();
    let longest = shown
        .iter()
        .flat_map(|(rows, panel)| rows.iter().map(|&x| (panel.label)(x).chars().count()))
        .max()
        .unwrap_or(1);
    let left = 30 + 8 * longest.clamp(6, 28) as i32;
    let scale = Scale::of(&shown, left);
    let rows: i32 = shown.iter().map(|(rows, _)| PANEL_HEAD + ROW * rows.len() as i32).sum();
    let height = HEAD + rows + AXIS + 24;
    sheet((WIDTH as u32, height as u32), |area| {
        heading(area, lines)?;
        let bottom = HEAD + rows;
        axis(area, &scale, bottom)?;
        let mut y = HEAD;
        for (rows, panel) in &shown {
            panel_title(area, panel, rows.len(), y)?;
            y += PANEL_HEAD;
            for tick in scale.ticks() {
                let (x, end) = (scale.at(tick), y + ROW * rows.len() as i32);
                stroke(area, (x, y), (x, end), GRID.stroke_width(1))?;
            }
            for &x in rows {
                let label = shortened(&(panel.label)(x), 28);
                row(area, &scale, y + ROW / 2, &label, &panel.beliefs.list[x])?;
                y += ROW;
            }
        }
        Ok(())
    })
}

fn heading(area: &Area<'_>, lines: &[String]) -> Result<(), Failure> {
    for (at, line) in lines.iter().take(3).enumerate() {
        let (size, colour) = if at == 0 { (20, INK) } else { (14, FAINT) };
        let y = if at == 0 { 26 } else { 30 + 22 * at as i32 };
        write(area, &shortened(line, 125), (24, y), size, colour, HPos::Left)?;
    }
    // The legend: the mark and the bar, explained once.
    let y = 102;
    mark(area, (32, 32), y)?;
    write(area, "belief before", (44, y), 13, INK, HPos::Left)?;
    area.draw(&Rectangle::new([(160, y - 6), (196, y + 6)], PALETTE[0].mix(0.35).filled()))
        .map_err(broken)?;
    write(
        area,
        "belief after one answer, from the least to the most possible",
        (204, y),
        13,
        INK,
        HPos::Left,
    )?;
    write(area, "before → after", (WIDTH - RIGHT + 16, y), 13, FAINT, HPos::Left)
}

fn panel_title(area: &Area<'_>, panel: &Panel<'_>, shown: usize, y: i32) -> Result<(), Failure> {
    let all = panel.beliefs.list.len();
    let cut = if shown < all {
        format!(", the {shown} of {all} symbols an observer learns most about")
    } else {
        String::new()
    };
    let bound = if panel.beliefs.attained { "" } else { " (bounds)" };
    let text = format!("{}{cut}{bound}", panel.title);
    write(area, &text, (24, y + PANEL_HEAD / 2 + 2), 15, INK, HPos::Left)
}

fn axis(area: &Area<'_>, scale: &Scale, bottom: i32) -> Result<(), Failure> {
    for tick in scale.ticks() {
        let x = scale.at(tick);
        stroke(area, (x, bottom), (x, bottom + 5), FAINT.stroke_width(1))?;
        write(
            area,
            &format!("{} %", tick_text(100.0 * tick)),
            (x, bottom + 16),
            13,
            INK,
            HPos::Center,
        )?;
    }
    stroke(area, (scale.left, bottom), (scale.right, bottom), FAINT.stroke_width(1))?;
    let kind = if scale.decades.is_some() { "belief (logarithmic)" } else { "belief" };
    let middle = (scale.left + scale.right) / 2;
    write(area, kind, (middle, bottom + 38), 14, INK, HPos::Center)
}

fn row(
    area: &Area<'_>,
    scale: &Scale,
    y: i32,
    label: &str,
    belief: &Belief,
) -> Result<(), Failure> {
    write(area, label, (scale.left - 10, y), 13, INK, HPos::Right)?;
    let (from, to) = (scale.at(belief.least), scale.at(belief.most));
    // A range too narrow to see is still drawn.
    let to = to.max(from + 2);
    let bar = Rectangle::new([(from, y - 7), (to, y + 7)], PALETTE[0].mix(0.35).filled());
    area.draw(&bar).map_err(broken)?;
    for end in [from, to] {
        stroke(area, (end, y - 7), (end, y + 7), PALETTE[0].stroke_width(2))?;
    }
    mark(area, (scale.at(belief.before_least), scale.at(belief.before_most)), y)?;
    let range = |from, to| {
        format!("{}–{}", percent(from, DIGITS, f64::round), percent(to, DIGITS, f64::round))
    };
    let before = match belief.before() {
        Some(before) => percent(before, DIGITS, f64::round),
        None => range(belief.before_least, belief.before_most),
    };
    let after = range(belief.least, belief.most);
    let text = format!("{before} → {after} %");
    write(area, &text, (scale.right + 16, y), 13, INK, HPos::Left)
}

/// Belief before: a dot, or a line with dots at its ends where it is only known to lie between.
fn mark(area: &Area<'_>, (from, to): (i32, i32), y: i32) -> Result<(), Failure> {
    stroke(area, (from, y), (to, y), PALETTE[1].stroke_width(3))?;
    for x in [from, to] {
        area.draw(&Circle::new((x, y), 5, PALETTE[1].filled())).map_err(broken)?;
    }
    Ok(())
}

fn tick_text(percent: f64) -> String {
    if percent >= 1e-6 || percent == 0.0 { plain(percent) } else { format!("{percent:.0e}") }
}
