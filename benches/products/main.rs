//! `matmul` and cuBLAS: `cargo bench --bench products`.
//!
//! Each contender is warmed up by itself and then timed, so that none has the clocks that another one
//! leaves behind: tensor-core work heats the device. The operands are random; of small ones there are
//! as many as do not fit into the second-level cache, taken in turns.

mod batches;
#[path = "../common/mod.rs"]
mod common;
#[path = "../rivals/mod.rs"]
mod rivals;

use common::{Result, machine, open_device};
use half::{bf16, f16};
use rivals::Rivals;
use rivals::cublas::CuBlas;
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;
use std::rc::Rc;
use std::time::Duration;
use tilewright::{Arithmetic, Device, Element, Matmul, MatmulElement, Matrix, Order};
use tilewright_test_support::random::Random;

const HELP: &str = "\
Compares matmul with cuBLAS on one device: speed, and for f32 the error.

Usage: cargo bench --bench products -- [OPTIONS]

Options:
  --only TEXT       only products whose name contains TEXT, such as `bf16 4096`
  --warm-up SECS    of each contender, before it is timed [default: 1]
  --sizes N,N,...   rows and columns of the square matrices
                    [default: 1024,1536,2048,4096,8192; on the simulator 256]
  --out FILE        results as JSON
  -h, --help        this text
";

/// Blocks of calls that are timed, of which the median counts.
const SAMPLES: usize = 7;

/// How long a sample lasts, about.
const SAMPLE: Duration = Duration::from_millis(60);

/// Bytes of all operands together, more than twice the largest second-level cache.
const OPERAND_BYTES: usize = 256 << 20;

/// Outputs of which the error is measured.
const MEASURED: usize = 4000;

fn main() -> ExitCode {
    common::exit(run())
}

struct Options {
    only: String,
    warm_up: Duration,
    sizes: Option<Vec<usize>>,
    out: Option<PathBuf>,
}

impl Options {
    /// `None` for `--help`.
    fn from_arguments() -> Result<Option<Self>> {
        use lexopt::Arg::{Long, Short};
        use lexopt::ValueExt as _;
        let mut options = Self {
            only: String::new(),
            warm_up: Duration::from_secs(1),
            sizes: None,
            out: None,
        };
        let mut arguments = lexopt::Parser::from_env();
        while let Some(argument) = arguments.next()? {
            match argument {
                // Cargo passes this to every benchmark.
                Long("bench") => {}
                Long("only") => options.only = arguments.value()?.string()?,
                Long("warm-up") => {
                    options.warm_up = Duration::try_from_secs_f64(arguments.value()?.parse()?)?;
                }
                Long("sizes") => {
                    let sizes = arguments.value()?.string()?;
                    let sizes = sizes.split(',').map(str::parse);
                    options.sizes = Some(sizes.collect::<std::result::Result<_, _>>()?);
                }
                Long("out") => options.out = Some(arguments.value()?.into()),
                Short('h') | Long("help") => return Ok(None),
                argument => return Err(argument.unexpected().into()),
            }
        }
        Ok(Some(options))
    }
}

fn run() -> Result {
    let Some(options) = Options::from_arguments()? else {
        print!("{HELP}");
        return Ok(());
    };
    let device = open_device()?;
    let cublas = Rivals::of_products(&device).cublas;
    let default = match device.is_simulator() {
        true => vec![256],
        false => vec![1024, 1536, 2048, 4096, 8192],
    };
    let bench = Bench {
        sizes: options.sizes.clone().unwrap_or(default),
        options,
        device,
        cublas,
    };
    println!(
        "\n{:<26} {:>9} {:>9} {:>8}  relative L2 error, and largest over u |A||B|",
        "product", "TFLOP/s", "cuBLAS", "ratio"
    );
    let mut records = Vec::new();
    bench.run_f32(&mut records)?;
    bench.run_halves::<bf16>("bf16", &mut records)?;
    bench.run_halves::<f16>("f16", &mut records)?;
    bench.run_batches::<f32>("f32", &mut records)?;
    bench.run_batches::<bf16>("bf16", &mut records)?;
    if records.is_empty() {
        return Err(format!(
            "--only {}: no product has that in its name",
            bench.options.only
        )
        .into());
    }
    if let Some(path) = &bench.options.out {
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
    sizes: Vec<usize>,
}

/// How elements are drawn.
type Draw = fn(&mut Random) -> f64;

/// What one contender reached.
struct Score {
    /// Operations per second.
    speed: f64,
    error: Option<Error>,
}

/// The error of some outputs.
struct Error {
    relative_l2: f64,
    /// The largest in units of 2^-24 of |A||B|.
    largest: f64,
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

    fn run_halves<T: MatmulElement + rivals::cublas::InF32 + Number>(
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
                if !name.contains(&self.options.only) {
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
                let ours = self.score(&mut sets, false, |a, b, c| {
                    Ok(self.device.matmul_into(a, b, c)?)
                })?;
                self.report(&name, &ours, rival.as_ref(), records);
            }
        }
        Ok(())
    }

    /// Warms the contender up, and times it.
    fn score<T: Number>(
        &self,
        sets: &mut Sets<T>,
        has_error: bool,
        mut multiply: impl FnMut(&Matrix<T>, &Matrix<T>, &mut Matrix<T>) -> Result,
    ) -> Result<Score> {
        let seconds = self.seconds(|| {
            let (a, b, c) = sets.next();
            multiply(a, b, c)
        })?;
        Ok(Score {
            speed: 2.0 * (sets.size as f64).powi(3) / seconds,
            error: if has_error { Some(sets.error()?) } else { None },
        })
    }

    /// The time of a call, warmed up.
    fn seconds(&self, mut call: impl FnMut() -> Result) -> Result<f64> {
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
            time(calls_in(self.options.warm_up).clamp(1, 1_000_000))?;
        }
        let calls = if simulated {
            1
        } else {
            calls_in(SAMPLE).max(1)
        };
        let mut samples = (0..if simulated { 1 } else { SAMPLES })
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
        let tera = |speed: Option<f64>| {
            speed.map_or("-".to_owned(), |speed| format!("{:.1}", speed * 1e-12))
        };
        println!(
            "{name:<26} {:>9} {:>9} {:>8}  {errors}",
            tera(speed),
            tera(rival_speed),
            ratio.map_or("-".to_owned(), |ratio| format!("{ratio:.3}")),
        );
        records.push(json!({
            "name": name,
            "flops": speed,
            "cublas_flops": rival_speed,
            "relative_l2": ours.error.as_ref().map(|it| it.relative_l2),
            "cublas_relative_l2": rival.and_then(|it| it.error.as_ref()).map(|it| it.relative_l2),
        }));
    }
}

