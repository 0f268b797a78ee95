//! Products of activations with the weights of layers: few rows or many, times tall and wide matrices.

use super::bench::{Bench, Multiply, Score, Unit};
use super::rivals::cublas_lt::LtElement;
use super::sets::{Number, Turns};
use crate::common::Result;
use half::bf16;
use tilewright::{Matmul, MatmulInto, Order, TileConfig};
use tilewright_test_support::random::Random;

/// Rows of the activations.
const ROWS: [usize; 6] = [1, 16, 32, 64, 128, 4096];

/// The most rows for which the tiles of more rows are timed, too.
const FEW_ROWS: usize = 64;

/// N and K of layers of large language models.
const LAYERS: [(usize, usize); 5] = [
    (2112, 7168),
    (24_576, 1536),
    (7168, 16_384),
    (4096, 7168),
    (129_280, 7168),
];

/// In place of them on the simulator.
const ON_SIMULATOR: [(usize, usize); 1] = [(128, 256)];

/// Random elements, after which they come again: a prime, so that no two lines are equal.
const PERIOD: usize = 1_000_003;

/// `len` elements.
fn elements<T: Number>(len: usize) -> Vec<T> {
    let mut random = Random::new(len as u64);
    let period: Vec<T> = (0..PERIOD.min(len))
        .map(|_| T::of(random.signed_unit()))
        .collect();
    period.iter().copied().cycle().take(len).collect()
}

impl Bench {
    /// To bf16, with weights by columns, against the best of cuBLASLt's algorithms.
    pub fn run_layers<T: MatmulInto<bf16> + LtElement<Product = bf16> + Number>(
        &self,
        element: &str,
        records: &mut Vec<serde_json::Value>,
    ) -> Result {
        let is_simulated = self.device.is_simulator();
        let layers = match is_simulated {
            true => &ON_SIMULATOR[..],
            false => &LAYERS,
        };
        let mut ratios = Vec::new();
        for (&(n, k), m) in layers.iter().flat_map(|it| ROWS.map(|m| (it, m))) {
            let name = format!("{element} layer {m}x{n}x{k}");
            if !self.options.wants(&name) || is_simulated && m > FEW_ROWS {
                continue;
            }
            let ratio = self.run_layer::<T>(&name, (m, n, k), records)?;
            ratios.extend(ratio);
        }
        self.print_mean(&format!("{element} layers"), &ratios);
        Ok(())
    }

    /// The ratio to the rival, if there is one.
    fn run_layer<T: MatmulInto<bf16> + LtElement<Product = bf16> + Number>(
        &self,
        name: &str,
        (m, n, k): (usize, usize, usize),
        records: &mut Vec<serde_json::Value>,
    ) -> Result<Option<f64>> {
        let (a, b) = (elements::<T>(m * k), elements::<T>(k * n));
        let bytes = size_of_val(&*a) + size_of_val(&*b);
        let mut turns = Turns::new(&self.device, bytes, || {
            Ok((
                self.device.matrix((m, k), &a)?,
                self.device.matrix((k, n, Order::ColumnMajor), &b)?,
                self.device.matrix_zeros((m, n))?,
            ))
        })?;
        let mut next = |multiply: Multiply<'_, T, bf16>| {
            let (a, b, c) = turns.next();
            multiply(a, b, c)
        };
        let score = |seconds: f64| {
            Score::new(
                2.0 * m as f64 * n as f64 * k as f64 / seconds,
                Unit::Operations,
            )
        };
        let rival = match &self.cublas_lt {
            Some(cublas) => {
                let product = cublas.product::<T>((m, n, k), Order::ColumnMajor)?;
                product.choose(|product| {
                    self.seconds_at_once(|| next(&|a, b, c| product.multiply(a, b, c)))
                })?;
                let seconds = self.seconds(|| next(&|a, b, c| product.multiply(a, b, c)))?;
                Some(score(seconds).of_lt())
            }
            None => None,
        };
        let ours = self.seconds(|| next(&|a, b, c| Ok(Matmul::new(a, b).run_into(c)?)))?;
        let ours = score(ours);
        self.report(name, &ours, rival.as_ref(), records);
        if m <= FEW_ROWS && !self.options.as_selected {
            let in_tiles = self.seconds(|| {
                next(&|a, b, c| Ok(Matmul::new(a, b).tiles(TileConfig::Small).run_into(c)?))
            })?;
            let name = format!("{name}, small tiles");
            self.report(&name, &score(in_tiles), rival.as_ref(), records);
        }
        Ok(rival.map(|rival| ours.speed / rival.speed))
    }

    /// Prints the geometric mean of ratios, and the least.
    pub fn print_mean(&self, name: &str, ratios: &[f64]) {
        if ratios.is_empty() {
            return;
        }
        let mean = ratios.iter().map(|it| it.ln()).sum::<f64>() / ratios.len() as f64;
        let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
        println!(
            "{name}: geometric mean {:.3} of {} ratios, least {least:.3}",
            mean.exp(),
            ratios.len()
        );
    }
}
