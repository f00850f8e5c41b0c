//! Vectors of eight-bit numbers, and how alike they are.

use pulp::Arch;

/// Numbers in a vector of the index.
pub(crate) const DIMENSIONS: usize = 256;

/// A vector before it is made small.
pub(crate) type Vector = [f32; DIMENSIONS];

/// A vector of small integers: each stands for itself times the scale. Eight
/// bits lose nothing that can be measured in what is found.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Quantised {
    pub(crate) values: Vec<i8>,
    pub(crate) scale: f32,
}

impl Quantised {
    /// `vector` at length 1; all zero when it has no length.
    pub(crate) fn new(vector: &[f32]) -> Self {
        let norm = norm(vector);
        let largest = vector.iter().fold(0.0_f32, |most, x| most.max(x.abs()));
        if !norm.is_finite() || largest <= 0.0 {
            let values = vec![0; vector.len()];
            return Self { values, scale: 0.0 };
        }
        let step = largest / 127.0;
        let values = vector.iter().map(|x| (x / step).round() as i8).collect();
        Self {
            values,
            scale: step / norm,
        }
    }

    /// The cosine of the angle between two vectors; 0 when their sizes differ.
    pub(crate) fn cosine(&self, other: &Self) -> f32 {
        if self.values.len() != other.values.len() {
            return 0.0;
        }
        let pairs = || self.values.iter().zip(&other.values);
        let dot: i32 = Arch::new().dispatch(
            #[inline(always)]
            || pairs().map(|(&a, &b)| i32::from(a) * i32::from(b)).sum(),
        );
        dot as f32 * self.scale * other.scale
    }
}

/// The length of a vector.
pub(crate) fn norm(vector: &[f32]) -> f32 {
    vector.iter().map(|x| x * x).sum::<f32>().sqrt()
}

/// Appends to `products` that of `query` with every row in `rows`. What does
/// not fill a row at the end is left out.
pub(crate) fn products(query: &[i8; DIMENSIONS], rows: &[i8], products: &mut Vec<i32>) {
    // Wide once, not once for every row.
    let query = query.map(i16::from);
    let (rows, _) = rows.as_chunks::<DIMENSIONS>();
    products.reserve(rows.len());
    // One check of what the processor has, and one loop compiled for each.
    Arch::new().dispatch(
        #[inline(always)]
        || {
            for row in rows {
                products.push(product(&query, row));
            }
        },
    );
}

#[inline(always)]
fn product(a: &[i16; DIMENSIONS], b: &[i8; DIMENSIONS]) -> i32 {
    let mut sum = 0;
    for index in 0..DIMENSIONS {
        sum += i32::from(a[index]) * i32::from(b[index]);
    }
    sum
}

/// Adds `row`, times `scale`, to `sum`.
pub(crate) fn add(sum: &mut Vector, row: &[i8; DIMENSIONS], scale: f32) {
    Arch::new().dispatch(
        #[inline(always)]
        || {
            for index in 0..DIMENSIONS {
                sum[index] += scale * f32::from(row[index]);
            }
        },
    );
}

/// The products of `vector` with each of `others`.
pub(crate) fn products_of(others: &[Vector], vector: &Vector) -> Vec<f32> {
    let mut products = Vec::with_capacity(others.len());
    Arch::new().dispatch(
        #[inline(always)]
        || {
            for other in others {
                products.push(wide_product(other, vector));
            }
        },
    );
    products
}

#[inline(always)]
fn wide_product(a: &Vector, b: &Vector) -> f32 {
    /// Sums that are made beside each other: what the widest registers hold.
    const LANES: usize = 16;
    let mut sums = [0.0; LANES];
    let (a, _) = a.as_chunks::<LANES>();
    let (b, _) = b.as_chunks::<LANES>();
    for (a, b) in a.iter().zip(b) {
        for index in 0..LANES {
            sums[index] += a[index] * b[index];
        }
    }
    sums.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantised_vectors_keep_their_angles() {
        let a = Quantised::new(&[3.0, 4.0, 0.0]);
        let b = Quantised::new(&[4.0, 3.0, 0.0]);
        assert!((a.cosine(&b) - 0.96).abs() < 0.01);
        assert!((a.cosine(&a) - 1.0).abs() < 0.01);
        let zero = Quantised::new(&[0.0; 3]);
        assert_eq!(zero.cosine(&a), 0.0);
        assert_eq!(Quantised::new(&[f32::NAN, 1.0, 0.0]).cosine(&a), 0.0);
        assert_eq!(Quantised::new(&[1.0]).cosine(&a), 0.0);
    }

    #[test]
    fn products_are_those_of_the_plain_formula() {
        let row = |seed: i32| -> Vec<i8> {
            let number = |i: i32| ((i * seed * 37 + seed) % 255 - 127) as i8;
            (0..DIMENSIONS as i32).map(number).collect()
        };
        let query: [i8; DIMENSIONS] = row(5).try_into().unwrap();
        let mut rows: Vec<i8> = (1..8).flat_map(row).collect();
        rows.push(1);
        let mut found = Vec::new();
        products(&query, &rows, &mut found);
        let plain = rows.chunks_exact(DIMENSIONS).map(|row| {
            let pairs = query.iter().zip(row);
            pairs.map(|(&a, &b)| i32::from(a) * i32::from(b)).sum()
        });
        assert_eq!(found, plain.collect::<Vec<i32>>());
    }
}
