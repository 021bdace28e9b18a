//! Maps learned from samples of a known law, judged under that law.

use undertone_fusion::design::Watch;
use undertone_fusion::learn::ship::ship;
use undertone_fusion::learn::{Method, Settings, Trained, draw, train};
use undertone_fusion::{Origin, Samples};

use super::network::{Network, Point};
use crate::{Context, Error};

/// The settings of ST20's supplement: r = .999; λ = .01 and the slack are our choices.
pub fn settings(context: &Context, ldp: f64) -> Settings {
    Settings { ldp, ratio: 0.999, restarts: context.pick(1, 3), ..Settings::default() }
}

/// Independent samples of the network's law.
pub fn drawn(context: &Context, network: &Network, n: usize, draw: u64) -> Result<Samples, Error> {
    Ok(draw::samples(network.model(), n, &mut context.stream(0x5720 + draw))?)
}

/// Learns maps, ships them, and says what the integers are worth and leak under the true law.
pub fn learn(
    network: &Network,
    samples: &Samples,
    method: Method,
    settings: &Settings,
) -> Result<(Trained, Point), Error> {
    let trained = train(samples, method, settings, &Watch::PATIENT)?;
    let point = shipped(network, samples, &trained, method, settings.ldp)?;
    Ok((trained, point))
}

/// What learned maps are worth once they are integers.
pub fn shipped(
    network: &Network,
    samples: &Samples,
    trained: &Trained,
    method: Method,
    ldp: f64,
) -> Result<Point, Error> {
    let level = if method.hides_readings() { ldp } else { f64::INFINITY };
    let shipped = ship(samples, &trained.maps, level, &Origin::default())?;
    let certificate = network.certify(&shipped.policies)?;
    network.seen(shipped.maps, &certificate)
}
