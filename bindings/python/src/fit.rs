//! Priors from data.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use undertone::columns::{Code, Lookup};
use undertone_core::{Alphabet, AlphabetView, Decimal};
use undertone_design::codebook::{self, Range};
use undertone_design::density::{self, Density, Settings};
use undertone_design::fit::{Fit, UNSEEN, radius};
use undertone_design::found;

use crate::errors::{failed, guarded};
use crate::source::Source;

/// How many components are tried when none are given.
const TRIED: usize = 8;

fn floats(list: &[Decimal]) -> Vec<f64> {
    list.iter().map(|value| codebook::float(*value)).collect()
}

/// The alphabet asked for: names, points, or so many bins over a range.
fn alphabet(
    names: Option<Vec<String>>,
    points: Option<Vec<String>>,
    range: Option<Vec<String>>,
    bins: Option<usize>,
) -> PyResult<Alphabet> {
    if let Some(names) = names {
        found::check_names(&names).map_err(failed)?;
        return Alphabet::names(names).map_err(failed);
    }
    if let Some(points) = points {
        let points = points.iter().map(|text| codebook::number("points", text));
        return Alphabet::points(points.collect::<Result<_, _>>().map_err(failed)?).map_err(failed);
    }
    let (Some(range), Some(bins)) = (range, bins) else {
        return Err(failed("give symbols, points, or range and bins"));
    };
    Range::parse(&range).and_then(|range| range.bins(bins)).map_err(failed)
}

/// How often every symbol occurs in a column.
#[pyfunction]
#[pyo3(signature = (values, *, symbols = None, points = None, range = None, bins = None, skip = false))]
pub(crate) fn count<'py>(
    py: Python<'py>,
    values: &Bound<'py, PyAny>,
    symbols: Option<Vec<String>>,
    points: Option<Vec<String>>,
    range: Option<Vec<String>>,
    bins: Option<usize>,
    skip: bool,
) -> PyResult<Bound<'py, PyDict>> {
    guarded(|| {
        let alphabet = alphabet(symbols, points, range, bins)?;
        let lookup = Lookup::of_inputs(&alphabet);
        let named = matches!(alphabet.view(), AlphabetView::Names(_));
        let source = Source::of(values)?;
        let pieces = source.pieces(&lookup, None, named)?;
        let mut counts = vec![0u64; alphabet.len()];
        let (mut below, mut above, mut skipped) = (0u64, 0u64, 0u64);
        let tallied = py.detach(|| {
            let (mut codes, mut before) = (Vec::new(), 0);
            for cells in &pieces {
                for start in (0..cells.len()).step_by(4096) {
                    cells.read(start..(start + 4096).min(cells.len()), &mut codes);
                    for (at, code) in codes.iter().enumerate() {
                        let symbol = match code {
                            Code::Symbol(index) => *index as usize,
                            Code::Below => {
                                below += 1;
                                0
                            }
                            Code::Above => {
                                above += 1;
                                counts.len() - 1
                            }
                            Code::Missing | Code::Unknown if skip => {
                                skipped += 1;
                                continue;
                            }
                            bad => {
                                let what = if *bad == Code::Missing {
                                    "missing"
                                } else {
                                    "not one of the symbols"
                                };
                                let row = before + start + at;
                                return Err(format!(
                                    "row {row} is {what}: mend it, or use unknown=\"skip\""
                                ));
                            }
                        };
                        counts[symbol] += 1;
                    }
                }
                before += cells.len();
            }
            Ok(())
        });
        tallied.map_err(failed)?;
        let found = PyDict::new(py);
        let labels: Vec<String> = (0..alphabet.len()).map(|x| alphabet.label(x)).collect();
        found.set_item("symbols", labels)?;
        match alphabet.view() {
            AlphabetView::Points(points) => found.set_item("values", floats(points))?,
            AlphabetView::Bins { edges, values } => {
                found.set_item("values", floats(values))?;
                found.set_item("edges", floats(edges))?;
                found.set_item("clipped", [below, above])?;
            }
            _ => {}
        }
        found.set_item("counts", counts)?;
        found.set_item("skipped", skipped)?;
        Ok(found)
    })
}

