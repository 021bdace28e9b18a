//! Finite fields of up to 4,096 elements, in an arithmetic every language can repeat.
//!
//! Elements are the numbers below q = p^n. The base-p digits of a number, the lowest first, are the coefficients of a
//! polynomial over the integers mod p. For n = 1 the generator is the least number whose powers are all q - 1 others than
//! nought; for n > 1 it is the polynomial X, the number p, and products are taken modulo the first monic polynomial of degree n, in
//! the order of the number its other digits make, for which the powers of X are all others than nought.

use alloc::vec;
use alloc::vec::Vec;

/// The most elements of a field whose products are listed.
const MAX_LISTED: u32 = 64;

/// The most elements a field may have.
pub(super) const MAX_ORDER: u32 = 4096;

/// A finite field by the logarithms of its elements.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Field {
    order: u32,
    /// How elements are added.
    addition: Addition,
    /// Powers of the generator, twice over, so that sums of two logarithms need no remainder.
    powers: Vec<u16>,
    /// The logarithm of every element; that of nought is never asked for.
    logarithms: Vec<u16>,
    /// All products, row by row, where the field is small and no prime.
    products: Vec<u16>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Addition {
    /// Modulo a prime.
    Modular,
    /// Digit by digit modulo two.
    Binary,
    /// Digit by digit modulo an odd prime: log(1 + g^i) for every i, `NONE` for a sum of nought.
    Zech(Vec<u16>),
}

const NONE: u16 = u16::MAX;

/// The prime p and the n of q = p^n; `None` if q is no prime power, or one beyond [`MAX_ORDER`], whose divisors would take long
/// to find.
pub(crate) fn prime_power(order: u32) -> Option<(u32, u32)> {
    if order > MAX_ORDER {
        return None;
    }
    let prime = (2..=order).find(|&p| order.is_multiple_of(p))?;
    let (mut rest, mut exponent) = (order, 0);
    while rest.is_multiple_of(prime) {
        rest /= prime;
        exponent += 1;
    }
    (rest == 1).then_some((prime, exponent))
}

impl Field {
    /// The field with `order` elements; `None` if there is none, or none that large here.
    pub(crate) fn new(order: u32) -> Option<Self> {
        let (prime, degree) = prime_power(order)?;
        let powers = match degree {
            1 => (1..order).find_map(|g| cycle(order, |power| power * g % order))?,
            _ => (0..order).find_map(|low| {
                // X times a polynomial: its digits move up, and the one that leaves comes back as -low.
                let top = order / prime;
                cycle(order, |power| {
                    let leaving = power / top;
                    digitwise(prime, power % top * prime, low, |a, b| {
                        (a + leaving * (prime - b)) % prime
                    })
                })
            })?,
        };
        let mut logarithms = vec![0u16; order as usize];
        for (at, &power) in powers.iter().enumerate() {
            logarithms[power as usize] = at as u16;
        }
        let addition = match (degree, prime) {
            (1, _) => Addition::Modular,
            (_, 2) => Addition::Binary,
            _ => {
                let one_more = |&power: &u16| {
                    let sum = digitwise(prime, power.into(), 1, |a, b| (a + b) % prime);
                    if sum == 0 { NONE } else { logarithms[sum as usize] }
                };
                Addition::Zech(powers.iter().map(one_more).collect())
            }
        };
        let powers = [powers.as_slice(), &powers].concat();
        let mut field = Self { order, addition, powers, logarithms, products: Vec::new() };
        if degree > 1 && order <= MAX_LISTED {
            let row = |a: u32| (0..order).map(move |b| (a, b));
            let product = |(a, b)| field.multiply(a, b) as u16;
            field.products = (0..order).flat_map(row).map(product).collect();
        }
        Some(field)
    }

    /// How many elements there are.
    pub(crate) fn order(&self) -> u32 {
        self.order
    }

    /// Whether elements are added as numbers modulo their count.
    pub(crate) fn is_modular(&self) -> bool {
        self.addition == Addition::Modular
    }

    /// The generator to the given power, which is below 2 (q - 1).
    pub(crate) fn power(&self, exponent: u32) -> u32 {
        self.powers[exponent as usize].into()
    }

    /// The logarithm of an element other than nought, below q - 1.
    pub(crate) fn logarithm(&self, element: u32) -> u32 {
        self.logarithms[element as usize].into()
    }

    #[inline]
    pub(crate) fn add(&self, a: u32, b: u32) -> u32 {
        match &self.addition {
            Addition::Modular => {
                let sum = a + b;
                if sum >= self.order { sum - self.order } else { sum }
            }
            Addition::Binary => a ^ b,
            Addition::Zech(_) if a == 0 => b,
            Addition::Zech(_) if b == 0 => a,
            Addition::Zech(zech) => {
                let (low, high) = (self.logarithm(a), self.logarithm(b));
                let apart = if high >= low { high - low } else { high + self.order - 1 - low };
                match zech[apart as usize] {
                    NONE => 0,
                    more => self.power(low + u32::from(more)),
                }
            }
        }
    }

