//! Softmax, its logarithm and normalisation of rows, ours and torch's, of 256 MB each.

use super::Result;
use super::cases::Case;
use super::contest::Contest;
use super::samples::check_each;
use crate::rivals::Rivals;
use crate::rivals::torch::Job;
use half::{bf16, f16};
use std::marker::PhantomData;
use tilewright::{Device, Matrix, Normalization, RowElement};
use tilewright_test_support::random::Random;

/// Bytes of a matrix on a GPU and on the simulator.
const BYTES: [usize; 2] = [1 << 28, 1 << 14];

/// Lengths of rows on a GPU: the last is the vocabulary of GPT-2, whose rows are not aligned.
const LENGTHS: [usize; 9] = [
    64, 256, 1000, 4096, 16_384, 32_768, 131_072, 262_144, 50_257,
];

/// Elements of the results that are compared with f64, whole rows of them.
pub const COMPARED: usize = 100_000;

/// The number added to a variance; torch.py has the same.
const EPSILON: f32 = 1e-5;

/// The operations to measure on `device`.
pub fn cases(device: &Device) -> Vec<Case> {
    let lengths: &[usize] = match device.is_simulator() {
        true => &[64, 1000],
        false => &LENGTHS,
    };
    let of_length = |&len: &usize| {
        [
            case::<f32, Softmax>(device, len),
            case::<bf16, Softmax>(device, len),
            case::<f16, Softmax>(device, len),
            case::<f32, LogSoftmax>(device, len),
            case::<f32, RmsNorm>(device, len),
            case::<bf16, RmsNorm>(device, len),
            case::<f32, LayerNorm>(device, len),
            case::<bf16, LayerNorm>(device, len),
        ]
    };
    lengths.iter().flat_map(of_length).collect()
}

/// The elements of a matrix with rows of `len` elements, and their period.
pub fn elements<T: Sample>(device: &Device, len: usize) -> (Vec<T>, Vec<f32>) {
    let period = period(len);
    let of_period = period.iter().map(|&x| T::of(x)).cycle();
    let elements = of_period.take(rows::<T>(device, len) * len).collect();
    (elements, period)
}

/// An element type, and the largest relative error of a result that is accepted, also of a rival.
pub trait Sample: RowElement {
    const NAME: &'static str;
    const ERROR: f64;
    /// The distance of the smallest results, if it matters.
    const SMALLEST: f64;

    fn of(value: f32) -> Self;
    fn wide(self) -> f64;
}

macro_rules! samples {
    ($($element:ident $error:expr, $smallest:expr, $of:expr;)*) => {$(
        impl Sample for $element {
            const NAME: &'static str = stringify!($element);
            const ERROR: f64 = $error;
            const SMALLEST: f64 = $smallest;

            fn of(value: f32) -> Self {
                $of(value)
            }

            fn wide(self) -> f64 {
                self.into()
            }
        }
    )*};
}
samples! {
    f32 1e-5, 0.0, core::convert::identity;
    bf16 1e-2, 0.0, bf16::from_f32;
    f16 1e-3, 6e-8, f16::from_f32;
}

/// An operation on rows.
trait Operation: 'static {
    const NAME: &'static str;

    /// The largest absolute error that is accepted besides the relative one.
    const ERROR: f64;

    fn run<T: RowElement>(device: &Device, x: &Matrix<T>, y: &mut Matrix<T>) -> Result;

    /// The results of a row.
    fn reference(row: &[f64]) -> Vec<f64>;
}

struct Softmax;
struct LogSoftmax;
struct RmsNorm;
struct LayerNorm;

/// The largest element, and the sum of e^(x - largest).
pub fn terms(row: &[f64]) -> (f64, f64) {
    let largest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    (largest, row.iter().map(|x| (x - largest).exp()).sum())
}

impl Operation for Softmax {
    const NAME: &'static str = "softmax";
    const ERROR: f64 = 1e-12;

    fn run<T: RowElement>(device: &Device, x: &Matrix<T>, y: &mut Matrix<T>) -> Result {
        Ok(device.softmax_into(x, y)?)
    }

    fn reference(row: &[f64]) -> Vec<f64> {
        let (largest, sum) = terms(row);
        row.iter().map(|x| (x - largest).exp() / sum).collect()
    }
}

impl Operation for LogSoftmax {
    const NAME: &'static str = "log_softmax";
    const ERROR: f64 = 1e-5;

    fn run<T: RowElement>(device: &Device, x: &Matrix<T>, y: &mut Matrix<T>) -> Result {
        Ok(device.log_softmax_into(x, y)?)
    }

