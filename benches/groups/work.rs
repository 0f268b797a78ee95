//! The timed work, on one device and on all.

use super::options::Options;
use super::torch;
use crate::common::Result;
use crate::common::steady::Steady;
use crate::common::sums::label;
use std::time::{Duration, Instant};
use tilewright::{
    Arithmetic, DeviceGroup, Element, Matmul, MatmulElement, MatmulInto, ShardedMatmul, Sharding,
};
use tilewright_output::figures::{Figure, Row, Unit};
use tilewright_test_support::random::Random;

/// The period of random elements: a prime, so that no two rows of a matrix are equal.
const PERIOD: usize = 1_000_003;

/// The shardings of B, and their names.
const SHARDINGS: [(Sharding, &str); 2] = [
    (Sharding::Replicated, "B replicated"),
    (Sharding::Columns, "B gathered"),
];

pub struct Bench {
    pub group: DeviceGroup,
    pub options: Options,
    /// The version of torch, if available.
    pub torch: Option<String>,
    pub rows: Vec<Row>,
}

/// An element type of products, made from random numbers.
pub trait Number:
    MatmulElement<Product: Element> + MatmulInto<<Self as MatmulElement>::Product>
{
    fn of(value: f64) -> Self;
}

impl Number for f32 {
    fn of(value: f64) -> Self {
        value as Self
    }
}

impl Number for half::bf16 {
    fn of(value: f64) -> Self {
        Self::from_f64(value)
    }
}

fn data<T: Number>(len: usize) -> Vec<T> {
    let mut random = Random::new(len as u64);
    let period = (0..PERIOD.min(len)).map(|_| T::of(random.signed_unit()));
    let mut data: Vec<T> = period.collect();
    while data.len() < len {
        data.extend_from_within(..PERIOD.min(len - data.len()));
    }
    data
}

impl Bench {
    pub fn new(group: DeviceGroup, options: Options, torch: Option<String>) -> Self {
        Self {
            group,
            options,
            torch,
            rows: Vec::new(),
        }
    }

    /// The sum of `elements` f32, with the result on the host.
    pub fn sum(&mut self, elements: usize) -> Result {
        let row = row("sum", "f32", elements, "");
        let name = row.name();
        if !name.contains(&self.options.only) {
            return Ok(());
        }
        let data = data::<f32>(elements);
        let device = &self.group.devices()[0];
        let x = device.upload(&data)?;
        let expected = device.reduce_sum(&x)?;
        let one = self.seconds(|| device.reduce_sum(&x).map(drop))?;
        drop(x);
        let x = self.group.upload(&data)?;
        let found = self.group.reduce_sum(&x)?;
        if found.to_bits() != expected.to_bits() {
            return Err(format!("{name}: {found} instead of {expected}").into());
        }
        let all = self.seconds(|| self.group.reduce_sum(&x).map(drop))?;
        self.report(row, Some(one), all, None);
        Ok(())
    }

    /// An all-gather of `elements` f32 of each device: the speed of the links.
    pub fn gather(&mut self, elements: usize) -> Result {
        let row = row("gather", "f32", elements, "of each");
        let name = row.name();
        if !name.contains(&self.options.only) {
            return Ok(());
        }
        let data = data::<f32>(elements);
        let own = (self.group.devices().iter()).map(|device| device.upload(&data));
        let own = own.collect::<tilewright::Result<Vec<_>>>()?;
        let all = self.group.all_gather(&own)?;
        if all
            .iter()
            .any(|it| it.len() != elements * self.group.ranks())
        {
            return Err(format!("{name}: a buffer of another length").into());
        }
        drop(all);
        let all = self.seconds(|| self.group.all_gather(&own).map(drop))?;
        self.report(row, None, all, None);
        Ok(())
    }

