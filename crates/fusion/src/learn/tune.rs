//! E-LDP at the level where it hides G as well as another method does (ST20 Fig. 9).

use undertone_design::Error;

use super::{Method, Settings, Trained, train};
use crate::Maps;
use crate::Samples;
use crate::design::Watch;

/// Levels are sought between these.
const RANGE: (f64, f64) = (0.02, 12.0);
/// How often the range is halved.
const STEPS: u32 = 12;

/// The largest LDP level found at which E-LDP leaves the error of G at least at `target`, and what it
/// learns there; `private_error` judges maps. Without such a level the smallest one tried is returned.
pub fn e_ldp_matching(
    samples: &Samples,
    settings: &Settings,
    target: f64,
    private_error: &dyn Fn(&Maps) -> Result<f64, Error>,
    watch: &Watch<'_>,
) -> Result<(f64, Trained), Error> {
    if !(target >= 0.0) {
        return Err(Error::range("the error to match", target, "at least 0"));
    }
    let learn = |ldp: f64| train(samples, Method::ELdp, &Settings { ldp, ..*settings }, watch);
    let (mut low, mut high) = RANGE;
    let mut best = learn(low)?;
    for _ in 0..STEPS {
        // Levels matter by their ratio.
        let middle = (low * high).sqrt();
        let next = learn(middle)?;
        if private_error(&next.maps)? >= target {
            (low, best) = (middle, next);
        } else {
            high = middle;
        }
        if (watch.stop)() {
            break;
        }
    }
    Ok((low, best))
}
