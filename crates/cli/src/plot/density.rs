//! A column of numbers: the data in bins, the fitted law, and the prior that ships.

use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

use super::{FAINT, GRID, INK, PALETTE, broken, plain, sheet, shortened, stroke, write};
use crate::failure::Failure;

const SIZE: (u32, u32) = (960, 480);
const TITLE: u32 = 64;
const LEGEND: i32 = 190;

/// Shares of bins, and curves over them.
pub(crate) struct DensityPlot {
    pub(crate) title: String,
    /// What a reader must not overlook; may be empty.
    pub(crate) note: String,
    /// What the numbers are.
    pub(crate) label: String,
    /// One more than there are bins.
    pub(crate) edges: Vec<f64>,
    /// The share of the data in each bin.
    pub(crate) data: Vec<f64>,
    /// The prior's probability of each bin.
    pub(crate) prior: Vec<f64>,
    /// The fitted law, as a share of one bin.
    pub(crate) law: Option<Vec<(f64, f64)>>,
    /// What it is made of.
    pub(crate) parts: Vec<Vec<(f64, f64)>>,
}

/// The picture as SVG.
pub(crate) fn density(plot: &DensityPlot) -> Result<String, Failure> {
    let (Some(&low), Some(&high)) = (plot.edges.first(), plot.edges.last()) else {
        return Err(Failure::input("cannot draw the picture: there are no bins"));
    };
    let curves = plot.law.iter().chain(&plot.parts).flatten().map(|point| point.1);
    let top = curves.chain(plot.data.iter().chain(&plot.prior).copied());
    let top = top.filter(|value| value.is_finite()).fold(0.0, f64::max);
    if !(low < high && top > 0.0) {
        return Err(Failure::input("cannot draw the picture: there is nothing finite to show"));
    }
    sheet(SIZE, |area| {
        write(area, &shortened(&plot.title, 105), (24, 24), 20, INK, HPos::Left)?;
        write(area, &plot.note, (24, 48), 13, FAINT, HPos::Left)?;
        let (_, below) = area.split_vertically(TITLE);
        let mut chart = ChartBuilder::on(&below)
            .margin(10)
            .margin_right(LEGEND)
            .x_label_area_size(46)
            .y_label_area_size(70)
            .build_cartesian_2d(low..high, 0.0..1.06 * top)
            .map_err(broken)?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(GRID)
            .axis_style(FAINT)
            .x_desc(shortened(&plot.label, 60))
            .y_desc("share of a bin, %")
            .x_labels(9)
            .y_labels(6)
            .x_label_formatter(&|value| plain(*value))
            .y_label_formatter(&|value| plain(100.0 * *value))
            .label_style(("sans-serif", 13).into_font().color(&INK))
            .axis_desc_style(("sans-serif", 14).into_font().color(&INK))
            .draw()
            .map_err(broken)?;
        let bars = PALETTE[5].mix(0.45);
        let boxes = plot.edges.windows(2).zip(&plot.data).map(|(edge, &share)| {
            Rectangle::new([(edge[0], 0.0), (edge[1], share)], bars.filled())
        });
        chart.draw_series(boxes).map_err(broken)?;
        // The prior as steps: what the bins are in the end.
        let steps = plot
            .edges
            .windows(2)
            .zip(&plot.prior)
            .flat_map(|(edge, &p)| [(edge[0], p), (edge[1], p)]);
        chart.draw_series(LineSeries::new(steps, INK.stroke_width(1))).map_err(broken)?;
        for part in &plot.parts {
            let points = part.iter().copied();
            chart
                .draw_series(DashedLineSeries::new(points, 6, 4, PALETTE[2].stroke_width(2)))
                .map_err(broken)?;
        }
        if let Some(law) = &plot.law {
            let line = LineSeries::new(law.iter().copied(), PALETTE[1].stroke_width(3));
            chart.draw_series(line).map_err(broken)?;
        }
        let mut legend = vec![
            ("data", bars.to_rgba().stroke_width(10)),
            ("prior of the bins", INK.stroke_width(1)),
        ];
        if plot.law.is_some() {
            legend.push(("fitted law", PALETTE[1].stroke_width(3)));
        }
        if !plot.parts.is_empty() {
            legend.push(("its parts", PALETTE[2].stroke_width(2)));
        }
        let left = SIZE.0 as i32 - LEGEND + 16;
        for (at, (name, style)) in legend.into_iter().enumerate() {
            let y = 24 + 22 * at as i32;
            stroke(&below, (left, y), (left + 30, y), style)?;
            write(&below, name, (left + 38, y), 13, INK, HPos::Left)?;
        }
        Ok(())
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn example() -> DensityPlot {
        let edges: Vec<f64> = (0..=20).map(f64::from).collect();
        let bell = |y: f64| 0.2 * (-(y - 8.0) * (y - 8.0) / 18.0).exp();
        let data: Vec<f64> = edges[..20].iter().map(|e| bell(e + 0.5)).collect();
        let curve: Vec<(f64, f64)> =
            (0..=200).map(|i| f64::from(i) / 10.0).map(|y| (y, bell(y))).collect();
        DensityPlot {
            title: "pay: 100 observations in 20 bins".into(),
            note: "3 of them lie outside the range".into(),
            label: "pay".into(),
            edges,
            prior: data.clone(),
            data,
            law: Some(curve.clone()),
            parts: vec![curve.clone(), curve],
        }
    }

    #[test]
    fn data_law_and_bins_are_drawn_and_named() {
        let svg = density(&example()).unwrap();
        for text in [
            "pay: 100",
            "outside the range",
            "data",
            "prior of the bins",
            "fitted law",
            "its parts",
        ] {
            assert!(svg.contains(text), "{text}");
        }
        assert!(svg.matches("<rect").count() >= 20 && !svg.contains("NaN"));
        if let Ok(folder) = std::env::var("UNDERTONE_PLOTS") {
            std::fs::write(std::path::Path::new(&folder).join("density.svg"), svg).unwrap();
        }
    }

    #[test]
    fn nothing_to_show_is_said_in_words() {
        let mut plot = example();
        (plot.law, plot.parts) = (None, Vec::new());
        assert!(!density(&plot).unwrap().contains("fitted law"));
        (plot.data, plot.prior) = (vec![0.0; 20], vec![f64::NAN; 20]);
        assert!(density(&plot).is_err());
        plot.edges.clear();
        assert!(density(&plot).is_err());
    }
}
