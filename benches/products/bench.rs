//! Timing of contenders, and reporting of their speeds.

use super::options::Options;
use super::rivals::cublas::CuBlas;
use super::rivals::cublas_lt::{CuBlasLt, LtElement, LtProduct};
use super::sets::{Error, Number, Parts, Sets, Turns};
use crate::common::Result;
use crate::common::steady::Steady;
use std::rc::Rc;
use std::time::Duration;
use tilewright::{Device, Matrix};
use tilewright_output::figures::{Figure, Row, Unit};

/// Number of timed blocks of calls. The median is the result.
const SAMPLES: usize = 7;

/// Approximate duration of a sample.
const SAMPLE: Duration = Duration::from_millis(60);

/// Approximate duration of a sample, and of its warm-up, for choosing an algorithm.
const CHOICE: Duration = Duration::from_millis(15);

pub struct Bench {
    pub options: Options,
    pub device: Device,
    pub cublas: Option<Rc<CuBlas>>,
    pub cublas_lt: Option<Rc<CuBlasLt>>,
    pub sizes: Vec<usize>,
}

/// A contender: C = A B.
pub type Multiply<'a, T, O = T> = &'a dyn Fn(&Matrix<T>, &Matrix<T>, &mut Matrix<O>) -> Result;

/// A product that is timed: the head of its row.
#[derive(Clone)]
pub struct Job {
    pub work: &'static str,
    pub element: String,
    pub shape: String,
    /// Rows of square matrices, or the value on an axis.
    pub size: Option<usize>,
    /// The data, or the method.
    pub detail: String,
    pub unit: Unit,
    /// Operations, or bytes that must be read.
    pub amount: f64,
}

impl Job {
    /// A job measured in operations.
    pub fn of_operations(work: &'static str, element: &str, shape: String, amount: f64) -> Self {
        Self {
            work,
            element: element.to_owned(),
            shape,
            size: None,
            detail: String::new(),
            unit: Unit::Teraflops,
            amount,
        }
    }

    /// The product of square matrices.
    pub fn of_squares(element: &str, size: usize, detail: &str) -> Self {
        let operations = 2.0 * (size as f64).powi(3);
        Self {
            size: Some(size),
            detail: detail.to_owned(),
            ..Self::of_operations("product", element, size.to_string(), operations)
        }
    }

    /// The same job with another method.
    pub fn by(&self, way: &str) -> Self {
        let details = [self.detail.as_str(), way];
        let details: Vec<&str> = details.into_iter().filter(|it| !it.is_empty()).collect();
        Self {
            detail: details.join(", "),
            ..self.clone()
        }
    }

    /// Such as `product f32 1024, uniform [-1, 1), chain`.
    pub fn name(&self) -> String {
        self.row().name()
    }

    fn row(&self) -> Row {
        Row {
            work: self.work.to_owned(),
            element: self.element.clone(),
            shape: self.shape.clone(),
            size: self.size.map(|size| size as u64),
            detail: self.detail.clone(),
            unit: self.unit,
            in_l2: None,
            ours: Vec::new(),
            rivals: Vec::new(),
        }
    }

    /// The speed of a call, in the unit.
    fn speed(&self, seconds: f64) -> f64 {
        let amount = match self.unit {
            Unit::Gigabytes => self.amount * 1e-9,
            Unit::Teraflops => self.amount * 1e-12,
            Unit::Seconds => return seconds,
        };
        amount / seconds
    }
}

/// The result of one contender.
pub struct Score {
    /// The function, or the rival.
    pub name: &'static str,
    /// Seconds of a call.
    pub seconds: f64,
    pub error: Option<Error>,
}

impl Score {
    /// The time of a contender, without an error.
    pub fn new(name: &'static str, seconds: f64) -> Self {
        Self {
            name,
            seconds,
            error: None,
        }
    }
}

impl Bench {
    /// Warms a contender up, and times it.
    pub fn score<T: Number, O: Number>(
        &self,
        name: &'static str,
        sets: &mut Sets<T, O>,
        has_error: bool,
        mut multiply: impl FnMut(&Matrix<T>, &Matrix<T>, &mut Matrix<O>) -> Result,
    ) -> Result<Score> {
        let seconds = self.seconds(|| {
            let (a, b, c) = sets.next();
            multiply(a, b, c)
        })?;
        Ok(Score {
            error: if has_error { Some(sets.error()?) } else { None },
            ..Score::new(name, seconds)
        })
    }

    /// The scores of cuBLAS and of cuBLASLt's best algorithm, if available.
    pub fn rivals<T: Number + LtElement<Product: Number>>(
        &self,
        job: &Job,
        sets: &mut Sets<T, T::Product>,
        has_error: bool,
        multiply: impl Fn(&CuBlas, &Matrix<T>, &Matrix<T>, &mut Matrix<T::Product>) -> Result,
    ) -> Result<Vec<Score>> {
        let mut scores = Vec::new();
        if let Some(cublas) = &self.cublas {
            scores.push(self.score("cuBLAS", sets, has_error, |a, b, c| {
                multiply(cublas, a, b, c)
            })?);
        }
        scores.extend(self.lt_rival(job, sets, has_error)?);
        Ok(scores)
    }

