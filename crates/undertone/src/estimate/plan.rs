//! What the responses to a plan say, question by question.

use serde::Serialize;
use undertone_core::{Plan, PlanId};
use undertone_estimate::plan::item_estimator;
use undertone_estimate::{
    Coverage, Error as Cause, PlanTally, QuestionEstimator, Settings, Target,
};

use super::answers::{labels, named, too_few_people};
use super::report::{
    EstimateReport, HeadlineReport, PolicyReports, PopulationReport, SharesReport,
};
use super::{CountedResponses, EstimateRequest, EstimatedShare, ReportGroup, RowCounts};
use crate::answer::Answer;
use crate::combined::{combination, escaped_answers};
use crate::{Error, number};

/// What responses say about the population they come from.
#[derive(Debug, Clone, Serialize)]
pub struct PlanEstimateReport {
    /// The plan.
    #[serde(serialize_with = "number::as_text")]
    pub plan_id: PlanId,
    /// How many people's responses there are.
    pub responses: u64,
    /// How many rows and messages were read.
    pub rows: u64,
    /// How many cells were left out because the plan releases nothing like them.
    pub unknown: u64,
    /// How many messages were left out because their id had been read before.
    pub repeated: u64,
    /// The probability with which an interval holds the truth.
    pub level: f64,
    /// Whether each interval holds with it, or all of one question at once.
    pub coverage: Coverage,
    /// Whom the estimates speak of.
    pub target: Target,
    /// One for every question, in the plan's order.
    pub questions: Vec<QuestionReport>,
    /// One for every combined item, and for every pair and triple of items that was counted.
    pub together: Vec<CombinationReport>,
}

/// What the responses say about one question.
#[derive(Debug, Clone, Serialize)]
pub struct QuestionReport {
    /// Its name.
    pub question: String,
    /// How many people answered it.
    pub answered: u64,
    /// The items with it that have reports, by their numbers.
    pub items: Vec<u32>,
    /// The answers; every kind has `reports`, `headline` and `warnings`.
    #[serde(flatten)]
    pub answers: QuestionAnswers,
}

/// What can be said depends on how a question was asked.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum QuestionAnswers {
    /// Its reports are reports of its answers: everything an estimate has.
    Whole(Box<EstimateReport>),
    /// Its shares are sums over combined answers, or of several items that one person answers.
    Sums(Box<SumsReport>),
    /// Nobody answered it.
    Nobody(NobodyReport),
}

/// A question whose shares are sums over combined answers, or that one person answers in several items.
#[derive(Debug, Clone, Serialize)]
pub struct SumsReport {
    /// How many reports there are.
    pub reports: u64,
    /// The policies of its items.
    pub policies: Vec<PolicyReports>,
    /// What to read first.
    pub headline: HeadlineReport,
    /// Counts and sums, where the number of people was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub population: Option<PopulationReport>,
    /// What a reader must not overlook.
    pub warnings: Vec<String>,
}

/// A question nobody answered.
#[derive(Debug, Clone, Serialize)]
pub struct NobodyReport {
    /// None.
    pub reports: u64,
    /// There is none.
    pub headline: Option<HeadlineReport>,
    /// That nobody answered it.
    pub warnings: Vec<String>,
}

/// Questions that one person answers together.
#[derive(Debug, Clone, Serialize)]
pub struct CombinationReport {
    /// The numbers of their items: one combined item, or two or three items whose combinations were counted.
    pub items: Vec<u32>,
    /// The questions' names.
    pub questions: Vec<String>,
    /// How many people answered all of them.
    pub reports: u64,
    /// The joint shares of a combined item, in which answers are joined by ` × `. Of several items there are counts alone, in the
    /// stored tally.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub headline: Option<HeadlineReport>,
}

