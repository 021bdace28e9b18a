//! Families of blocks from their documents alone, by the words of the vectors' page: vectors are multiplied out one by one,
//! every block is looked at, and orders are sorted for. Slow, plain, and nothing of the kernel.

use dashu::integer::UBig;
use serde_json::Value;

/// Blocks that can be listed, and how likely each is.
pub(crate) struct Blocks {
    pub(crate) symbols: usize,
    coin: u64,
    /// For every symbol and every block, whether the one is in the other.
    inside: Vec<Vec<bool>>,
    /// For every symbol, the blocks that contain it and then those that do not, in the order they are numbered in.
    order: Vec<[Vec<usize>; 2]>,
    subsets: Option<usize>,
}

/// Elements are numbers below p^n whose digits in base p are the coefficients of polynomials.
struct Field {
    order: u64,
    prime: u64,
    /// The lower digits of the polynomial that products are taken modulo.
    low: u64,
    generator: u64,
}

impl Field {
    fn new(order: u64) -> Self {
        let prime = (2..).find(|p| order.is_multiple_of(*p)).unwrap();
        let is_prime = prime == order;
        let choices = if is_prime { 1..order } else { 0..order };
        let field = |choice: u64| match is_prime {
            true => Self { order, prime, low: 0, generator: choice },
            false => Self { order, prime, low: choice, generator: prime },
        };
        let generates = |field: &Self| {
            let mut seen = vec![false; order as usize];
            let mut power = 1;
            for _ in 1..order {
                seen[power as usize] = true;
                power = field.multiply(power, field.generator);
            }
            seen[1..].iter().all(|&seen| seen)
        };
        choices.map(field).find(generates).unwrap()
    }

    fn digitwise(&self, a: u64, b: u64, combine: impl Fn(u64, u64) -> u64) -> u64 {
        let (mut place, mut result) = (1, 0);
        while place < self.order {
            let digit = combine(a / place % self.prime, b / place % self.prime);
            result += digit % self.prime * place;
            place *= self.prime;
        }
        result
    }

    fn add(&self, a: u64, b: u64) -> u64 {
        self.digitwise(a, b, |a, b| a + b)
    }

    fn multiply(&self, a: u64, b: u64) -> u64 {
        if self.prime == self.order {
            return a * b % self.order;
        }
        let (mut sum, mut shifted, mut rest) = (0, a, b);
        while rest > 0 {
            let digit = rest % self.prime;
            sum = self.digitwise(sum, shifted, |s, a| s + digit * a);
            rest /= self.prime;
            // Times X: the highest digit leaves and comes back as so many times -low.
            let (leaving, stays) =
                (shifted * self.prime / self.order, shifted * self.prime % self.order);
            shifted = self.digitwise(stays, self.low, |a, b| a + leaving * (self.prime - b));
        }
        sum
    }

    /// The power of the generator that an element other than nought is.
    fn logarithm(&self, element: u64) -> u64 {
        let (mut power, mut exponent) = (1, 0);
        while power != element {
            power = self.multiply(power, self.generator);
            exponent += 1;
        }
        exponent
    }
}

fn digits(number: u64, base: u64, count: usize) -> Vec<u64> {
    (0..count).scan(number, |rest, _| Some(core::mem::replace(rest, *rest / base) % base)).collect()
}

