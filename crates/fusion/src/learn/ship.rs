//! From learned maps to what runs: verified policies and, where it can be certified, a network.

use undertone_core::Policy;
use undertone_design::{Error, to_floats};

use crate::design::Budgets;
use crate::{Bundle, ExactModel, Maps, Model, Origin, Samples, bundle};

/// Learned maps as integers that the kernel verified.
#[derive(Debug, Clone, PartialEq)]
pub struct Shipped {
    /// One policy per sensor; its LDP claim is exact.
    pub policies: Vec<Policy>,
    /// What they do, as floats.
    pub maps: Maps,
    /// Plan and certificate under the fitted model, unless there are too many outputs to enumerate.
    pub bundle: Option<Bundle>,
}

/// Rounds maps to policies that keep `ldp` (infinite: the weakest level there is), and certifies the
/// network under the model of [`independent`].
pub fn ship(samples: &Samples, maps: &Maps, ldp: f64, origin: &Origin) -> Result<Shipped, Error> {
    let model = ExactModel::new(&independent(samples)?)?;
    let budgets = Budgets::new(f64::INFINITY, ldp)?;
    let policies = bundle::policies(&model, maps, budgets, origin)?;
    let map = |policy: &Policy| to_floats::channel(policy.draft().shape());
    let maps = Maps::new(policies.iter().map(map).collect::<Result<_, _>>()?)?;
    let bundle = match Bundle::new(model, &policies, budgets, origin.clone()) {
        Ok(bundle) => Some(bundle),
        Err(Error::TooLarge { .. }) => None,
        Err(error) => return Err(error),
    };
    Ok(Shipped { policies, maps, bundle })
}

/// The model a centre decides by: sensors independent given (H,G), every law smoothed by one further
/// sample spread over all readings.
pub fn independent(samples: &Samples) -> Result<Model, Error> {
    let (h, g) = (samples.public().size(), samples.private().size());
    let cell = |public: usize, private: usize| public * g + private;
    let mut counts = vec![0.0f64; h * g];
    for sample in samples.samples() {
        counts[cell(sample.public, sample.private)] += 1.0;
    }
    let total = samples.samples().len() as f64;
    // A pair of labels that never occurred together stays impossible.
    let atoms: Vec<crate::Atom> = (0..h * g)
        .map(|k| crate::Atom { weight: counts[k] / total, public: k / g, private: k % g })
        .collect();
    let sensor = |(t, (name, alphabet)): (usize, &(String, undertone_core::Alphabet))| {
        let size = alphabet.len();
        let mut laws = vec![vec![1.0 / size as f64; size]; h * g];
        for sample in samples.samples() {
            laws[cell(sample.public, sample.private)][sample.readings[t]] += 1.0;
        }
        let law = |law: Vec<f64>| undertone_design::Distribution::normalised("a fitted law", law);
        let rows = laws.into_iter().map(law).collect::<Result<_, _>>()?;
        let row_of = (0..(h * g) as u32).collect();
        crate::Sensor::new(name.clone(), alphabet.clone(), rows, row_of)
    };
    let sensors = samples.sensors().iter().enumerate().map(sensor).collect::<Result<_, _>>()?;
    Model::new(samples.public().clone(), samples.private().clone(), atoms, sensors)
}
