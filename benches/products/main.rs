//! `matmul` and cuBLAS: `cargo bench --bench products`.
//!
//! Each contender is warmed up by itself and then timed, so that none has the clocks that another one
//! leaves behind: tensor-core work heats the device. The operands are random; of small ones there are
//! as many as do not fit into the second-level cache, taken in turns.

mod any_layout;
mod batches;
#[path = "../common/mod.rs"]
mod common;
mod layers;
mod options;
#[path = "../rivals/mod.rs"]
mod rivals;
mod sets;
mod shapes;

use common::{Result, machine, open_device};
use half::{bf16, f16};
use options::{HELP, Options};
use rivals::Rivals;
use rivals::cublas::CuBlas;
use rivals::cublas_lt::CuBlasLt;
use serde_json::json;
use sets::{Error, Number, Sets};
use std::process::ExitCode;
use std::rc::Rc;
use std::time::Duration;
use tilewright::cuda_std::fp8::F8E4M3;
use tilewright::{Arithmetic, Device, Matmul, MatmulInto, Matrix, Order, TileConfig};
use tilewright_test_support::random::Random;

/// Blocks of calls that are timed, of which the median counts.
const SAMPLES: usize = 7;

/// How long a sample lasts, about.
const SAMPLE: Duration = Duration::from_millis(60);

/// Rows of narrow products by the kernels of older devices.
const BY_WARPS: [(&str, TileConfig); 2] = [
    ("by warps, large tiles", TileConfig::Large),
    ("by warps, small tiles", TileConfig::Small),
];

fn main() -> ExitCode {
    common::exit(run())
}

fn run() -> Result {
    let Some(options) = Options::from_arguments()? else {
        print!("{HELP}");
        return Ok(());
    };
    let device = open_device()?;
    let rivals = Rivals::of_products(&device);
    let default = match device.is_simulator() {
        true => vec![256],
        false => vec![1024, 1536, 2048, 4096, 8192],
    };
    let bench = Bench {
        sizes: options.sizes.clone().unwrap_or(default),
        options,
        device,
        cublas: rivals.cublas,
        cublas_lt: rivals.cublas_lt,
    };
    println!(
        "\n{:<26} {:>9} {:>9} {:>8}  relative L2 error, and largest over u |A||B|",
        "product", "TFLOP/s", "cuBLAS", "ratio"
    );
    let mut records = Vec::new();
    bench.run_f32(&mut records)?;
    bench.run_f64(&mut records)?;
    bench.run_halves::<bf16>("bf16", &mut records)?;
    bench.run_halves::<f16>("f16", &mut records)?;
    bench.run_i8(&mut records)?;
    bench.run_e4m3(&mut records)?;
    bench.run_batches::<f32>("f32", &mut records)?;
    bench.run_batches::<bf16>("bf16", &mut records)?;
    bench.run_small_results::<f32>("f32", &mut records)?;
    bench.run_small_results::<f64>("f64", &mut records)?;
    bench.run_vectors::<f32>("f32", shapes::by_gemv, &mut records)?;
    bench.run_vectors::<f64>("f64", shapes::by_gemv, &mut records)?;
    bench.run_vectors::<bf16>("bf16", shapes::by_gemm, &mut records)?;
    bench.run_vectors::<f16>("f16", shapes::by_gemm, &mut records)?;
    bench.run_layers::<F8E4M3>("e4m3", &mut records)?;
    bench.run_layers::<bf16>("bf16", &mut records)?;
    bench.run_any_layout::<f32>("f32", &mut records)?;
    bench.run_any_layout::<f64>("f64", &mut records)?;
    bench.run_any_layout::<bf16>("bf16", &mut records)?;
    bench.run_any_layout::<f16>("f16", &mut records)?;
    bench.run_grams::<f32>("f32", &mut records)?;
    bench.run_grams::<f64>("f64", &mut records)?;
    bench.run_grams::<bf16>("bf16", &mut records)?;
    if records.is_empty() {
        return Err(format!(
            "--only {}: no product has that in its name",
            bench.options.only
        )
        .into());
    }
    if let Some(path) = &bench.options.out {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let record = json!({
            "device": machine::describe(&bench.device),
            "cublas": bench.cublas.as_ref().map(|it| it.version().to_owned()),
            "products": records,
        });
        std::fs::write(path, serde_json::to_string_pretty(&record)?)?;
    }
    Ok(())
}

