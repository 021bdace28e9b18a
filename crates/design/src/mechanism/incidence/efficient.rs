//! What an efficient estimate attains from blocks, also where symbols share unequally many of them.

use undertone_core::MASS_ONE;
use undertone_core::incidence::Incidence;

use crate::Distribution;
use crate::objective::trace_of_inverse;

/// n times the variances of the efficient estimates of all shares at a prior, summed; `None` for subsets, which are not listed.
///
/// The information is Σ_y q_y q_yᵀ / P(y) over blocks y, whose likelihoods q_y are l outside and l + g inside. So it is
/// l² Σ 1/P + l g (c_x + c_z) + g² N_xz, with c_x the sum of 1/P over the blocks with x, and N_xz over those with both: time like
/// the sum of the squares of the sizes of blocks. What remains is [`crate::objective::frequency`].
pub fn efficient_variance(prior: &Distribution, incidence: &Incidence) -> Option<f64> {
    let (blocks, each) = (incidence.blocks()?, incidence.replication()?);
    let own = incidence.coin() as f64 / MASS_ONE as f64;
    let (inside, outside) = (own / each as f64, (1.0 - own) / (blocks - each) as f64);
    let gap = inside - outside;
    let symbols = prior.len();
    let mut both = vec![vec![0.0; symbols]; symbols];
    let mut all = 0.0;
    for (block, mass) in incidence.block_sums(prior.as_slice()).into_iter().enumerate() {
        let law = outside + gap * mass;
        if !(law > 0.0) {
            continue;
        }
        all += 1.0 / law;
        let members: Vec<usize> =
            (0..symbols).filter(|&x| incidence.contains(block as u32, x as u32)).collect();
        for &x in &members {
            members.iter().for_each(|&z| both[x][z] += 1.0 / law);
        }
    }
    // A block that contains x and x is one that contains x.
    let with: Vec<f64> = (0..symbols).map(|x| both[x][x]).collect();
    for (x, row) in both.iter_mut().enumerate() {
        for (z, cell) in row.iter_mut().enumerate() {
            let once = outside * gap * (with[x] + with[z]);
            *cell = outside * outside * all + once + gap * gap * *cell;
        }
    }
    let squares: f64 = prior.as_slice().iter().map(|share| share * share).sum();
    Some(trace_of_inverse(both).map_or(f64::INFINITY, |trace| trace - squares))
}
