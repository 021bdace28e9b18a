//! The Walsh-Hadamard transform.

/// Replaces T by c ↦ Σ_a T(a)·(-1)^(a·c), where a·c is the parity of a and c; the length is a power of two.
pub(super) fn walsh(values: &mut [i64]) {
    let mut half = 1;
    while half < values.len() {
        for block in values.chunks_exact_mut(2 * half) {
            let (left, right) = block.split_at_mut(half);
            for (a, b) in left.iter_mut().zip(right) {
                (*a, *b) = (*a + *b, *a - *b);
            }
        }
        half *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_sum_it_says() {
        let values: Vec<i64> = (0..32).map(|at| (at * at * 7) % 23 - 9).collect();
        let mut fast = values.clone();
        walsh(&mut fast);
        for (c, &found) in fast.iter().enumerate() {
            let sign = |a: usize| if (a & c).count_ones().is_multiple_of(2) { 1 } else { -1 };
            let direct: i64 = values.iter().enumerate().map(|(a, value)| sign(a) * value).sum();
            assert_eq!(found, direct);
        }
    }
}