impl Blocks {
    /// `None` if there are too many to list.
    pub(crate) fn new(channel: &Value) -> Option<Self> {
        let number = |value: &Value| value.as_u64().unwrap();
        let symbols = number(&channel["symbols"]) as usize;
        let coin = number(&channel["coin"]);
        let family = &channel["family"];
        let new = |inside, order, subsets| Self { symbols, coin, inside, order, subsets };
        match family["kind"].as_str().unwrap() {
            "subsets" => {
                let size = number(&family["size"]) as usize;
                if symbols > 11 {
                    return None;
                }
                let sets: Vec<usize> = (0usize..1 << symbols)
                    .filter(|set| set.count_ones() as usize == size)
                    .collect();
                let row = |x: usize| sets.iter().map(|set| set >> x & 1 == 1).collect();
                Some(new((0..symbols).map(row).collect(), Vec::new(), Some(size)))
            }
            "listed" => {
                let blocks = family["blocks"].as_array().unwrap();
                let row = |x: usize| {
                    let has = |block: &Value| block.as_array().unwrap().iter().any(|m| *m == x);
                    blocks.iter().map(has).collect()
                };
                let inside: Vec<Vec<bool>> = (0..symbols).map(row).collect();
                let order = inside.iter().map(|row| parted(row, |y| y)).collect();
                Some(new(inside, order, None))
            }
            kind => {
                let hashing = kind == "hashing";
                let order = number(&family[if hashing { "buckets" } else { "order" }]);
                let count = number(&family["dimension"]) as usize + usize::from(hashing);
                let part = |name: &str, other| if hashing { other } else { number(&family[name]) };
                let (classes, cosets) = (part("classes", 1), part("cosets", 0));
                let zero = hashing || family["zero"].as_bool().unwrap();
                if symbols > 60 || order > 30 {
                    return None;
                }
                let field = Field::new(order);
                let mut powers = vec![1];
                for _ in 1..classes {
                    powers.push(field.multiply(*powers.last().unwrap(), field.generator));
                }
                // Blocks in order: the highest coordinate that is not nought, which class it is, the lower ones.
                let mut blocks: Vec<(usize, u64, Vec<u64>)> = Vec::new();
                for top in usize::from(hashing)..count {
                    for class in 0..classes {
                        for low in 0..order.pow(top as u32) {
                            let mut vector = digits(low, order, top);
                            vector.push(powers[class as usize]);
                            blocks.push((top, class, vector));
                        }
                    }
                }
                let points: Vec<Vec<u64>> = match hashing {
                    true => (0..symbols as u64)
                        .map(|x| [vec![1], digits(x, order, count - 1)].concat())
                        .collect(),
                    false => (0..count)
                        .flat_map(|top| (0..order.pow(top as u32)).map(move |low| (top, low)))
                        .map(|(top, low)| [digits(low, order, top), vec![1]].concat())
                        .take(symbols)
                        .collect(),
                };
                let product = |a: &[u64], b: &[u64]| {
                    a.iter().zip(b).fold(0, |sum, (&a, &b)| field.add(sum, field.multiply(a, b)))
                };
                let is_inside = |value: u64| match value {
                    0 => zero,
                    _ => field.logarithm(value) % classes < cosets,
                };
                let row = |point: &Vec<u64>| {
                    blocks.iter().map(|(_, _, vector)| is_inside(product(point, vector))).collect()
                };
                let inside: Vec<Vec<bool>> = points.iter().map(row).collect();
                let numbered = points.iter().zip(&inside).map(|(point, row)| {
                    let pivot = point.iter().position(|&part| part > 0).unwrap();
                    let turned = field.logarithm(point[pivot]);
                    parted(row, |y| {
                        let (top, class, vector) = &blocks[y];
                        match top.cmp(&pivot) {
                            core::cmp::Ordering::Less => (*top, 0, y as u64, 0),
                            core::cmp::Ordering::Equal => {
                                (*top, (class + turned) % classes, y as u64, 0)
                            }
                            core::cmp::Ordering::Greater => {
                                let value = product(point, vector);
                                let place = if value == 0 { 0 } else { 1 + field.logarithm(value) };
                                let mut others = vector[..*top].to_vec();
                                others.remove(pivot);
                                let rest =
                                    others.iter().rev().fold(0, |sum, digit| sum * order + digit);
                                (*top, *class, rest, place)
                            }
                        }
                    })
                });
                let numbered = numbered.collect();
                Some(new(inside, numbered, None))
            }
        }
    }

    /// Whether levels are bounds also where the symbols of a box are (subsets).
    pub(crate) fn subset_size(&self) -> Option<usize> {
        self.subsets
    }

    fn kind(&self, inside: bool) -> usize {
        self.inside[0].iter().filter(|&&is| is == inside).count()
    }

    /// The likelihood of a block from inside or outside, rounded down and up, in a unit of its own.
    pub(crate) fn level(&self, inside: bool) -> [UBig; 2] {
        let chance = UBig::from(if inside { self.coin } else { (1 << 48) - self.coin });
        let one = UBig::ONE << 64;
        match self.subsets {
            None => {
                let kind = UBig::from(self.kind(inside));
                [&chance * (&one / &kind), chance * ((one + &kind - UBig::ONE) / kind)]
            }
            Some(size) => {
                let drawn = size - usize::from(inside);
                let candidates: usize = (self.symbols - drawn..self.symbols).sum();
                let left = &one - UBig::from(candidates);
                let others = if inside { self.symbols - size } else { size };
                let value = (chance * UBig::from(others)) << 24;
                [(&value * &left) >> 64, (value << 64) / left + UBig::ONE]
            }
        }
    }

