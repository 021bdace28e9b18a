//! Which numbers the symbols of a request stand for, and the prior of those.

use undertone_core::Provenance;
use undertone_design::codebook::{self, Codebook, OUTPUT_BINS};
use undertone_design::density::{Binned, Density, Histogram};
use undertone_design::knowledge::Knowledge;
use undertone_design::{Distribution, Symbols};

use super::context::{Known, provenance};
use super::{AssumedLaw, DesignRequest, NumberOptions};
use crate::Error;
use crate::document::{Prior, PriorSet};
use crate::error::mention;

/// The prior of a codebook's inputs, and what was done to get it.
pub(super) struct Inputs {
    pub(super) codebook: Codebook,
    pub(super) known: Known,
    pub(super) density: Option<Density>,
    /// How much of a density lay outside the range, and which bins it left empty.
    pub(super) binned: Option<Binned>,
}

impl Inputs {
    /// The bins a density left empty.
    pub(super) fn floored(&self) -> Vec<String> {
        let Some(binned) = &self.binned else { return Vec::new() };
        binned.floored.iter().map(|&x| self.codebook.inputs().label(x)).collect()
    }
}

/// The codebook and the prior of its inputs.
pub(super) fn read(asked: &DesignRequest) -> Result<Inputs, Error> {
    let context = &asked.context;
    let priors = context.priors.as_slice();
    let codebook = codebook(&asked.numbers, priors.first())?;
    let symbols = Symbols::of(codebook.inputs());
    if let Some(assumed) = &asked.numbers.density {
        if !priors.is_empty() {
            let problem = format!("takes the place of {}: give one of them", mention("prior"));
            return Err(Error::field("density", problem));
        }
        for (field, given) in
            [("prior_lower", context.within.is_some()), ("joint", context.secret.is_some())]
        {
            if given {
                let problem = format!("and {} are two contexts: give one", mention(field));
                return Err(Error::field("density", problem));
            }
        }
        let mut inputs = from_density(codebook, assumed.law().clone(), provenance_of(assumed))?;
        if context.any_prior {
            inputs.known.knowledge = Knowledge::Nothing;
        }
        return Ok(inputs);
    }
    if let [prior] = priors
        && context.within.is_none()
        && !context.any_prior
    {
        let density = prior.document().and_then(|document| document.density.as_ref());
        let density = density.map(|density| density.law(prior.name())).transpose()?;
        if let Some(own) = of_inputs(&codebook, prior)? {
            let known = context.known(&[own], Some(&symbols))?;
            return Ok(Inputs { codebook, known, density, binned: None });
        }
        // A law can be put in any bins, counted bins only be merged.
        let law = match density {
            Some(density) => Some(density),
            None => merged(&codebook, prior)?,
        };
        return match law {
            Some(law) => from_density(codebook, law, provenance(prior)?),
            None => Err(mismatch(prior, &codebook)),
        };
    }
    let mut own = Vec::new();
    for prior in priors {
        own.push(of_inputs(&codebook, prior)?.ok_or_else(|| mismatch(prior, &codebook))?);
    }
    let known = context.known(&own, Some(&symbols))?;
    Ok(Inputs { codebook, known, density: None, binned: None })
}

/// Where an assumed law came from. Provenance has room for a sentence, not for a long mixture.
fn provenance_of(assumed: &AssumedLaw) -> Provenance {
    let words = assumed.words();
    let law = if words.len() <= 200 { words } else { "mixture of normal laws" };
    Provenance {
        source: format!("assumed law {law}, clipped to the range"),
        ..Provenance::default()
    }
}

/// The prior's own bins as a law, if every edge asked for is one of theirs.
fn merged(codebook: &Codebook, prior: &Prior) -> Result<Option<Density>, Error> {
    let edges = prior.document().and_then(|document| document.edges.as_ref());
    let (Some(theirs), Some(ours)) = (edges, codebook::edges(codebook.inputs())) else {
        return Ok(None);
    };
    let (low, high) = codebook.range().ends();
    let among = |edge: &f64| theirs.iter().any(|other| (edge - other).abs() <= 1e-9 * (high - low));
    if !ours.iter().all(among) {
        return Ok(None);
    }
    Ok(Some(Density::Histogram(Histogram::new(theirs.clone(), prior.law().clone())?)))
}

fn from_density(
    codebook: Codebook,
    density: Density,
    provenance: Provenance,
) -> Result<Inputs, Error> {
    let binned = density.clipped(&codebook.cells())?;
    let prior = binned.p.clone().over(&Symbols::of(codebook.inputs()))?;
    let known = Known {
        knowledge: Knowledge::Known(prior.clone()),
        prior,
        set: PriorSet::new(&[])?,
        values: Some(codebook.points()),
        provenance,
    };
    Ok(Inputs { codebook, known, density: Some(density), binned: Some(binned) })
}

