//! All questions, asked once.

use undertone_core::{Alphabet, AlphabetView, Context, WEIGHT_ONE};
use undertone_estimate::{Control, Estimate, Estimator, Fit, Method, Shares, Summary};

use super::listed::{Listed, MOST_LISTED};

use super::report::{
    EstimateReport, EstimatedShare, HeadlineReport, HeavyHitterReport, HeavyHittersReport,
    NumbersReport, PolicyReports, PopulationReport, QuantileReport, SharesReport,
};
use super::{EstimateRequest, EstimatedNumber, ReportGroup, RowCounts, ShownShares};
use crate::Error;

/// The mean by every method.
struct Means {
    headline: Estimate,
    unbiased: Estimate,
    mle: Estimate,
    mmse: Option<Estimate>,
}

impl PolicyReports {
    pub(super) fn of(group: &ReportGroup) -> Self {
        Self {
            policy_id: group.policy.id(),
            reports: group.tally.reports(),
            claims: group.policy.draft().claims().to_vec(),
        }
    }
}

impl EstimateReport {
    /// Asks an estimator made of these reports everything.
    pub(super) fn of(
        estimator: &Estimator,
        groups: &[ReportGroup],
        rows: RowCounts,
        column: Option<&str>,
        request: &EstimateRequest,
    ) -> Result<Self, Error> {
        let inputs = estimator.pool().inputs();
        let labels = labels(inputs);
        let summary = estimator.summary().map_err(Error::input)?;
        let prior = shared_prior(inputs, groups);
        let top = request.top.unwrap_or(MOST_LISTED);
        let listed = Listed::new(&labels, &summary.headline.shares.symbols, top);
        let shown = ShownShares::new(estimator, &summary.headline, &listed, prior.as_deref())?;
        let prior = prior.map(|prior| listed.numbers(prior));
        let (numbers, means) = match inputs.view() {
            AlphabetView::Points(_) | AlphabetView::Bins { .. } => {
                let (numbers, means) = numbers(estimator, &summary, request, &shown)?;
                (Some(numbers), Some(means))
            }
            _ => (None, None),
        };
        let heavy_hitters = request
            .above
            .map(|threshold| heavy_hitters(estimator, threshold, &labels))
            .transpose()?;
        let mut warnings = warnings(estimator, &summary, numbers.as_ref(), rows);
        warnings.extend(too_few_people(request.population, estimator.pool().reports()));
        let population = request.population.map(|people| PopulationReport {
            people,
            counts: listed.shares(&summary.headline.shares.counts(people)),
            sum: means.as_ref().map(|means| means.headline.scaled(people as f64).into()),
        });
        let by = |shares: &Shares, mean: Option<Estimate>| SharesReport {
            label: shares.label.clone(),
            target: shares.settings.target(),
            shares: listed.shares(&shares.symbols),
            mean: mean.map(Into::into),
        };
        let mean = |of: fn(&Means) -> Option<Estimate>| means.as_ref().and_then(of);
        let settings = estimator.settings();
        let shares_left_out = listed.left_out();
        let fit = Fit { shares: listed.numbers(summary.fit.shares), ..summary.fit };
        Ok(Self {
            reports: estimator.pool().reports(),
            rows: rows.rows,
            skipped: rows.skipped(),
            unknown: rows.unknown,
            missing: rows.missing,
            column: column.map(str::to_owned),
            policies: groups.iter().map(PolicyReports::of).collect(),
            level: settings.level(),
            coverage: settings.coverage(),
            target: settings.target(),
            headline: HeadlineReport {
                shares: by(&summary.headline.shares, mean(|means| Some(means.headline))),
                method: summary.headline.shares.method,
                because: summary.headline.because.clone(),
            },
            unbiased: by(&summary.unbiased, mean(|means| Some(means.unbiased))),
            mle: by(&summary.mle, mean(|means| Some(means.mle))),
            mmse: summary.mmse.as_ref().map(|mmse| by(mmse, mean(|means| means.mmse))),
            fit,
            shares_left_out,
            identification: summary.identification,
            drift: summary.drift.into(),
            prior,
            warnings,
            numbers,
            heavy_hitters,
            population,
            sample: request
                .population
                .and_then(|people| super::sampled::of_population(groups, people, settings.level())),
            notes: summary.notes,
            shown,
        })
    }
}

/// A population that is smaller than its reports.
pub(super) fn too_few_people(population: Option<u64>, reports: u64) -> Option<String> {
    let people = population.filter(|people| *people < reports)?;
    Some(format!(
        "there are {reports} reports of a population of {people}: people reported several times, or the number is wrong"
    ))
}

/// What symbols are called: of bins, their ends.
pub(super) fn labels(inputs: &Alphabet) -> Vec<String> {
    match inputs.view() {
        AlphabetView::Bins { edges, .. } => {
            edges.windows(2).map(|pair| format!("{} to {}", pair[0], pair[1])).collect()
        }
        _ => (0..inputs.len()).map(|x| inputs.label(x)).collect(),
    }
}

