//! Products of activations with layers' weights: few or many rows, times large matrices.

use super::bench::{Bench, Job, Score};
use super::rivals::cublas_lt::LtElement;
use super::sets::{Number, Turns};
use crate::common::Result;
use half::bf16;
use tilewright::cuda_std::fp8::F8E4M3;
use tilewright::tuning::TileSize;
use tilewright::{Arithmetic, Matmul, MatmulInto, Order};
use tilewright_output::figures::Row;
use tilewright_test_support::random::Random;

/// Rows of the activations.
const ROWS: [usize; 6] = [1, 16, 32, 64, 128, 4096];

/// Maximum rows for which the tiles for more rows are timed, too.
const FEW_ROWS: usize = 64;

/// Rows of activations with block scales.
const SCALED_ROWS: [usize; 2] = [128, 4096];

/// Their tiles, besides those that are selected.
const TILES: [(&str, TileSize); 3] = [
    ("small tiles", TileSize::Small),
    ("medium tiles", TileSize::Medium),
    ("large tiles", TileSize::Large),
];

/// Elements of a block along K, and of B along N.
const BLOCK: usize = 128;

/// N and K of layers of large language models.
const LAYERS: [(usize, usize); 5] = [
    (2112, 7168),
    (24_576, 1536),
    (7168, 16_384),
    (4096, 7168),
    (129_280, 7168),
];

/// The layers on the simulator.
const ON_SIMULATOR: [(usize, usize); 1] = [(128, 256)];

/// The period of random elements: a prime, so that no two rows or columns are equal.
const PERIOD: usize = 1_000_003;

/// `len` elements.
fn elements<T: Number>(len: usize) -> Vec<T> {
    let mut random = Random::new(len as u64);
    let period: Vec<T> = (0..PERIOD.min(len))
        .map(|_| T::of(random.signed_unit()))
        .collect();
    period.iter().copied().cycle().take(len).collect()
}

/// A product of a layer: its row in the table, and M, N and K.
type Layer = (Job, (usize, usize, usize));

/// Activations, weights and results, used in turns.
type LayerTurns<T> = Turns<T, bf16>;

impl Bench {
    /// Products to bf16 with column-major weights, against cuBLASLt's best algorithm.
    pub fn run_layers<T: MatmulInto<bf16> + LtElement<Product = bf16> + Number>(
        &self,
        element: &str,
        rows: &mut Vec<Row>,
    ) -> Result {
        let mut ratios = Vec::new();
        for (job, shape) in self.layers("layer", element) {
            ratios.extend(self.run_layer::<T>(&job, shape, rows)?);
        }
        self.print_mean(&format!("{element} layers"), &ratios);
        Ok(())
    }

    /// The same products with batch-invariant bits, against the unrestricted ones.
    pub fn run_invariant_layers<T: MatmulInto<bf16> + Number>(
        &self,
        element: &str,
        rows: &mut Vec<Row>,
    ) -> Result {
        let mut ratios = Vec::new();
        for (job, shape) in self.layers("batch-invariant", element) {
            let mut turns = self.layer_turns::<T>(shape)?;
            let mut score = |name, arithmetic| -> Result<Score> {
                let seconds = self.seconds(|| {
                    let (a, b, c) = turns.next();
                    Ok(Matmul::new(a, b).arithmetic(arithmetic).run_into(c)?)
                })?;
                Ok(Score::new(name, seconds))
            };
            let unrestricted = score("Auto", Arithmetic::Auto)?;
            let ours = score("BatchInvariant", Arithmetic::BatchInvariant)?;
            ratios.extend(self.report(&job, &ours, &[unrestricted], rows));
        }
        self.print_mean(&format!("{element} batch-invariant layers"), &ratios);
        Ok(())
    }

