//! The least concave, never falling function above some points.

/// Corners from left to right; between them straight lines, flat after the last.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Envelope {
    corners: Vec<(f64, f64)>,
}

impl Envelope {
    /// The envelope of points given in increasing order of their first coordinate.
    pub(super) fn new(points: impl Iterator<Item = (f64, f64)>) -> Self {
        let mut corners: Vec<(f64, f64)> = Vec::new();
        for (x, y) in points {
            // A point that is no higher than what lies to its left is below the envelope.
            if corners.last().is_some_and(|&(_, highest)| y <= highest) {
                continue;
            }
            if corners.last().is_some_and(|&(left, _)| left == x) {
                corners.pop();
            }
            while let [.., (a, at_a), (b, at_b)] = corners[..] {
                // Is b on or below the line from a to the new point?
                if (at_b - at_a) * (x - a) > (y - at_a) * (b - a) {
                    break;
                }
                corners.pop();
            }
            corners.push((x, y));
        }
        Self { corners }
    }

    /// The height at t; at the first corner for what lies to the left of it.
    pub(super) fn at(&self, t: f64) -> f64 {
        let after = self.corners.partition_point(|&(x, _)| x <= t);
        match (after.checked_sub(1).map(|before| self.corners[before]), self.corners.get(after)) {
            (Some((a, low)), Some(&(b, high))) => low + (high - low) * ((t - a) / (b - a)),
            (Some((_, last)), None) => last,
            (None, Some(&(_, first))) => first,
            (None, None) => f64::INFINITY,
        }
    }

    /// The first t at which the height reaches `level`: minus infinity if all of it is above, infinity if none
    /// of it is.
    pub(super) fn reaches(&self, level: f64) -> f64 {
        let after = self.corners.partition_point(|&(_, y)| y < level);
        match (after.checked_sub(1).map(|before| self.corners[before]), self.corners.get(after)) {
            (Some((a, low)), Some(&(b, high))) => a + (b - a) * ((level - low) / (high - low)),
            (Some(_), None) => f64::INFINITY,
            (None, _) => f64::NEG_INFINITY,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_envelope_is_above_all_points_and_below_every_other() {
        let points =
            [(0.0, 1.0), (1.0, 1.2), (1.0, 2.0), (2.0, 2.2), (3.0, 4.0), (4.0, 4.0), (5.0, 1.0)];
        let envelope = Envelope::new(points.into_iter());
        assert_eq!(envelope.corners, [(0.0, 1.0), (3.0, 4.0)]);
        for (t, height) in [(-1.0, 1.0), (0.0, 1.0), (1.0, 2.0), (1.5, 2.5), (3.0, 4.0), (5.0, 4.0)]
        {
            assert!((envelope.at(t) - height).abs() < 1e-15, "{t}");
        }
        assert_eq!(envelope.reaches(0.5), f64::NEG_INFINITY);
        assert_eq!(envelope.reaches(2.5), 1.5);
        assert_eq!(envelope.reaches(4.5), f64::INFINITY);
    }

    #[test]
    fn corners_between_two_lines_stay() {
        let envelope = Envelope::new([(0.0, 0.0), (1.0, 3.0), (2.0, 4.0), (3.0, 4.5)].into_iter());
        assert_eq!(envelope.corners.len(), 4);
        assert_eq!(envelope.at(0.5), 1.5);
        assert_eq!(envelope.reaches(3.5), 1.5);
    }
}