    /// The likelihoods of all blocks, rounded down or up.
    pub(crate) fn rows(&self, up: bool) -> Vec<Vec<UBig>> {
        let level = |inside: bool| self.level(inside)[usize::from(up)].clone();
        let (within, without) = (level(true), level(false));
        let cell = |&inside: &bool| if inside { within.clone() } else { without.clone() };
        self.inside.iter().map(|row| row.iter().map(cell).collect()).collect()
    }

    /// How likely the pinned draw really makes every block, and what is one.
    pub(crate) fn truth(&self) -> (Vec<Vec<UBig>>, UBig) {
        match self.subsets {
            None => {
                let row = |x: usize| {
                    let mut row = vec![UBig::ZERO; self.inside[x].len()];
                    for (list, inside) in self.order[x].iter().zip([true, false]) {
                        let chance = if inside { self.coin } else { (1 << 48) - self.coin };
                        for (number, &y) in list.iter().enumerate() {
                            row[y] = UBig::from(chance) * tickets(number, list.len());
                        }
                    }
                    row
                };
                ((0..self.symbols).map(row).collect(), UBig::ONE << 112)
            }
            Some(size) => self.floyd(size),
        }
    }

    /// Every path of every draw of a subset; the last index of a draw from inside decides nothing.
    fn floyd(&self, size: usize) -> (Vec<Vec<UBig>>, UBig) {
        let sets: Vec<usize> =
            (0usize..1 << self.symbols).filter(|set| set.count_ones() as usize == size).collect();
        let row = |x: usize| {
            let mut row = vec![UBig::ZERO; sets.len()];
            for inside in [true, false] {
                let chance = if inside { self.coin } else { (1 << 48) - self.coin };
                let (others, drawn) = (self.symbols - 1, size - usize::from(inside));
                let unread = UBig::ONE << (64 * (size - drawn));
                let start = if inside { 1 << x } else { 0usize };
                let mut reached = vec![(start, UBig::from(chance) * unread)];
                for last in others - drawn..others {
                    let step = |(set, share): &(usize, UBig)| {
                        let place =
                            |candidate: usize| 1 << (candidate + usize::from(candidate >= x));
                        let taken = |candidate: usize| {
                            if set & place(candidate) == 0 { place(candidate) } else { place(last) }
                        };
                        (0..=last)
                            .map(|c| (set | taken(c), share * tickets(c, last + 1)))
                            .collect::<Vec<_>>()
                    };
                    reached = merged(reached.iter().flat_map(step).collect());
                }
                for (set, share) in reached {
                    row[sets.binary_search(&set).unwrap()] += share;
                }
            }
            row
        };
        ((0..self.symbols).map(row).collect(), UBig::ONE << (48 + 64 * size))
    }

    /// The block of a draw: its number among those that contain the symbol, or those that do not.
    pub(crate) fn nth(&self, symbol: usize, inside: bool, index: u64) -> usize {
        let list = &self.order[symbol][usize::from(!inside)];
        list[((u128::from(index) * list.len() as u128) >> 64) as usize]
    }
}

fn merged(mut list: Vec<(usize, UBig)>) -> Vec<(usize, UBig)> {
    list.sort();
    let mut merged: Vec<(usize, UBig)> = Vec::new();
    for (set, share) in list {
        match merged.last_mut() {
            Some((last, sum)) if *last == set => *sum += share,
            _ => merged.push((set, share)),
        }
    }
    merged
}

/// How many of the 2^64 indices lead to a number.
fn tickets(number: usize, count: usize) -> UBig {
    let edge = |number: usize| ((number as u128) << 64).div_ceil(count as u128);
    UBig::from(edge(number + 1) - edge(number))
}

/// The blocks inside and outside, each in the order of a key.
fn parted<K: Ord>(row: &[bool], key: impl Fn(usize) -> K) -> [Vec<usize>; 2] {
    [true, false].map(|inside| {
        let mut list: Vec<usize> = (0..row.len()).filter(|&y| row[y] == inside).collect();
        list.sort_by_key(|&y| key(y));
        list
    })
}