fn fields<'py>(py: Python<'py>, fit: &Fit) -> PyResult<Bound<'py, PyDict>> {
    let found = PyDict::new(py);
    found.set_item("p", fit.p.as_slice())?;
    found.set_item("n", fit.n)?;
    found.set_item("counts", &fit.counts)?;
    found.set_item("lower", &fit.confidence.lower)?;
    found.set_item("upper", &fit.confidence.upper)?;
    found.set_item("radius", fit.confidence.radius)?;
    found.set_item("beta", fit.confidence.beta)?;
    found.set_item("smoothing", fit.smoothing)?;
    found.set_item("floored", &fit.floored)?;
    Ok(found)
}

/// Refuses values found in data that are too many, or too long, to be published as symbols.
#[pyfunction]
pub(crate) fn check_found(values: Vec<String>, rows: u64, categories: bool) -> PyResult<()> {
    guarded(|| {
        found::check_names(&values).map_err(failed)?;
        undertone::prior::check_found(&values, rows, categories).map_err(failed)
    })
}

/// A prior with its confidence box from counts.
#[pyfunction]
pub(crate) fn fit_counts<'py>(
    py: Python<'py>,
    counts: Vec<u64>,
    smoothing: f64,
    beta: f64,
) -> PyResult<Bound<'py, PyDict>> {
    guarded(|| {
        let fit = py.detach(|| Fit::from_counts(counts, smoothing, beta)).map_err(failed)?;
        fields(py, &fit)
    })
}

/// Weight, mean and deviation of one part of a mixture.
type Part = (f64, f64, f64);

/// A prior with its confidence box and the shape of a mixture of normal laws, whose parts are the second result.
#[pyfunction]
#[pyo3(signature = (numbers, edges, counts, beta, components = None))]
pub(crate) fn fit_mixture<'py>(
    py: Python<'py>,
    numbers: Vec<f64>,
    edges: Vec<f64>,
    counts: Vec<u64>,
    beta: f64,
    components: Option<usize>,
) -> PyResult<(Bound<'py, PyDict>, Vec<Part>)> {
    guarded(|| {
        let work = || -> Result<_, undertone_design::Error> {
            let mut fit = Fit::from_counts(counts, 0.0, beta)?;
            let (&[low, ..], &[.., high]) = (edges.as_slice(), edges.as_slice()) else {
                return Err(undertone_design::Error::Empty { what: "edges".into() });
            };
            let clipped: Vec<f64> = numbers.iter().map(|v| v.clamp(low, high)).collect();
            // Nothing narrower than what a bin hides can be seen in the bins.
            let bin = (high - low) / (edges.len() - 1) as f64;
            let settings =
                Settings { least_deviation: Some(bin / 12f64.sqrt()), ..Settings::default() };
            let chosen = match components {
                Some(count) => density::fit(&clipped, count, &settings)?,
                None => {
                    let (best, mut tried) = density::choose(&clipped, TRIED, &settings)?;
                    tried.swap_remove(best)
                }
            };
            let law = Density::Mixture(chosen.mixture.clone());
            let binned = law.clipped(&edges)?.raised(UNSEEN / fit.n as f64)?;
            let shares = fit.counts.iter().map(|&count| count as f64 / fit.n as f64);
            let moved: f64 =
                binned.p.as_slice().iter().zip(shares).map(|(p, s)| (p - s).abs()).sum();
            let sampling = radius(fit.n, fit.counts.len(), beta)?;
            fit.confidence.radius = (sampling + moved).min(2.0);
            (fit.p, fit.floored) = (binned.p, binned.floored);
            let parts = chosen.mixture.components().iter();
            let parts =
                parts.map(|part| (part.weight, part.law.mean(), part.law.deviation())).collect();
            Ok((fit, parts))
        };
        let (fit, parts): (Fit, Vec<Part>) = py.detach(work).map_err(failed)?;
        Ok((fields(py, &fit)?, parts))
    })
}