/// The bins and points of the request, or those of the prior's document.
fn codebook(asked: &NumberOptions, prior: Option<&Prior>) -> Result<Codebook, Error> {
    let document = prior.and_then(|prior| prior.document());
    let outputs =
        |inputs: Option<usize>| asked.output_bins.or(asked.bins).or(inputs).unwrap_or(OUTPUT_BINS);
    let found = match (&asked.points, &asked.range) {
        (Some(points), Some(range)) => Codebook::of_points(points.clone(), *range, outputs(None)),
        (Some(_), None) => {
            let problem = format!("needs {}: what numbers are clipped to", mention("range"));
            return Err(Error::field("points", problem));
        }
        (None, Some(range)) => {
            let listed = document
                .filter(|document| document.edges.is_none())
                .and_then(|document| document.values.as_ref());
            match (asked.bins, listed) {
                (Some(bins), _) => Codebook::of_bins(*range, bins, outputs(Some(bins))),
                (None, Some(values)) => {
                    let points: Vec<String> = values.iter().map(f64::to_string).collect();
                    Codebook::of_points(super::points(&points)?, *range, outputs(None))
                }
                (None, None) => {
                    let problem = format!(
                        "needs {}, the numbers themselves, or {}, how many bins they are rounded to",
                        mention("points"),
                        mention("bins")
                    );
                    return Err(Error::field("range", problem));
                }
            }
        }
        (None, None) => match document.filter(|document| document.edges.is_some()) {
            Some(document) => {
                let inputs = document.alphabet()?;
                let bins = inputs.len();
                Codebook::of_alphabet(inputs, outputs(Some(bins)))
            }
            None => {
                let (points, range, bins) = (mention("points"), mention("range"), mention("bins"));
                return Err(Error::usage(format!(
                    "the data must be numbers here: give {points} with {range}, {range} with {bins}, or a prior fitted with {range}"
                )));
            }
        },
    };
    let found = found.map_err(Error::of_first_word)?;
    match asked.output_range {
        Some(range) => {
            let bins = found.outputs().len();
            found.releasing(range, bins).map_err(Error::of_first_word)
        }
        None => Ok(found),
    }
}

/// The prior with its probabilities in the order of the codebook's inputs, if they are of those: the numbers
/// it lists are the codebook's, or it lists none and has as many.
fn of_inputs(codebook: &Codebook, prior: &Prior) -> Result<Option<Prior>, Error> {
    let inputs = codebook.inputs();
    if prior.law().len() != inputs.len() {
        return Ok(None);
    }
    let symbols = Symbols::of(inputs);
    let own = |order: Option<Vec<usize>>| {
        let document = prior.document().cloned().map(|mut document| {
            // What is read of it from here on is in the codebook's order.
            document.values = Some(codebook.points());
            document
        });
        let p = match order {
            Some(order) => {
                let p = order.iter().map(|&at| prior.law()[at]).collect();
                Distribution::new("prior", p)?
            }
            None => prior.law().clone(),
        };
        let p = p.over(&symbols)?;
        Ok(Some(prior.clone().with_law(p, document)))
    };
    let Some(document) = prior.document() else { return own(None) };
    let (low, high) = codebook.range().ends();
    let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * (high - low);
    match (&document.edges, &document.values) {
        (Some(edges), _) => match codebook::edges(inputs) {
            Some(ours) if ours.iter().zip(edges).all(|(a, b)| near(*a, *b)) => own(None),
            _ => Ok(None),
        },
        (None, Some(values)) => {
            // The codebook's points increase.
            let mut order: Vec<usize> = (0..values.len()).collect();
            order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
            let points = codebook.points();
            match points.iter().zip(&order).all(|(point, &at)| near(*point, values[at])) {
                true => own(Some(order)),
                false => Ok(None),
            }
        }
        (None, None) => match prior.law().symbols().places("the prior", &symbols) {
            Ok(order) => own(order),
            Err(_) => Ok(None),
        },
    }
}

fn mismatch(prior: &Prior, codebook: &Codebook) -> Error {
    let inputs = codebook.inputs();
    let ours = match codebook::edges(inputs) {
        Some(edges) => {
            format!("{} bins from {} to {}", inputs.len(), edges[0], edges[inputs.len()])
        }
        None => format!("{} points", inputs.len()),
    };
    let edges = prior.document().and_then(|document| document.edges.as_ref());
    let theirs = match edges {
        Some(edges) => {
            format!("{} bins from {} to {}", prior.law().len(), edges[0], edges[edges.len() - 1])
        }
        None if prior.document().is_some() => format!("the symbols {}", prior.law().symbols()),
        None => format!("{} probabilities", prior.law().len()),
    };
    let problem = format!(
        "the prior has {theirs} and the request asks for {ours}: fit the prior again with these bins, or leave {} and {} out",
        mention("range"),
        mention("bins")
    );
    Error::in_document(prior.name(), problem)
}
