//! How contenders are timed, and their speeds reported.

use super::options::Options;
use super::rivals::cublas::CuBlas;
use super::rivals::cublas_lt::{CuBlasLt, LtElement};
use super::sets::{Error, Number, Sets};
use crate::common::Result;
use crate::common::steady::Steady;
use serde_json::json;
use std::rc::Rc;
use std::time::Duration;
use tilewright::{Device, Matrix};

/// Blocks of calls that are timed, of which the median counts.
const SAMPLES: usize = 7;

/// How long a sample lasts, about.
const SAMPLE: Duration = Duration::from_millis(60);

pub struct Bench {
    pub options: Options,
    pub device: Device,
    pub cublas: Option<Rc<CuBlas>>,
    pub cublas_lt: Option<Rc<CuBlasLt>>,
    pub sizes: Vec<usize>,
}

/// A contender: C = A B.
pub type Multiply<'a, T, O = T> = &'a dyn Fn(&Matrix<T>, &Matrix<T>, &mut Matrix<O>) -> Result;

/// What a speed counts.
#[derive(Clone, Copy)]
pub enum Unit {
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
pub struct Score {
    /// So many of the unit per second.
    pub speed: f64,
    pub unit: Unit,
    pub error: Option<Error>,
    /// The library, if it is a rival.
    library: &'static str,
}

impl Score {
    /// Of one of our products or of cuBLAS, without an error.
    pub fn new(speed: f64, unit: Unit) -> Self {
        Self {
            speed,
            unit,
            error: None,
            library: "cuBLAS",
        }
    }

    /// The score of a product of cuBLASLt instead.
    pub fn of_lt(self) -> Self {
        Self {
            library: "cuBLASLt",
            ..self
        }
    }
}

impl Bench {
    /// Warms the contender up, and times it.
    pub fn score<T: Number, O: Number>(
        &self,
        sets: &mut Sets<T, O>,
        has_error: bool,
        mut multiply: impl FnMut(&Matrix<T>, &Matrix<T>, &mut Matrix<O>) -> Result,
    ) -> Result<Score> {
        let seconds = self.seconds(|| {
            let (a, b, c) = sets.next();
            multiply(a, b, c)
        })?;
        let speed = 2.0 * (sets.size as f64).powi(3) / seconds;
        Ok(Score {
            error: if has_error { Some(sets.error()?) } else { None },
            ..Score::new(speed, Unit::Operations)
        })
    }

    /// The score of a call of cuBLAS or of the best of cuBLASLt's algorithms, whichever is faster; none where
    /// neither is there.
    pub fn fastest_rival<T: Number + LtElement<Product: Number>>(
        &self,
        sets: &mut Sets<T, T::Product>,
        has_error: bool,
        multiply: impl Fn(&CuBlas, &Matrix<T>, &Matrix<T>, &mut Matrix<T::Product>) -> Result,
    ) -> Result<Option<Score>> {
        let cublas = self.rival(sets, has_error, multiply)?;
        let lt = self.lt_rival(sets, has_error)?;
        let scores = [cublas, lt].into_iter().flatten();
        Ok(scores.max_by(|left, right| left.speed.total_cmp(&right.speed)))
    }

    /// The score of the best of cuBLASLt's algorithms; none where it is not there.
    pub fn lt_rival<T: Number + LtElement<Product: Number>>(
        &self,
        sets: &mut Sets<T, T::Product>,
        has_error: bool,
    ) -> Result<Option<Score>> {
        let Some(cublas) = &self.cublas_lt else {
            return Ok(None);
        };
        let size = sets.size;
        let product = cublas.product((size, size, size), sets.order_of_b())?;
        product.choose(|product| {
            self.seconds_at_once(|| {
                let (a, b, c) = sets.next();
                product.multiply(a, b, c)
            })
        })?;
        let score = self.score(sets, has_error, |a, b, c| product.multiply(a, b, c))?;
        Ok(Some(score.of_lt()))
    }

    /// The score of a call of cuBLAS; none where it is not there.
    pub fn rival<T: Number, O: Number>(
        &self,
        sets: &mut Sets<T, O>,
        has_error: bool,
        multiply: impl Fn(&CuBlas, &Matrix<T>, &Matrix<T>, &mut Matrix<O>) -> Result,
    ) -> Result<Option<Score>> {
        let Some(cublas) = &self.cublas else {
            return Ok(None);
        };
        let score = self.score(sets, has_error, |a, b, c| multiply(cublas, a, b, c));
        score.map(Some)
    }

    /// The time of a call, warmed up.
    pub fn seconds(&self, call: impl FnMut() -> Result) -> Result<f64> {
        self.seconds_after(self.options.warm_up, SAMPLES, call)
    }

    /// The same in a few samples after a short time, to choose among calls.
    pub fn seconds_at_once(&self, call: impl FnMut() -> Result) -> Result<f64> {
        self.seconds_after(SAMPLE, 3, call)
    }

    fn seconds_after(
        &self,
        warm_up: Duration,
        samples: usize,
        mut call: impl FnMut() -> Result,
    ) -> Result<f64> {
        let steady = match self.device.is_simulator() {
            true => Steady::ONCE,
            false => Steady {
                warm_up,
                sample: SAMPLE,
                samples,
            },
        };
        steady.seconds(|calls| {
            let start = self.device.record_event()?;
            (0..calls).try_for_each(|_| call())?;
            Ok(self.device.record_event()?.elapsed_since(&start)?)
        })
    }

    pub fn report(
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
                format!("{} ({})", error(ours), error(rival))
            }
            _ => error(ours),
        };
        let text = |speed: Option<f64>| speed.map_or("-".to_owned(), |speed| ours.unit.text(speed));
        println!(
            "{name:<26} {:>7} {:>6} {:>5}  {errors}",
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
            "rival": rival.map(|it| it.library),
            "relative_l2": ours.error.as_ref().map(|it| it.relative_l2),
            "cublas_relative_l2": rival.and_then(|it| it.error.as_ref()).map(|it| it.relative_l2),
        }));
    }
}