    #[inline]
    pub(crate) fn subtract(&self, a: u32, b: u32) -> u32 {
        match &self.addition {
            Addition::Modular if a >= b => a - b,
            Addition::Modular => a + self.order - b,
            Addition::Binary => a ^ b,
            // -1 is the generator to half of q - 1.
            Addition::Zech(_) if b == 0 => a,
            Addition::Zech(_) => {
                let half = (self.order - 1) / 2;
                self.add(a, self.power(self.logarithm(b) + half))
            }
        }
    }

    #[inline]
    pub(crate) fn multiply(&self, a: u32, b: u32) -> u32 {
        if a == 0 || b == 0 { 0 } else { self.power(self.logarithm(a) + self.logarithm(b)) }
    }

    /// The inner product of two vectors, as long as the shorter one; they have at most 64 coordinates.
    #[inline]
    pub(crate) fn inner(&self, a: &[u32], b: &[u32]) -> u32 {
        let pairs = a.iter().zip(b);
        match &self.addition {
            // Products have 24 bits.
            Addition::Modular => pairs.map(|(a, b)| a * b).sum::<u32>() % self.order,
            Addition::Binary if !self.products.is_empty() => pairs.fold(0, |sum, (a, b)| {
                sum ^ u32::from(self.products[(a * self.order + b) as usize])
            }),
            Addition::Binary | Addition::Zech(_) => {
                pairs.fold(0, |sum, (&a, &b)| self.add(sum, self.multiply(a, b)))
            }
        }
    }

    /// `a / b`, where `b` is not nought.
    #[inline]
    pub(crate) fn divide(&self, a: u32, b: u32) -> u32 {
        if a == 0 { 0 } else { self.power(self.logarithm(a) + self.order - 1 - self.logarithm(b)) }
    }
}

/// The powers 1, g, g^2, .. if they are all elements but nought; `next` multiplies by g.
fn cycle(order: u32, next: impl Fn(u32) -> u32) -> Option<Vec<u16>> {
    let mut powers = Vec::new();
    let mut power = 1;
    while powers.len() < order as usize - 1 {
        powers.push(power as u16);
        power = next(power);
        if power <= 1 {
            break;
        }
    }
    (power == 1 && powers.len() == order as usize - 1).then_some(powers)
}

/// Combines two numbers digit by digit in base `prime`.
fn digitwise(prime: u32, a: u32, b: u32, combine: impl Fn(u32, u32) -> u32) -> u32 {
    let (mut a, mut b, mut place, mut result) = (a, b, 1, 0);
    while a > 0 || b > 0 {
        result += combine(a % prime, b % prime) * place;
        (a, b, place) = (a / prime, b / prime, place * prime);
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prime_powers_are_told_apart() {
        let powers: Vec<u32> = (0..=32).filter(|&q| prime_power(q).is_some()).collect();
        assert_eq!(powers, [2, 3, 4, 5, 7, 8, 9, 11, 13, 16, 17, 19, 23, 25, 27, 29, 31, 32]);
        assert_eq!(prime_power(4096), Some((2, 12)));
    }

    /// The axioms that the families rest on, for every pair of elements.
    #[test]
    fn fields_are_fields() {
        for order in [2, 3, 4, 5, 7, 8, 9, 16, 25, 27, 49, 64, 81, 101, 125, 128, 243] {
            let field = Field::new(order).expect("a prime power");
            for a in 0..order {
                let (one, other) = ([a, 1, order - 1], [order - 1, a, a]);
                let terms = one.into_iter().zip(other).map(|(a, b)| field.multiply(a, b));
                let sum = terms.fold(0, |sum, term| field.add(sum, term));
                assert_eq!(field.inner(&one, &other), sum);
                assert_eq!(
                    (field.add(a, 0), field.multiply(a, 1), field.multiply(a, 0)),
                    (a, a, 0)
                );
                assert_eq!(field.subtract(a, a), 0);
                for b in 0..order {
                    assert_eq!(field.add(a, b), field.add(b, a));
                    assert_eq!(field.add(field.subtract(a, b), b), a);
                    if b > 0 {
                        assert_eq!(field.multiply(field.divide(a, b), b), a);
                    }
                    let c = (a * 7 + b * 3 + 1) % order;
                    let spread = field.add(field.multiply(a, c), field.multiply(b, c));
                    assert_eq!(field.multiply(field.add(a, b), c), spread, "{order}: {a} {b} {c}");
                    let sums = field.add(field.add(a, b), c);
                    assert_eq!(sums, field.add(a, field.add(b, c)));
                }
            }
        }
    }

    #[test]
    fn the_largest_fields_exist() {
        for order in [4093, 4096, 3721, 2187, 2401] {
            let field = Field::new(order).expect("a prime power");
            let product = field.multiply(order - 1, order - 2);
            assert_eq!(field.divide(product, order - 2), order - 1);
        }
        assert_eq!(Field::new(6), None);
        assert_eq!(Field::new(4099), None);
    }

    /// Digits are added modulo the characteristic, whatever way sums are found.
    #[test]
    fn sums_are_sums_of_digits() {
        for (order, prime) in [(9, 3), (27, 3), (25, 5), (49, 7), (16, 2)] {
            let field = Field::new(order).expect("a prime power");
            for a in 0..order {
                for b in 0..order {
                    let sum = digitwise(prime, a, b, |a, b| (a + b) % prime);
                    assert_eq!(field.add(a, b), sum);
                }
            }
        }
    }
}