/// Estimates shares of every question of a plan and, for numbers, their means.
pub fn estimate_plan(
    responses: &CountedResponses,
    request: &EstimateRequest,
) -> Result<PlanEstimateReport, Error> {
    let (plan, tally) = (responses.plan(), responses.tally());
    let settings = request.settings()?;
    if tally.responses() == 0 {
        return Err(Error::input("there are no responses to estimate from"));
    }
    let questions = (0..plan.parts().questions.len()).map(|question| {
        let name = &plan.parts().questions[question].name;
        let estimator = QuestionEstimator::new(plan, tally, question, settings);
        let (items, answers) = match estimator {
            Ok(estimator) => {
                let answers = asked(&estimator, plan, tally, request);
                let answers =
                    answers.map_err(|error| Error::input(format!("question {name:?}: {error}")))?;
                (estimator.items().to_vec(), answers)
            }
            Err(Cause::NoReports) => {
                let warnings = vec!["nobody answered this question".into()];
                let nobody = NobodyReport { reports: 0, headline: None, warnings };
                (Vec::new(), QuestionAnswers::Nobody(nobody))
            }
            Err(error) => return Err(Error::input(format!("question {name:?}: {error}"))),
        };
        Ok(QuestionReport {
            question: name.clone(),
            answered: tally.answered(question),
            items,
            answers,
        })
    });
    Ok(PlanEstimateReport {
        plan_id: plan.id(),
        responses: tally.responses(),
        rows: responses.rows().rows,
        unknown: responses.rows().unknown,
        repeated: responses.repeated(),
        level: settings.level(),
        coverage: settings.coverage(),
        target: settings.target(),
        questions: questions.collect::<Result<_, Error>>()?,
        together: together(plan, tally, settings)?,
    })
}

/// What is known of questions that one person answers together.
fn together(
    plan: &Plan,
    tally: &PlanTally,
    settings: Settings,
) -> Result<Vec<CombinationReport>, Error> {
    let parts = plan.parts();
    let questions = |items: &[u32]| {
        let all = items.iter().flat_map(|&item| &parts.items[item as usize].questions);
        all.map(|&question| &parts.questions[question as usize]).collect::<Vec<_>>()
    };
    let names = |items: &[u32]| questions(items).iter().map(|asked| asked.name.clone()).collect();
    let mut found = Vec::new();
    for (at, counts) in tally.items().iter().enumerate() {
        if parts.items[at].questions.len() < 2 || counts.reports() == 0 {
            continue;
        }
        let wrong = |error| Error::input(format!("item {:?}: {error}", parts.item_name(at)));
        let estimator = item_estimator(plan, tally, at, settings).map_err(wrong)?;
        let headline = estimator.headline().map_err(wrong)?;
        let items = vec![at as u32];
        let answers: Vec<Vec<String>> =
            questions(&items).iter().map(|asked| escaped_answers(&asked.answers)).collect();
        let size = estimator.pool().inputs().len();
        let labels: Vec<String> = (0..size).map(|number| combination(&answers, number)).collect();
        found.push(CombinationReport {
            questions: names(&items),
            items,
            reports: counts.reports(),
            headline: Some(HeadlineReport {
                shares: SharesReport {
                    label: headline.shares.label.clone(),
                    target: headline.shares.settings.target(),
                    shares: named(&labels, &headline.shares.symbols),
                    mean: None,
                },
                method: headline.shares.method,
                because: headline.because,
            }),
        });
    }
    found.extend(tally.crosses().iter().map(|cross| CombinationReport {
        items: cross.items().to_vec(),
        questions: names(cross.items()),
        reports: cross.reports(),
        headline: None,
    }));
    Ok(found)
}