/// An element of a product whose result can be read.
trait Number: Element {
    fn of(value: f64) -> Self;
    fn to_f64(self) -> f64;
}

impl Number for f32 {
    fn of(value: f64) -> Self {
        value as Self
    }
    fn to_f64(self) -> f64 {
        self.into()
    }
}

impl Number for bf16 {
    fn of(value: f64) -> Self {
        Self::from_f64(value)
    }
    fn to_f64(self) -> f64 {
        self.into()
    }
}

impl Number for f16 {
    fn of(value: f64) -> Self {
        Self::from_f64(value)
    }
    fn to_f64(self) -> f64 {
        self.into()
    }
}

/// Operands and results of products of `size` x `size` matrices, used in turns.
struct Sets<T: Element> {
    size: usize,
    order_of_b: Order,
    /// The elements of the first A and B, in their orders.
    elements: [Vec<T>; 2],
    sets: Vec<[Matrix<T>; 3]>,
    turn: usize,
}

impl<T: Number> Sets<T> {
    fn new(
        device: &Device,
        size: usize,
        order_of_b: Order,
        mut draw: impl FnMut(&mut Random) -> T,
    ) -> Result<Self> {
        let mut random = Random::new(size as u64);
        let mut elements = || -> Vec<T> { (0..size * size).map(|_| draw(&mut random)).collect() };
        let elements = [elements(), elements()];
        let bytes = 3 * size * size * size_of::<T>();
        let count = if device.is_simulator() {
            1
        } else {
            OPERAND_BYTES.div_ceil(bytes)
        };
        let set = |_| -> Result<[Matrix<T>; 3]> {
            Ok([
                device.matrix((size, size), &elements[0])?,
                device.matrix((size, size, order_of_b), &elements[1])?,
                device.matrix_zeros((size, size))?,
            ])
        };
        let sets = (0..count).map(set).collect::<Result<_>>()?;
        Ok(Self {
            size,
            order_of_b,
            elements,
            sets,
            turn: 0,
        })
    }

    fn next(&mut self) -> (&Matrix<T>, &Matrix<T>, &mut Matrix<T>) {
        self.turn = (self.turn + 1) % self.sets.len();
        let [a, b, c] = &mut self.sets[self.turn];
        (a, b, c)
    }

    /// The error of the last result, at places all over it.
    fn error(&self) -> Result<Error> {
        let c = self.sets[self.turn][2].to_vec()?;
        let [a, b] = &self.elements;
        let size = self.size;
        let mut random = Random::new(17);
        let (mut squares, mut of_error, mut largest) = (0.0, 0.0, 0.0_f64);
        for _ in 0..MEASURED {
            let at = (random.bits() % c.len() as u64) as usize;
            let (row, column) = (at / size, at % size);
            let (mut sum, mut magnitude) = (0.0, 0.0);
            for k in 0..size {
                let of_b = match self.order_of_b {
                    Order::RowMajor => b[k * size + column],
                    Order::ColumnMajor => b[column * size + k],
                };
                let term = a[row * size + k].to_f64() * of_b.to_f64();
                sum += term;
                magnitude += term.abs();
            }
            let error = c[at].to_f64() - sum;
            squares += sum * sum;
            of_error += error * error;
            largest = largest.max(error.abs() / (magnitude * (-24.0_f64).exp2()));
        }
        Ok(Error {
            relative_l2: (of_error / squares).sqrt(),
            largest,
        })
    }
}