    fn reference(row: &[f64]) -> Vec<f64> {
        let (largest, sum) = terms(row);
        row.iter().map(|x| x - largest - sum.ln()).collect()
    }
}

/// Normalised elements.
fn normalized(row: &[f64], mean: f64) -> Vec<f64> {
    let variance = row.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / row.len() as f64;
    let root = (variance + f64::from(EPSILON)).sqrt();
    row.iter().map(|x| (x - mean) / root).collect()
}

impl Operation for RmsNorm {
    const NAME: &'static str = "rms_norm";
    const ERROR: f64 = 1e-5;

    fn run<T: RowElement>(_device: &Device, x: &Matrix<T>, y: &mut Matrix<T>) -> Result {
        Ok(Normalization::rms(EPSILON).run_into(x, y)?)
    }

    fn reference(row: &[f64]) -> Vec<f64> {
        normalized(row, 0.0)
    }
}

impl Operation for LayerNorm {
    const NAME: &'static str = "layer_norm";
    const ERROR: f64 = 1e-5;

    fn run<T: RowElement>(_device: &Device, x: &Matrix<T>, y: &mut Matrix<T>) -> Result {
        Ok(Normalization::layer(EPSILON).run_into(x, y)?)
    }

    fn reference(row: &[f64]) -> Vec<f64> {
        normalized(row, row.iter().sum::<f64>() / row.len() as f64)
    }
}

/// Rows of `len` elements in a matrix on `device`.
pub fn rows<T>(device: &Device, len: usize) -> usize {
    BYTES[usize::from(device.is_simulator())] / size_of::<T>() / len
}

pub fn label<T>(device: &Device, len: usize) -> String {
    format!("{}x{len}", rows::<T>(device, len))
}

fn case<T: Sample, O: Operation>(device: &Device, len: usize) -> Case {
    Case {
        name: format!("{} {} {}", O::NAME, T::NAME, label::<T>(device, len)),
        size: len,
        device_bytes: 2 * (rows::<T>(device, len) * len * size_of::<T>()) as u64,
        build: contest::<T, O>,
    }
}

/// The period of the elements, which are from -4 to 4.
fn period(len: usize) -> Vec<f32> {
    let mut random = Random::new(len as u64);
    let element = |_| (4.0 * random.symmetric(7)) as f32;
    (0..1_000_003).map(element).collect()
}

/// The first results, in f64.
struct Expected<T, O> {
    results: Vec<f64>,
    kind: PhantomData<(T, O)>,
}

impl<T: Sample, O: Operation> Expected<T, O> {
    fn new(elements: &[T], len: usize) -> Self {
        let count = COMPARED.max(len).min(elements.len()) / len * len;
        let wide: Vec<f64> = elements[..count].iter().map(|x| x.wide()).collect();
        Self {
            results: wide.chunks(len).flat_map(O::reference).collect(),
            kind: PhantomData,
        }
    }

    /// Fails unless `found` begins with the results.
    fn check(&self, found: &[f64]) -> Result {
        let error = |y: f64| T::ERROR * y.abs() + O::ERROR + T::SMALLEST;
        check_each(found, &self.results, error)
    }
}

fn contest<T: Sample, O: Operation>(
    device: &Device,
    rivals: &Rivals,
    len: usize,
) -> Result<Contest> {
    let count = rows::<T>(device, len);
    let (elements, period) = elements::<T>(device, len);
    let expected = Expected::<T, O>::new(&elements, len);
    let x = device.matrix((count, len), &elements)?;
    let bytes = 2 * (count * len * size_of::<T>()) as u64;
    let size = (len, label::<T>(device, len));
    let mut contest = Contest::of_bytes(device, O::NAME, T::NAME, size, bytes);
    let of_device = device.clone();
    contest.admit(
        O::NAME,
        device.matrix_zeros::<T>((count, len))?,
        move |calls, y| {
            for _ in 0..calls {
                O::run(&of_device, &x, y)?;
            }
            Ok(())
        },
        |y| {
            let first = expected.results.len() / len;
            let found = y.view().slice(..first, ..)?.to_vec()?;
            expected.check(&found.into_iter().map(T::wide).collect::<Vec<_>>())
        },
    )?;
    let (shape, kind) = ([count, len], (O::NAME, T::NAME));
    let job = Job {
        compared: Some(expected.results.len()),
        ..Job::of_period(kind, &shape, &period)
    };
    contest.admit_torch(rivals, &job, |found| expected.check(found));
    Ok(contest)
}