struct Bench {
    options: Options,
    device: Device,
    cublas: Option<Rc<CuBlas>>,
    cublas_lt: Option<Rc<CuBlasLt>>,
    sizes: Vec<usize>,
}

/// A contender: C = A B.
type Multiply<'a, T, O = T> = &'a dyn Fn(&Matrix<T>, &Matrix<T>, &mut Matrix<O>) -> Result;

/// How elements are drawn.
type Draw = fn(&mut Random) -> f64;

/// What a speed counts.
#[derive(Clone, Copy)]
enum Unit {
    /// Multiplications and additions.
    Operations,
    /// Bytes of a matrix.
    Bytes,
}

impl Unit {
    /// A speed as it is printed: TFLOP/s or GB/s.
    fn text(self, speed: f64) -> String {
        match self {
            Self::Operations => format!("{:.1}", speed * 1e-12),
            Self::Bytes => format!("{:.0}", speed * 1e-9),
        }
    }
}

/// What one contender reached.
struct Score {
    /// So many of the unit per second.
    speed: f64,
    unit: Unit,
    error: Option<Error>,
}

impl Bench {
    fn run_f32(&self, records: &mut Vec<serde_json::Value>) -> Result {
        let data: [(&str, Draw); 2] = [
            ("uniform [-1, 1)", |random| random.signed_unit()),
            ("uniform [0, 1)", |random| random.signed_unit().abs()),
        ];
        for (size, (data, draw)) in self
            .sizes
            .iter()
            .flat_map(|&size| data.map(|data| (size, data)))
        {
            let name = format!("f32 {size} {data}");
            if !name.contains(&self.options.only) {
                continue;
            }
            let mut sets = Sets::<f32>::new(&self.device, size, Order::RowMajor, |random| {
                draw(random) as f32
            })?;
            let rival = match &self.cublas {
                Some(cublas) => {
                    Some(self.score(&mut sets, true, |a, b, c| cublas.multiply(a, b, c, 1))?)
                }
                None => None,
            };
            let ours = self.score(&mut sets, true, |a, b, c| {
                Ok(self.device.matmul_into(a, b, c)?)
            })?;
            self.report(&name, &ours, rival.as_ref(), records);
            if data == "uniform [-1, 1)" {
                let (_, b, _) = sets.next();
                let b = b.view().to_matrix()?;
                let b = self.device.prepare(&b)?;
                let prepared = self.score(&mut sets, false, |a, _, c| {
                    Ok(Matmul::with_prepared(a, &b).run_into(c)?)
                })?;
                let name = format!("{name}, B prepared");
                self.report(&name, &prepared, rival.as_ref(), records);
            }
            let chain = self.score(&mut sets, false, |a, b, c| {
                let product = Matmul::new(a, b).arithmetic(Arithmetic::Chain);
                Ok(product.run_into(c)?)
            })?;
            self.report(&format!("{name}, chain"), &chain, rival.as_ref(), records);
        }
        Ok(())
    }

