//! E-LDP at the level where it hides G as well as another method does (ST20 Fig. 9).

use undertone_fusion::design::Watch;
use undertone_fusion::learn::{Method, Settings, Trained, train};
use undertone_fusion::{Error, Maps, Samples};

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

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use rand_chacha::ChaCha12Rng;
    use rand_core::SeedableRng;
    use undertone_fusion::Evaluation;
    use undertone_fusion::learn::draw;

    use super::*;
    use crate::st20::network::table_iv;

    /// At the same error of G, EPIC tells more of H than E-LDP, however H and G correlate.
    #[test]
    fn e_ldp_matches_the_error_of_g_and_pays_with_h() {
        for correlation in [0.0, 0.4] {
            let model = table_iv(correlation).unwrap();
            let (mut hidden, mut blunt) = (0.0, 0.0);
            for seed in 0..2 {
                let samples =
                    draw::samples(&model, 100, &mut ChaCha12Rng::seed_from_u64(seed)).unwrap();
                let settings =
                    Settings { ldp: 5.0, ratio: 0.999, restarts: 1, ..Settings::default() };
                let epic = train(&samples, Method::Epic, &settings, &Watch::PATIENT).unwrap();
                let seen = Evaluation::new(&model, &epic.maps).unwrap();
                let judge = |maps: &Maps| Ok(Evaluation::new(&model, maps)?.error_private);
                let target = seen.error_private;
                let (level, open) =
                    e_ldp_matching(&samples, &settings, target, &judge, &Watch::PATIENT).unwrap();
                let other = Evaluation::new(&model, &open.maps).unwrap();
                assert!(other.error_private >= target && other.error_private < target + 0.01);
                assert!(level < 5.0);
                hidden += seen.error_public / 2.0;
                blunt += other.error_public / 2.0;
            }
            assert!(hidden < blunt - 0.02, "correlation {correlation}: {hidden} against {blunt}");
        }
    }
}
