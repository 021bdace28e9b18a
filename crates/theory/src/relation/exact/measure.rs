//! What is maximised over the rays of a premise: a quantity of one output, or a mean over outputs.

use super::premise::Ray;
use crate::relation::{Notion, Setting};
use undertone_design::Distribution;
use undertone_design::measure::arimoto::log_escort;
use undertone_design::measure::moment::{self, Weighed};
use undertone_numeric::vector::{dot, log_sum_exp};

/// A quantity of single outputs (both sides of the lift kept apart), or of the whole channel.
pub(super) enum Quantity {
    Output(OutputMeasure),
    Sides,
    Average(AverageMeasure),
}

pub(super) enum OutputMeasure {
    /// -ln of the smallest lift.
    MinLift,
    /// ln of the largest lift.
    MaxLift,
    /// The larger of both.
    BothLifts,
    /// Both, under every prior of the set.
    LiftsUnderSet,
    /// ln of the largest likelihood ratio.
    Ratio,
    /// ln of the largest likelihood ratio between neighbouring indices.
    NeighbourRatio,
    /// ln of the largest posterior ratio.
    Odds,
    /// ln of the α-lift.
    AlphaLift { alpha: f64, log_weights: Vec<f64> },
}

pub(super) enum AverageMeasure {
    Information,
    Maximal,
    /// Sibson's under the law with these logarithms.
    Order {
        alpha: f64,
        log_weights: Vec<f64>,
    },
}

impl Quantity {
    pub(super) fn of(to: Notion, law: &Distribution, setting: &Setting) -> Option<Self> {
        use {AverageMeasure as A, OutputMeasure as M};
        let logs = || law.as_slice().iter().map(|p| p.ln()).collect();
        Some(match to {
            Notion::Ldp | Notion::Wclip => Self::Output(M::Ratio),
            Notion::Lip | Notion::Infp => Self::Output(M::BothLifts),
            Notion::Alip => Self::Sides,
            Notion::Pml => Self::Output(M::MaxLift),
            Notion::Di if law.min() > 0.0 => Self::Output(M::Odds),
            Notion::Bplip if !setting.priors.is_empty() => Self::Output(M::LiftsUnderSet),
            Notion::Infdp if law.len().is_power_of_two() => Self::Output(M::NeighbourRatio),
            Notion::Alphalift => {
                Self::Output(M::AlphaLift { alpha: setting.alpha?, log_weights: logs() })
            }
            Notion::Mip | Notion::Avgleak => Self::Average(A::Information),
            Notion::Mil => Self::Average(A::Maximal),
            Notion::Sibson => {
                Self::Average(A::Order { alpha: setting.alpha?, log_weights: logs() })
            }
            Notion::Arimoto => {
                let alpha = setting.alpha?;
                Self::Average(A::Order { alpha, log_weights: log_escort(law, alpha) })
            }
            _ => return None,
        })
    }
}

impl OutputMeasure {
    pub(super) fn level(&self, ray: &Ray, law: &Distribution, setting: &Setting) -> f64 {
        let (least, most) = ray.ends();
        match self {
            Self::MinLift => -least,
            Self::MaxLift => most,
            Self::BothLifts => most.max(-least),
            Self::LiftsUnderSet => {
                // Under another prior P(y) is 1 + the mean deviation times what the ray is scaled to.
                let under = |prior: &Distribution| {
                    let centre = dot(ray.deviations(), prior.as_slice()).ln_1p();
                    (centre - least).max(most - centre)
                };
                setting.priors.iter().map(under).fold(0.0, f64::max)
            }
            Self::Ratio => most - least,
            Self::NeighbourRatio => {
                let values = || 0..ray.symbols();
                let pairs = values().flat_map(|g| values().map(move |h| (g, h)));
                let near = pairs.filter(|(g, h)| (g ^ h).count_ones() == 1);
                near.map(|(g, h)| ray.log(g) - ray.log(h)).fold(0.0, f64::max)
            }
            Self::Odds => {
                let logs = (0..ray.symbols()).map(|x| law[x].ln() + ray.log(x));
                let ends =
                    logs.fold((f64::INFINITY, f64::NEG_INFINITY), |e, v| (v.min(e.0), v.max(e.1)));
                ends.1 - ends.0
            }
            Self::AlphaLift { alpha, log_weights } => {
                let lifts = log_weights.iter().enumerate().map(|(x, &log_weight)| Weighed {
                    log_weight,
                    deviation: ray.deviations()[x],
                    log_lift: ray.log(x),
                });
                moment::log_moment(lifts, *alpha) / alpha
            }
        }
        .max(0.0)
    }
}

impl AverageMeasure {
    /// What one output adds per weight, less everything that is linear in its lifts: that part is the
    /// same for every channel.
    pub(super) fn gain(&self, ray: &Ray, law: &Distribution) -> f64 {
        match self {
            Self::Information => {
                let terms = ray.deviations().iter().zip(law.as_slice());
                terms.filter(|(_, p)| **p > 0.0).map(|(&d, p)| p * moment::information(d)).sum()
            }
            Self::Maximal => {
                let support =
                    ray.deviations().iter().zip(law.as_slice()).filter(|(_, p)| **p > 0.0);
                support.map(|(&d, _)| d).fold(0.0, f64::max)
            }
            Self::Order { alpha, log_weights } => order_gain(ray, log_weights, *alpha),
        }
    }

    /// The leakage of a channel with this total gain.
    pub(super) fn finish(&self, gain: f64) -> f64 {
        match self {
            Self::Information => gain,
            Self::Maximal => gain.ln_1p(),
            Self::Order { alpha, .. } => alpha / (alpha - 1.0) * gain.ln_1p(),
        }
    }
}

/// (Σ w L^α)^(1/α) - Σ w L. The weights are another law than the one that gives the lifts mean one, so the
/// lifts are first scaled to mean one under the weights.
fn order_gain(ray: &Ray, log_weights: &[f64], alpha: f64) -> f64 {
    let centre: f64 = log_weights.iter().zip(ray.deviations()).map(|(log, d)| log.exp() * d).sum();
    let mean = 1.0 + centre;
    let log = |x: usize| ray.log(x);
    if mean < 1e-200 {
        // Only symbols whose weight has underflowed produce this output.
        let powers = log_weights.iter().enumerate().map(|(x, w)| w + alpha * log(x));
        return (log_sum_exp(powers) / alpha).exp();
    }
    let lifts = log_weights.iter().enumerate().map(|(x, &log_weight)| {
        let deviation = (ray.deviations()[x] - centre) / mean;
        let near = deviation.abs() < 0.5;
        let log_lift = if near { deviation.ln_1p() } else { log(x) - centre.ln_1p() };
        Weighed { log_weight, deviation, log_lift }
    });
    mean * (moment::log_moment(lifts, alpha) / alpha).exp_m1()
}
