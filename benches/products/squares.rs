//! Products of square matrices of each type.

use super::bench::{Bench, Job, Multiply, Score};
use super::rivals::cublas::InF32;
use super::rivals::cublas_lt::LtElement;
use super::sets::{Number, Sets};
use crate::common::Result;
use half::bf16;
use tilewright::cuda_std::fp8::F8E4M3;
use tilewright::tuning::TileSize;
use tilewright::{Arithmetic, Matmul, MatmulInto, Order};
use tilewright_output::figures::Row;
use tilewright_test_support::random::Random;

/// Rows of f32 products with split operands, for every size.
const SPLIT: [(&str, TileSize); 2] = [
    ("split, large tiles", TileSize::Large),
    ("split, small tiles", TileSize::Small),
];

/// A row: its name, a tile size, and the compute capability of the kernels.
type Way = (&'static str, TileSize, (u32, u32));

const IN_TILES: &[Way] = WAYS.split_at(3).0;
const MMA_SYNC: &[Way] = WAYS.split_at(3).1;

const WAYS: &[Way] = &[
    ("large tiles", TileSize::Large, NEWEST),
    ("medium tiles", TileSize::Medium, NEWEST),
    ("small tiles", TileSize::Small, NEWEST),
    ("mma.sync, large tiles", TileSize::Large, (8, 0)),
    ("mma.sync, small tiles", TileSize::Small, (8, 0)),
];

/// No limit on the kernels.
pub const NEWEST: (u32, u32) = (u32::MAX, 0);

/// A distribution of elements, by row of A and then of B.
pub struct Data {
    pub name: &'static str,
    pub draw: fn(&mut Random, Line) -> f64,
    /// Whether the chain is timed, too.
    has_chain: bool,
}

/// The number of a row, and the number of A's rows.
pub struct Line {
    pub number: usize,
    pub of_a: usize,
}

pub const DATA: [Data; 4] = [
    Data {
        name: "uniform [-1, 1)",
        draw: |random, _| random.signed_unit(),
        has_chain: true,
    },
    Data {
        name: "uniform [0, 1)",
        draw: |random, _| random.signed_unit().abs(),
        has_chain: true,
    },
    Data {
        name: "normal",
        draw: |random, _| normal(random),
        has_chain: false,
    },
    Data {
        name: "graded rows of A",
        draw: graded,
        has_chain: false,
    },
];

/// The distributions of f64 products.
const OF_F64: [(&str, &Data); 3] = [
    ("", &DATA[0]),
    ("normal", &DATA[2]),
    ("graded rows of A", &DATA[3]),
];

/// A normal deviate with mean 0 and variance 1 (Box and Muller, A Note on the Generation of Random Normal Deviates,
/// 1958).
fn normal(random: &mut Random) -> f64 {
    // Excludes 0, which has no logarithm, and includes 1.
    let radius = (-2.0
        * (1.0 - random.signed_unit().abs())
            .max(f64::MIN_POSITIVE)
            .ln())
    .sqrt();
    radius * (std::f64::consts::PI * random.signed_unit()).cos()
}

/// Uniform; the rows of A are scaled by powers of two from 2^20 down to 2^-20.
fn graded(random: &mut Random, Line { number, of_a }: Line) -> f64 {
    let exponent = match number < of_a {
        true => 20 - (41 * number / of_a) as i32,
        false => 0,
    };
    random.signed_unit() * f64::from(exponent).exp2()
}

impl Bench {
    pub fn run_f32(&self, rows: &mut Vec<Row>) -> Result {
        for (size, data) in self
            .sizes
            .iter()
            .flat_map(|&size| DATA.iter().map(move |data| (size, data)))
        {
            let job = Job::of_squares("f32", size, data.name);
            if !self.options.wants(&job.name()) {
                continue;
            }
            let mut drawn = 0;
            let mut sets = Sets::<f32>::new(&self.device, size, Order::RowMajor, |random| {
                let (number, of_a) = (drawn / size, size);
                drawn += 1;
                (data.draw)(random, Line { number, of_a }) as f32
            })?;
            let rivals = self.rivals(&job, &mut sets, true, |cublas, a, b, c| {
                cublas.multiply(a, b, c, 1)
            })?;
            let ours = self.score("matmul", &mut sets, true, |a, b, c| {
                Ok(self.device.matmul_into(a, b, c)?)
            })?;
            self.report(&job, &ours, &rivals, rows);
            let (a, b, _) = sets.next();
            // The shortest rows and columns are not split.
            let split = Matmul::new(a, b).arithmetic(Arithmetic::Split).plan();
            let has_split = split.is_ok();
            if data.name == DATA[0].name && has_split && !self.options.as_selected {
                let (_, b, _) = sets.next();
                let b = b.view().to_matrix()?;
                let b = self.device.prepare(&b)?;
                let prepared = self.score("matmul", &mut sets, false, |a, _, c| {
                    Ok(Matmul::with_prepared(a, &b).run_into(c)?)
                })?;
                self.report(&job.by("B prepared"), &prepared, &rivals, rows);
            }
            if !data.has_chain || self.options.as_selected {
                continue;
            }
            let chain = self.score("matmul", &mut sets, false, |a, b, c| {
                let product = Matmul::new(a, b).arithmetic(Arithmetic::Chain);
                Ok(product.run_into(c)?)
            })?;
            self.report(&job.by("chain"), &chain, &rivals, rows);
            for (way, tiles) in SPLIT {
                if !has_split {
                    break;
                }
                let split = self.score("matmul", &mut sets, false, |a, b, c| {
                    let product = Matmul::new(a, b).arithmetic(Arithmetic::Split);
                    Ok(product.tiles(tiles).run_into(c)?)
                })?;
                self.report(&job.by(way), &split, &rivals, rows);
            }
            self.run_ways((&job, MMA_SYNC), &mut sets, &rivals, rows)?;
        }
        Ok(())
    }

    pub fn run_f64(&self, rows: &mut Vec<Row>) -> Result {
        for (size, (label, data)) in (self.sizes.iter()).flat_map(|&size| {
            OF_F64
                .iter()
                .map(move |&(label, data)| (size, (label, data)))
        }) {
            let job = Job::of_squares("f64", size, label);
            if !self.options.wants(&job.name()) {
                continue;
            }
            let mut drawn = 0;
            let mut sets = Sets::<f64>::new(&self.device, size, Order::RowMajor, |random| {
                let (number, of_a) = (drawn / size, size);
                drawn += 1;
                (data.draw)(random, Line { number, of_a })
            })?;
            let rivals = self.rivals(&job, &mut sets, true, |cublas, a, b, c| {
                cublas.multiply(a, b, c, 1)
            })?;
            let ways: [(&str, &'static str, Multiply<'_, f64>); 6] = [
                ("", "matmul", &|a, b, c| {
                    Ok(self.device.matmul_into(a, b, c)?)
                }),
                ("chain", "matmul", &|a, b, c| {
                    let product = Matmul::new(a, b).arithmetic(Arithmetic::Chain);
                    Ok(product.run_into(c)?)
                }),
                ("large tiles", "matmul", &|a, b, c| {
                    Ok(Matmul::new(a, b).tiles(TileSize::Large).run_into(c)?)
                }),
                ("medium tiles", "matmul", &|a, b, c| {
                    Ok(Matmul::new(a, b).tiles(TileSize::Medium).run_into(c)?)
                }),
                ("small tiles", "matmul", &|a, b, c| {
                    Ok(Matmul::new(a, b).tiles(TileSize::Small).run_into(c)?)
                }),
                ("CUDA cores", "matmul_coarsened", &|a, b, c| {
                    Ok(self.device.matmul_coarsened_into(a, b, c)?)
                }),
            ];
            let count = match self.options.as_selected || !label.is_empty() {
                true => 1,
                false => ways.len(),
            };
            for (way, function, multiply) in ways.into_iter().take(count) {
                let ours = self.score(function, &mut sets, true, multiply)?;
                self.report(&job.by(way), &ours, &rivals, rows);
            }
        }
        Ok(())
    }

    pub fn run_halves<T: MatmulInto<T> + InF32 + LtElement<Product = T> + Number>(
        &self,
        element: &str,
        rows: &mut Vec<Row>,
    ) -> Result {
        for (order, label) in [
            (Order::RowMajor, "B by rows"),
            (Order::ColumnMajor, "B by columns"),
        ] {
            for &size in &self.sizes {
                let job = Job::of_squares(element, size, label);
                if !self.wants_one_of(&job, WAYS) {
                    continue;
                }
                let mut sets = Sets::<T>::new(&self.device, size, order, |random| {
                    T::of(random.signed_unit())
                })?;
                let rivals = self.rivals(&job, &mut sets, false, |cublas, a, b, c| {
                    cublas.multiply_halves(a, b, c)
                })?;
                if self.options.wants(&job.name()) {
                    let ours = self.score("matmul", &mut sets, false, |a, b, c| {
                        Ok(self.device.matmul_into(a, b, c)?)
                    })?;
                    self.report(&job, &ours, &rivals, rows);
                }
                self.run_ways((&job, WAYS), &mut sets, &rivals, rows)?;
            }
        }
        Ok(())
    }

    /// Whether the product, or one of its rows with these methods, is to run.
    fn wants_one_of(&self, job: &Job, ways: &[Way]) -> bool {
        let mut names = ways.iter().map(|(way, ..)| job.by(way).name());
        let has_ways = !self.options.as_selected;
        self.options.wants(&job.name()) || has_ways && names.any(|it| self.options.wants(&it))
    }

    /// Runs the rows with these methods.
    fn run_ways<T: MatmulInto<O> + Number, O: Number>(
        &self,
        (job, ways): (&Job, &[Way]),
        sets: &mut Sets<T, O>,
        rivals: &[Score],
        rows: &mut Vec<Row>,
    ) -> Result {
        for &(way, tiles, (major, minor)) in ways {
            let job = job.by(way);
            if self.options.as_selected || !self.options.wants(&job.name()) {
                continue;
            }
            let ours = self.score("matmul", sets, false, |a, b, c| {
                let product = Matmul::new(a, b).compute_capability(major, minor);
                Ok(product.tiles(tiles).run_into(c)?)
            })?;
            self.report(&job, &ours, rivals, rows);
        }
        Ok(())
    }

    /// Tensor cores read a column-major B; a row-major B is transposed first.
    pub fn run_i8(&self, rows: &mut Vec<Row>) -> Result {
        for (order, label) in [
            (Order::RowMajor, "B by rows"),
            (Order::ColumnMajor, "B by columns"),
        ] {
            for &size in &self.sizes {
                let job = Job::of_squares("i8", size, label);
                if !self.wants_one_of(&job, WAYS) {
                    continue;
                }
                let mut sets = Sets::<i8, i32>::new(&self.device, size, order, |random| {
                    Number::of(random.signed_unit())
                })?;
                let rivals = self.rivals(&job, &mut sets, true, |cublas, a, b, c| {
                    cublas.multiply_i8(a, b, c)
                })?;
                self.run_ways((&job, WAYS), &mut sets, &rivals, rows)?;
                if !self.options.wants(&job.name()) {
                    continue;
                }
                let ours = self.score("matmul", &mut sets, true, |a, b, c| {
                    Ok(self.device.matmul_into(a, b, c)?)
                })?;
                self.report(&job, &ours, &rivals, rows);
                if order == Order::ColumnMajor && !self.options.as_selected {
                    let chain = self.score("matmul", &mut sets, false, |a, b, c| {
                        let product = Matmul::new(a, b).arithmetic(Arithmetic::Chain);
                        Ok(product.run_into(c)?)
                    })?;
                    self.report(&job.by("CUDA cores"), &chain, &rivals, rows);
                }
            }
        }
        Ok(())
    }

    /// i8 to bf16, with scales for rows and columns, in the order that tensor cores read.
    pub fn run_dequantized(&self, rows: &mut Vec<Row>) -> Result {
        for &size in &self.sizes {
            let job = Job {
                work: "dequantized",
                ..Job::of_squares("i8", size, "to bf16")
            };
            if !self.options.wants(&job.name()) {
                continue;
            }
            let order = Order::ColumnMajor;
            let mut sets = Sets::<i8, bf16>::new(&self.device, size, order, |random| {
                Number::of(random.signed_unit())
            })?;
            let scale = self.device.upload(&vec![1.0_f32 / 128.0; size])?;
            let ours = self.score("matmul", &mut sets, false, |a, b, c| {
                let product = Matmul::dequantized(a, b).row_scale(&scale);
                Ok(product.column_scale(&scale).run_into(c)?)
            })?;
            self.report(&job, &ours, &[], rows);
        }
        Ok(())
    }

    /// e4m3 to bf16. The rival is cuBLASLt's best algorithm, which supports only this order.
    pub fn run_e4m3(&self, rows: &mut Vec<Row>) -> Result {
        for &size in &self.sizes {
            let job = Job::of_squares("e4m3", size, "B by columns");
            if !self.wants_one_of(&job, IN_TILES) {
                continue;
            }
            let order = Order::ColumnMajor;
            let mut sets = Sets::<F8E4M3, bf16>::new(&self.device, size, order, |random| {
                Number::of(random.signed_unit())
            })?;
            let rivals = Vec::from_iter(self.lt_rival(&job, &mut sets, true)?);
            if self.options.wants(&job.name()) {
                let ours = self.score("matmul", &mut sets, true, |a, b, c| {
                    Ok(self.device.matmul_into(a, b, c)?)
                })?;
                self.report(&job, &ours, &rivals, rows);
            }
            self.run_ways((&job, IN_TILES), &mut sets, &rivals, rows)?;
        }
        Ok(())
    }
}