    /// The score of cuBLASLt's best algorithm, if available.
    pub fn lt_rival<T: Number + LtElement<Product: Number>>(
        &self,
        job: &Job,
        sets: &mut Sets<T, T::Product>,
        has_error: bool,
    ) -> Result<Option<Score>> {
        let Some(mut score) = self.lt_score(job, &mut sets.turns, 1)? else {
            return Ok(None);
        };
        if has_error {
            score.error = Some(sets.error()?);
        }
        Ok(Some(score))
    }

    /// [`lt_rival`](Self::lt_rival) for operands used in turns, each of `count` products.
    pub fn lt_score<T: LtElement>(
        &self,
        job: &Job,
        turns: &mut Turns<T, T::Product>,
        count: usize,
    ) -> Result<Option<Score>> {
        self.lt_score_of(job, turns, |library, (a, b, c)| {
            library.product(count, a, b, c.view())
        })
    }

    /// [`lt_score`](Self::lt_score) of the product that `prepare` makes.
    pub fn lt_score_of<T: LtElement>(
        &self,
        job: &Job,
        turns: &mut Turns<T, T::Product>,
        prepare: impl for<'l> Fn(&'l CuBlasLt, Parts<'_, T, T::Product>) -> Result<LtProduct<'l, T>>,
    ) -> Result<Option<Score>> {
        let Some(library) = &self.cublas_lt else {
            return Ok(None);
        };
        let product = prepare(library, turns.next_parts()?);
        let product = match product {
            Ok(product) => product,
            Err(error) => {
                eprintln!("rival skipped: {}: {error}", job.name());
                return Ok(None);
            }
        };
        let chosen = product.choose(|product| {
            self.seconds_at_once(|| {
                let (a, b, c) = turns.next_parts()?;
                product.multiply(a, b, c)
            })
        });
        if let Err(error) = chosen {
            eprintln!("rival skipped: {}: {error}", job.name());
            return Ok(None);
        }
        let seconds = self.seconds(|| {
            let (a, b, c) = turns.next_parts()?;
            product.multiply(a, b, c)
        })?;
        Ok(Some(Score::new("cuBLASLt", seconds)))
    }

    /// The time of a call after warm-up.
    pub fn seconds(&self, call: impl FnMut() -> Result) -> Result<f64> {
        self.seconds_of(
            Steady {
                warm_up: self.options.warm_up,
                sample: SAMPLE,
                samples: SAMPLES,
            },
            call,
        )
    }

    /// The time of a call in a few short samples, to choose among calls.
    fn seconds_at_once(&self, call: impl FnMut() -> Result) -> Result<f64> {
        self.seconds_of(
            Steady {
                warm_up: CHOICE,
                sample: CHOICE,
                samples: 3,
            },
            call,
        )
    }

    fn seconds_of(&self, steady: Steady, mut call: impl FnMut() -> Result) -> Result<f64> {
        let steady = match self.device.is_simulator() {
            true => Steady::ONCE,
            false => steady,
        };
        steady.seconds(|calls| {
            let start = self.device.record_event()?;
            (0..calls).try_for_each(|_| call())?;
            Ok(self.device.record_event()?.elapsed_since(&start)?)
        })
    }

    /// Prints and keeps a row. Returns the fastest rival's time over ours.
    pub fn report(
        &self,
        job: &Job,
        ours: &Score,
        rivals: &[Score],
        rows: &mut Vec<Row>,
    ) -> Option<f64> {
        let figure = |score: &Score| Figure {
            // The simulator's time says nothing about a GPU's, so it has no speed.
            value: (!self.device.is_simulator()).then(|| job.speed(score.seconds)),
            seconds: Some(score.seconds),
            relative_l2: score.error.as_ref().map(|it| it.relative_l2),
            ..Figure::new(score.name, None)
        };
        let row = Row {
            ours: vec![figure(ours)],
            rivals: rivals.iter().map(figure).collect(),
            ..job.row()
        };
        let ours_figure = &row.ours[0];
        let rival = row.strongest_rival(|_| true);
        let ratio = rival.and_then(|rival| row.ratio(ours_figure, rival));
        let error = |score: Option<&Score>| {
            let error = score.and_then(|it| it.error.as_ref());
            error.map_or(String::new(), |it| {
                format!("{:.2e} {:.2}", it.relative_l2, it.largest)
            })
        };
        let of_rival = rival.and_then(|it| rivals.iter().find(|score| score.name == it.name));
        let text = |figure: Option<&Figure>| {
            let value = figure.and_then(|it| it.value);
            value.map_or("-".to_owned(), |value| format!("{value:.1}"))
        };
        println!(
            "{:<48} {:>7} {:<7} {:>7} {:<8} {:>5}  {} ({})",
            row.name(),
            text(Some(ours_figure)),
            job.unit.symbol(),
            text(rival),
            rival.map_or("", |it| it.name.as_str()),
            ratio.map_or("-".to_owned(), |ratio| format!("{ratio:.3}")),
            error(Some(ours)),
            error(of_rival),
        );
        rows.push(row);
        ratio
    }

    /// Prints the geometric mean of the ratios, and the least.
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