/// Shares with what their symbols are called.
pub(super) fn named(labels: &[String], shares: &[Estimate]) -> Vec<EstimatedShare> {
    let named = |(label, share): (&String, &Estimate)| EstimatedShare {
        symbol: label.clone(),
        share: (*share).into(),
    };
    labels.iter().zip(shares).map(named).collect()
}

/// Answers about numbers, and the mean by every method.
fn numbers(
    estimator: &Estimator,
    summary: &Summary,
    request: &EstimateRequest,
    shown: &ShownShares,
) -> Result<(NumbersReport, Means), Error> {
    let method = summary.headline.shares.method;
    let mean = |method: Method| estimator.mean(method).map(|answer| answer.estimate);
    let means = Means {
        headline: mean(method).map_err(Error::input)?,
        unbiased: mean(Method::Unbiased).map_err(Error::input)?,
        mle: mean(Method::Mle).map_err(Error::input)?,
        mmse: mean(Method::Mmse).ok(),
    };
    let quantile = |&probability: &f64| {
        let quantile = estimator.quantile(probability).map_err(Error::input)?.estimate.into();
        Ok(QuantileReport { probability, quantile })
    };
    let numbers = NumbersReport {
        mean: means.headline.into(),
        variance: estimator.variance(method).map_err(Error::input)?.estimate.into(),
        quantiles: request.quantiles.iter().map(quantile).collect::<Result<_, Error>>()?,
        histogram: estimator.histogram(method).map_err(Error::input)?.bars,
        merged: shown.shares.clone(),
    };
    Ok((numbers, means))
}

fn heavy_hitters(
    estimator: &Estimator,
    threshold: f64,
    labels: &[String],
) -> Result<HeavyHittersReport, Error> {
    let heavy = estimator
        .heavy_hitters(threshold, Control::FamilyWise)
        .map_err(|error| Error::field("above", format!(": {error}")))?;
    let symbols = heavy.symbols.iter().map(|heavy| HeavyHitterReport {
        share: EstimatedShare { symbol: labels[heavy.symbol].clone(), share: heavy.share.into() },
        p_value: heavy.p_value,
    });
    Ok(HeavyHittersReport {
        above: heavy.threshold,
        symbols: symbols.collect(),
        label: heavy.label,
        control: heavy.control,
    })
}

/// What a reader must not overlook.
fn warnings(
    estimator: &Estimator,
    summary: &Summary,
    numbers: Option<&NumbersReport>,
    rows: RowCounts,
) -> Vec<String> {
    let mut warnings = summary.drift.warnings.clone();
    let open = summary.identification.unidentified.len();
    if open > 0 {
        warnings.push(format!(
            "{open} of {} shares are not determined by the policy: different populations would send the same reports",
            estimator.pool().inputs().len()
        ));
    }
    warnings.extend(impossible(estimator, &summary.headline.shares, numbers));
    if rows.skipped() > 0 {
        warnings.push(format!(
            "{} of {} rows were skipped: {} that no policy releases, {} missing",
            rows.skipped(),
            rows.rows,
            rows.unknown,
            rows.missing
        ));
    }
    warnings
}

/// Sentences about numbers for which no possible value fits the reports at the level.
fn impossible(
    estimator: &Estimator,
    shares: &Shares,
    numbers: Option<&NumbersReport>,
) -> Vec<String> {
    let level = 100.0 * estimator.settings().level();
    let mut sentences = Vec::new();
    let asked = numbers.into_iter().flat_map(|numbers| {
        let quantiles = numbers.quantiles.iter().map(|asked| ("quantile", &asked.quantile));
        [("mean", &numbers.mean), ("variance", &numbers.variance)].into_iter().chain(quantiles)
    });
    let impossible = |(_, number): &(&str, &EstimatedNumber)| number.impossible;
    for (name, _) in asked.filter(impossible) {
        sentences.push(format!(
            "no possible {name} fits these reports at {level} %: the nearest possible value is given, marked impossible"
        ));
    }
    let count = shares.symbols.iter().filter(|share| share.impossible).count();
    let by_chance = (1.0 - estimator.settings().level()) * shares.symbols.len() as f64;
    if count as f64 > by_chance {
        sentences.push(format!(
            "{count} of {} shares fit no possible value at {level} % and are given as the nearest one, marked impossible; chance alone does that to {by_chance:.1} at most on average",
            shares.symbols.len()
        ));
    }
    sentences
}

/// The prior all policies share, if there is one, in the order of `inputs`.
fn shared_prior(inputs: &Alphabet, groups: &[ReportGroup]) -> Option<Vec<f64>> {
    let prior = |group: &ReportGroup| match group.policy.draft().context() {
        Context::Known(prior) => {
            let order = inputs.order_in(group.policy.draft().inputs())?;
            Some(order.iter().map(|&at| prior.weights()[at]).collect::<Vec<u64>>())
        }
        _ => None,
    };
    let first = prior(groups.first()?)?;
    let same = groups.iter().all(|group| prior(group).as_ref() == Some(&first));
    same.then(|| first.iter().map(|&weight| weight as f64 / WEIGHT_ONE as f64).collect())
}