    /// The product of two square matrices.
    pub fn product<T: Number<Product: PartialEq>>(
        &mut self,
        element: &str,
        size: usize,
        arithmetic: Arithmetic,
    ) -> Result {
        let chain = if arithmetic == Arithmetic::Chain {
            ", chain"
        } else {
            ""
        };
        let row = |of_b: &str| row("product", element, size, &format!("{of_b}{chain}"));
        let wanted = SHARDINGS.map(|(_, of_b)| row(of_b).name().contains(&self.options.only));
        if !wanted.contains(&true) {
            return Ok(());
        }
        let (shape, data) = ((size, size), data::<T>(size * size));
        let device = &self.group.devices()[0];
        let a = device.matrix(shape, &data)?;
        let mut c = device.matrix_zeros::<T::Product>(shape)?;
        let product = Matmul::new(&a, &a).arithmetic(arithmetic);
        let one = self.seconds(|| product.run_into(&mut c))?;
        let expected = c.to_vec()?;
        drop((a, c));
        let a = self.group.matrix(shape, &data, Sharding::Rows)?;
        for ((sharding, of_b), _) in SHARDINGS.iter().zip(wanted).filter(|(_, wanted)| *wanted) {
            let b = self.group.matrix(shape, &data, *sharding)?;
            let product = ShardedMatmul::new(&a, &b).arithmetic(arithmetic);
            let mut c = product.run()?;
            if c.to_vec()? != expected {
                return Err(format!("{}: other bits than on one device", row(of_b).name()).into());
            }
            let all = self.seconds(|| product.run_into(&mut c))?;
            let gathers = *sharding == Sharding::Columns && arithmetic == Arithmetic::Auto;
            let torch = gathers.then(|| self.torch_seconds(element, size)).flatten();
            self.report(row(of_b), Some(one), all, torch);
        }
        Ok(())
    }

    /// torch's seconds for the same product, if available.
    fn torch_seconds(&self, element: &str, size: usize) -> Option<f64> {
        self.torch.as_ref()?;
        let ranks = self.group.ranks();
        torch::seconds(ranks, element, size, self.steady())
            .inspect_err(|error| eprintln!("rival skipped: torch, {element} {size}: {error}"))
            .ok()
    }

    fn steady(&self) -> Steady {
        match self.group.devices()[0].is_simulator() {
            true => Steady::ONCE,
            false => Steady {
                warm_up: self.options.warm_up,
                sample: Duration::from_millis(100),
                samples: 7,
            },
        }
    }

    /// Seconds of a call, until all devices are done.
    fn seconds(&self, mut call: impl FnMut() -> tilewright::Result<()>) -> Result<f64> {
        self.steady().seconds(|calls| {
            self.group.synchronize()?;
            let start = Instant::now();
            (0..calls).try_for_each(|_| call())?;
            self.group.synchronize()?;
            Ok(start.elapsed())
        })
    }

    fn report(&mut self, row: Row, one: Option<f64>, all: f64, torch: Option<f64>) {
        // The simulator's time says nothing about a GPU's.
        let simulated = self.group.devices()[0].is_simulator();
        let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
        let milliseconds = |seconds: f64| format!("{:.3}", seconds * 1e3);
        let times = |other: Option<f64>| {
            let other = other.filter(|_| !simulated);
            or_dash(other.map(|other| format!("{:.2}", other / all)))
        };
        println!(
            "{:<40} {:>10} {:>10} {:>7} {:>10} {:>7}",
            row.name(),
            or_dash(one.map(milliseconds)),
            milliseconds(all),
            times(one),
            or_dash(torch.map(milliseconds)),
            times(torch),
        );
        let figure = |name: &str, seconds: f64| Figure {
            seconds: Some(seconds),
            ..Figure::new(name, Some(seconds).filter(|_| !simulated))
        };
        let mut ours = vec![figure("all", all)];
        ours.extend(one.map(|seconds| figure("one", seconds)));
        self.rows.push(Row {
            ours,
            rivals: Vec::from_iter(torch.map(|seconds| figure("torch", seconds))),
            ..row
        });
    }
}

/// The head of a row: elements of an array, or rows of square matrices.
fn row(work: &str, element: &str, size: usize, detail: &str) -> Row {
    Row {
        work: work.to_owned(),
        element: element.to_owned(),
        shape: match work {
            "product" => size.to_string(),
            _ => label(size),
        },
        size: Some(size as u64),
        detail: detail.to_owned(),
        unit: Unit::Seconds,
        in_l2: None,
        ours: Vec::new(),
        rivals: Vec::new(),
    }
}