    fn run_f64(&self, records: &mut Vec<serde_json::Value>) -> Result {
        for &size in &self.sizes {
            let name = format!("f64 {size}");
            if !name.contains(&self.options.only) {
                continue;
            }
            let mut sets =
                Sets::<f64>::new(&self.device, size, Order::RowMajor, Random::signed_unit)?;
            let rival = match &self.cublas {
                Some(cublas) => {
                    Some(self.score(&mut sets, false, |a, b, c| cublas.multiply(a, b, c, 1))?)
                }
                None => None,
            };
            let ways: [(&str, Multiply<'_, f64>); 4] = [
                ("", &|a, b, c| Ok(self.device.matmul_into(a, b, c)?)),
                (", large tiles", &|a, b, c| {
                    Ok(Matmul::new(a, b).tiles(TileConfig::Large).run_into(c)?)
                }),
                (", small tiles", &|a, b, c| {
                    Ok(Matmul::new(a, b).tiles(TileConfig::Small).run_into(c)?)
                }),
                (", ordinary units", &|a, b, c| {
                    Ok(self.device.matmul_coarsened_into(a, b, c)?)
                }),
            ];
            for (way, multiply) in ways {
                let ours = self.score(&mut sets, false, multiply)?;
                self.report(&format!("{name}{way}"), &ours, rival.as_ref(), records);
            }
        }
        Ok(())
    }

    fn run_halves<T: MatmulInto<T> + rivals::cublas::InF32 + Number>(
        &self,
        element: &str,
        records: &mut Vec<serde_json::Value>,
    ) -> Result {
        for (order, label) in [
            (Order::RowMajor, "B by rows"),
            (Order::ColumnMajor, "B by columns"),
        ] {
            for &size in &self.sizes {
                let name = format!("{element} {size} {label}");
                if !self.wants_one_of(&name) {
                    continue;
                }
                let mut sets = Sets::<T>::new(&self.device, size, order, |random| {
                    T::of(random.signed_unit())
                })?;
                let rival = match &self.cublas {
                    Some(cublas) => Some(
                        self.score(&mut sets, false, |a, b, c| cublas.multiply_halves(a, b, c))?,
                    ),
                    None => None,
                };
                if name.contains(&self.options.only) {
                    let ours = self.score(&mut sets, false, |a, b, c| {
                        Ok(self.device.matmul_into(a, b, c)?)
                    })?;
                    self.report(&name, &ours, rival.as_ref(), records);
                }
                self.run_by_warps(&name, &mut sets, rival.as_ref(), records)?;
            }
        }
        Ok(())
    }

    /// Whether the product of this name is to run, or one of its rows [`by warps`](Self::run_by_warps).
    fn wants_one_of(&self, name: &str) -> bool {
        let mut names = BY_WARPS
            .map(|(row, _)| format!("{name}, {row}"))
            .into_iter();
        name.contains(&self.options.only) || names.any(|it| it.contains(&self.options.only))
    }

    /// The kernels that devices of compute capability 8.0 have.
    fn run_by_warps<T: MatmulInto<O> + Number, O: Number>(
        &self,
        name: &str,
        sets: &mut Sets<T, O>,
        rival: Option<&Score>,
        records: &mut Vec<serde_json::Value>,
    ) -> Result {
        for (row, tiles) in BY_WARPS {
            let name = format!("{name}, {row}");
            if !name.contains(&self.options.only) {
                continue;
            }
            let ours = self.score(sets, false, |a, b, c| {
                let product = Matmul::new(a, b).compute_capability(8, 0);
                Ok(product.tiles(tiles).run_into(c)?)
            })?;
            self.report(&name, &ours, rival, records);
        }
        Ok(())
    }

    /// B by columns is what tensor cores read; B by rows is transposed first.
    fn run_i8(&self, records: &mut Vec<serde_json::Value>) -> Result {
        for (order, label) in [
            (Order::RowMajor, "B by rows"),
            (Order::ColumnMajor, "B by columns"),
        ] {
            for &size in &self.sizes {
                let name = format!("i8 {size} {label}");
                if !self.wants_one_of(&name) {
                    continue;
                }
                let mut sets = Sets::<i8, i32>::new(&self.device, size, order, |random| {
                    Number::of(random.signed_unit())
                })?;
                let rival = match &self.cublas {
                    Some(cublas) => {
                        Some(self.score(&mut sets, true, |a, b, c| cublas.multiply_i8(a, b, c))?)
                    }
                    None => None,
                };
                self.run_by_warps(&name, &mut sets, rival.as_ref(), records)?;
                if !name.contains(&self.options.only) {
                    continue;
                }
                let ours = self.score(&mut sets, true, |a, b, c| {
                    Ok(self.device.matmul_into(a, b, c)?)
                })?;
                self.report(&name, &ours, rival.as_ref(), records);
                if order == Order::ColumnMajor {
                    let chain = self.score(&mut sets, false, |a, b, c| {
                        let product = Matmul::new(a, b).arithmetic(Arithmetic::Chain);
                        Ok(product.run_into(c)?)
                    })?;
                    let name = format!("{name}, ordinary units");
                    self.report(&name, &chain, rival.as_ref(), records);
                }
            }
        }
        Ok(())
    }

    /// To bf16. The rival is the best of cuBLASLt's algorithms, which take such operands in this order alone.
    fn run_e4m3(&self, records: &mut Vec<serde_json::Value>) -> Result {
        for &size in &self.sizes {
            let name = format!("e4m3 {size} B by columns");
            if !name.contains(&self.options.only) {
                continue;
            }
            let order = Order::ColumnMajor;
            let mut sets = Sets::<F8E4M3, bf16>::new(&self.device, size, order, |random| {
                Number::of(random.signed_unit())
            })?;
            let rival = match &self.cublas_lt {
                Some(cublas) => {
                    let product = cublas.product((size, size, size))?;
                    product.choose(|product| {
                        self.seconds_at_once(|| {
                            let (a, b, c) = sets.next();
                            product.multiply(a, b, c)
                        })
                    })?;
                    Some(self.score(&mut sets, true, |a, b, c| product.multiply(a, b, c))?)
                }
                None => None,
            };
            let ours = self.score(&mut sets, true, |a, b, c| {
                Ok(self.device.matmul_into(a, b, c)?)
            })?;
            self.report(&name, &ours, rival.as_ref(), records);
        }
        Ok(())
    }

    /// Warms the contender up, and times it.
    fn score<T: Number, O: Number>(
        &self,
        sets: &mut Sets<T, O>,
        has_error: bool,
        mut multiply: impl FnMut(&Matrix<T>, &Matrix<T>, &mut Matrix<O>) -> Result,
    ) -> Result<Score> {
        let seconds = self.seconds(|| {
            let (a, b, c) = sets.next();
            multiply(a, b, c)
        })?;
        Ok(Score {
            speed: 2.0 * (sets.size as f64).powi(3) / seconds,
            unit: Unit::Operations,
            error: if has_error { Some(sets.error()?) } else { None },
        })
    }

    /// The time of a call, warmed up.
    fn seconds(&self, call: impl FnMut() -> Result) -> Result<f64> {
        self.seconds_after(self.options.warm_up, SAMPLES, call)
    }

    /// The same in a few samples after a short time, to choose among calls.
    fn seconds_at_once(&self, call: impl FnMut() -> Result) -> Result<f64> {
        self.seconds_after(SAMPLE, 3, call)
    }

    fn seconds_after(
        &self,
        warm_up: Duration,
        samples: usize,
        mut call: impl FnMut() -> Result,
    ) -> Result<f64> {
        let mut time = |calls: u64| -> Result<Duration> {
            let start = self.device.record_event()?;
            (0..calls).try_for_each(|_| call())?;
            Ok(self.device.record_event()?.elapsed_since(&start)?)
        };
        time(1)?;
        let once = time(1)?.max(Duration::from_nanos(1));
        let calls_in = |span: Duration| (span.as_secs_f64() / once.as_secs_f64()).ceil() as u64;
        let simulated = self.device.is_simulator();
        if !simulated {
            time(calls_in(warm_up).clamp(1, 1_000_000))?;
        }
        let calls = if simulated {
            1
        } else {
            calls_in(SAMPLE).max(1)
        };
        let mut samples = (0..if simulated { 1 } else { samples })
            .map(|_| Ok(time(calls)?.as_secs_f64() / calls as f64))
            .collect::<Result<Vec<f64>>>()?;
        samples.sort_by(f64::total_cmp);
        Ok(samples[samples.len() / 2])
    }

    fn report(
        &self,
        name: &str,
        ours: &Score,
        rival: Option<&Score>,
        records: &mut Vec<serde_json::Value>,
    ) {
        // The simulator's time is no GPU's: it has no speed.
        let speed = (!self.device.is_simulator()).then_some(ours.speed);
        let rival_speed = rival.map(|it| it.speed);
        let ratio = rival_speed.map(|speed| ours.speed / speed);
        let error = |score: &Score| {
            score.error.as_ref().map_or(String::new(), |it| {
                format!("{:.2e} {:.2}", it.relative_l2, it.largest)
            })
        };
        let errors = match rival {
            Some(rival) if ours.error.is_some() => {
                format!("{} (cuBLAS {})", error(ours), error(rival))
            }
            _ => error(ours),
        };
        let text = |speed: Option<f64>| speed.map_or("-".to_owned(), |speed| ours.unit.text(speed));
        println!(
            "{name:<26} {:>9} {:>9} {:>8}  {errors}",
            text(speed),
            text(rival_speed),
            ratio.map_or("-".to_owned(), |ratio| format!("{ratio:.3}")),
        );
        let (key, rival_key) = match ours.unit {
            Unit::Operations => ("flops", "cublas_flops"),
            Unit::Bytes => ("bytes_per_second", "cublas_bytes_per_second"),
        };
        records.push(json!({
            "name": name,
            key: speed,
            rival_key: rival_speed,
            "relative_l2": ours.error.as_ref().map(|it| it.relative_l2),
            "cublas_relative_l2": rival.and_then(|it| it.error.as_ref()).map(|it| it.relative_l2),
        }));
    }
}