    /// Products of e4m3 with block scales, against cuBLASLt's with the same blocks, and against products without scales.
    pub fn run_scaled_layers(&self, rows: &mut Vec<Row>) -> Result {
        let (mut ratios, mut of_unscaled) = (Vec::new(), Vec::new());
        for (job, (m, n, k)) in self.layers("block-scaled layer", "e4m3") {
            if !SCALED_ROWS.contains(&m) && !self.device.is_simulator() {
                continue;
            }
            let mut turns = self.layer_turns::<F8E4M3>((m, n, k))?;
            let ones = |rows: usize, columns: usize| {
                self.device
                    .matrix((rows, columns), &vec![1.0_f32; rows * columns])
            };
            let of_a = ones(m, k.div_ceil(BLOCK))?;
            // cuBLASLt's columns of scales are multiples of four apart.
            let of_b = ones(n.div_ceil(BLOCK), k.div_ceil(BLOCK).next_multiple_of(4))?;
            let theirs = self.lt_score_of(&job, &mut turns, |library, (a, b, c)| {
                library.scaled_product((a, b), c.view(), [&of_a, &of_b])
            })?;
            let of_b = of_b.slice(.., ..k.div_ceil(BLOCK))?.t();
            let ours = self.seconds(|| {
                let (a, b, c) = turns.next();
                Ok(Matmul::new(a, b).block_scales(&of_a, of_b).run_into(c)?)
            })?;
            let ours = Score::new("block_scales", ours);
            let rivals = Vec::from_iter(theirs);
            ratios.extend(self.report(&job, &ours, &rivals, rows));
            if !self.options.as_selected {
                for (name, tiles) in TILES {
                    let in_tiles = self.seconds(|| {
                        let (a, b, c) = turns.next();
                        let product = Matmul::new(a, b).block_scales(&of_a, of_b);
                        Ok(product.tiles(tiles).run_into(c)?)
                    })?;
                    let score = Score::new("block_scales", in_tiles);
                    self.report(&job.by(name), &score, &rivals, rows);
                }
            }
            let unscaled = self.seconds(|| {
                let (a, b, c) = turns.next();
                Ok(Matmul::new(a, b).run_into(c)?)
            })?;
            let unscaled = [Score::new("unscaled", unscaled)];
            of_unscaled.extend(self.report(&job.by("and unscaled"), &ours, &unscaled, rows));
        }
        self.print_mean("e4m3 block-scaled layers", &ratios);
        self.print_mean("e4m3 block-scaled layers and unscaled ones", &of_unscaled);
        Ok(())
    }

    /// The products of all layers and rows that are wanted.
    fn layers(&self, work: &'static str, element: &str) -> Vec<Layer> {
        let is_simulated = self.device.is_simulator();
        let layers = match is_simulated {
            true => &ON_SIMULATOR[..],
            false => &LAYERS,
        };
        let shapes = layers.iter().flat_map(|it| ROWS.map(|m| (it, m)));
        let layer = |(&(n, k), m): (&(usize, usize), usize)| {
            let operations = 2.0 * m as f64 * n as f64 * k as f64;
            let job = Job {
                size: Some(m),
                ..Job::of_operations(work, element, format!("{m}x{n}x{k}"), operations)
            };
            (job, (m, n, k))
        };
        let is_wanted = |(job, (m, ..)): &Layer| {
            self.options.wants(&job.name()) && !(is_simulated && *m > FEW_ROWS)
        };
        shapes.map(layer).filter(is_wanted).collect()
    }

    fn layer_turns<T: Number>(&self, (m, n, k): (usize, usize, usize)) -> Result<LayerTurns<T>> {
        let (a, b) = (elements::<T>(m * k), elements::<T>(k * n));
        let bytes = size_of_val(&*a) + size_of_val(&*b);
        Turns::new(&self.device, bytes, || {
            Ok((
                self.device.matrix((m, k), &a)?,
                self.device.matrix((k, n, Order::ColumnMajor), &b)?,
                self.device.matrix_zeros((m, n))?,
            ))
        })
    }

    /// The ratio to the rival, if there is one.
    fn run_layer<T: MatmulInto<bf16> + LtElement<Product = bf16> + Number>(
        &self,
        job: &Job,
        shape: (usize, usize, usize),
        rows: &mut Vec<Row>,
    ) -> Result<Option<f64>> {
        let mut turns = self.layer_turns::<T>(shape)?;
        let rivals = Vec::from_iter(self.lt_score(job, &mut turns, 1)?);
        let ours = self.seconds(|| {
            let (a, b, c) = turns.next();
            Ok(Matmul::new(a, b).run_into(c)?)
        })?;
        let ratio = self.report(job, &Score::new("matmul", ours), &rivals, rows);
        if shape.0 <= FEW_ROWS && !self.options.as_selected {
            let in_tiles = self.seconds(|| {
                let (a, b, c) = turns.next();
                Ok(Matmul::new(a, b).tiles(TileSize::Small).run_into(c)?)
            })?;
            let score = Score::new("matmul", in_tiles);
            self.report(&job.by("small tiles"), &score, &rivals, rows);
        }
        Ok(ratio)
    }
}