/// Asks an estimator of one question everything it knows.
fn asked(
    estimator: &QuestionEstimator,
    plan: &Plan,
    tally: &PlanTally,
    request: &EstimateRequest,
) -> Result<QuestionAnswers, Error> {
    let group = |&item: &u32| ReportGroup {
        policy: plan.policy_of(item as usize).clone(),
        tally: tally.items()[item as usize].clone(),
    };
    let groups: Vec<ReportGroup> = estimator.items().iter().map(group).collect();
    if let Some(whole) = estimator.whole() {
        let rows = RowCounts { rows: estimator.reports(), ..RowCounts::default() };
        let report = EstimateReport::of(whole, &groups, rows, None, request)?;
        return Ok(QuestionAnswers::Whole(Box::new(report)));
    }
    let headline = estimator.headline().map_err(Error::input)?;
    let labels = labels(estimator.answers());
    let mean = estimator.mean().ok().map(|mean| mean.estimate);
    let impossible = headline.shares.symbols.iter().filter(|share| share.impossible).count();
    let mut warnings = Vec::new();
    if impossible > 0 {
        warnings.push(format!(
            "{impossible} of {} shares fit no possible value at {} % and are given as the nearest one, marked impossible",
            labels.len(),
            100.0 * estimator.settings().level()
        ));
    }
    let open = headline.shares.symbols.iter().filter(|share| !share.identified).count();
    if open > 0 {
        warnings.push(format!(
            "{open} of {} shares are not determined by the policies: different populations would send the same reports",
            labels.len()
        ));
    }
    if request.above.is_some() {
        warnings.push(
            "symbols above a threshold are not named: the question was answered together with others".into(),
        );
    }
    warnings.extend(too_few_people(request.population, estimator.reports()));
    let population = request.population.map(|people| PopulationReport {
        people,
        counts: named(&labels, &headline.shares.counts(people)),
        sum: mean.map(|mean| mean.scaled(people as f64).into()),
    });
    let shares = SharesReport {
        label: headline.shares.label.clone(),
        target: headline.shares.settings.target(),
        shares: named(&labels, &headline.shares.symbols),
        // Bare numbers of answers have no mean.
        mean: mean.filter(|_| is_numeric(estimator)).map(Into::into),
    };
    Ok(QuestionAnswers::Sums(Box::new(SumsReport {
        reports: estimator.reports(),
        policies: groups.iter().map(PolicyReports::of).collect(),
        headline: HeadlineReport {
            shares,
            method: headline.shares.method,
            because: headline.because,
        },
        population,
        warnings,
    })))
}

fn is_numeric(estimator: &QuestionEstimator) -> bool {
    use undertone_core::AlphabetView;
    matches!(estimator.answers().view(), AlphabetView::Points(_) | AlphabetView::Bins { .. })
}

impl QuestionReport {
    /// What to read first; nothing where nobody answered.
    pub fn headline(&self) -> Option<&HeadlineReport> {
        match &self.answers {
            QuestionAnswers::Whole(report) => Some(&report.headline),
            QuestionAnswers::Sums(report) => Some(&report.headline),
            QuestionAnswers::Nobody(_) => None,
        }
    }

    /// What a reader must not overlook.
    pub fn warnings(&self) -> &[String] {
        match &self.answers {
            QuestionAnswers::Whole(report) => &report.warnings,
            QuestionAnswers::Sums(report) => &report.warnings,
            QuestionAnswers::Nobody(report) => &report.warnings,
        }
    }
}

impl Answer for PlanEstimateReport {
    fn words(&self) -> String {
        let level = number::nats(100.0 * self.level);
        let mut words = format!("{} responses, with {level} % intervals.", self.responses);
        for question in &self.questions {
            let Some(headline) = question.headline() else { continue };
            let mut shares: Vec<&EstimatedShare> = headline.shares.shares.iter().collect();
            shares.sort_by(|a, b| b.share.value.total_cmp(&a.share.value));
            let most: Vec<String> = shares.into_iter().take(4).map(percent).collect();
            words += &format!(
                "\n{}, answered by {}: {}.",
                question.question,
                question.answered,
                most.join(", ")
            );
        }
        for question in &self.questions {
            let about = |warning: &String| format!("\nwarning: {}: {warning}", question.question);
            words.extend(question.warnings().iter().map(about));
        }
        words
    }
}

fn percent(share: &EstimatedShare) -> String {
    let [value, low, high] = share.share.written(100.0);
    format!("{} {value} % ({low} to {high})", share.symbol)
}
