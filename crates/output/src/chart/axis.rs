//! A binary logarithmic axis with a tick at each point.

use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use std::ops::Range;

/// Space on both sides of the points, in binary logarithms.
const SIDE: f64 = 0.15;

/// The axis. `plotters` has a logarithmic one, but without ticks of the caller's choice.
#[derive(Clone, Debug)]
pub(super) struct LogAxis {
    /// In order.
    ticks: Vec<f64>,
    logarithms: Range<f64>,
}

impl LogAxis {
    /// An axis for these numbers, which are positive; none without numbers.
    pub(super) fn of(numbers: impl Iterator<Item = f64>) -> Option<Self> {
        let mut ticks: Vec<f64> = numbers.collect();
        ticks.sort_by(f64::total_cmp);
        ticks.dedup();
        let logarithms = ticks.first()?.log2() - SIDE..ticks.last()?.log2() + SIDE;
        Some(Self { ticks, logarithms })
    }
}

impl Ranged for LogAxis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (start, end): (i32, i32)) -> i32 {
        let Range {
            start: low,
            end: high,
        } = self.logarithms;
        let share = (value.log2() - low) / (high - low);
        start + (share * f64::from(end - start)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.ticks.clone()
    }

    fn range(&self) -> Range<f64> {
        self.logarithms.start.exp2()..self.logarithms.end.exp2()
    }
}

impl ValueFormatter<f64> for LogAxis {
    /// Powers of two from 2^16 on are written by their exponent.
    fn format(number: &f64) -> String {
        const SUPERSCRIPTS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
        let exponent = number.log2();
        if exponent < 16.0 || exponent.fract() != 0.0 {
            return number.to_string();
        }
        let digits = exponent.to_string();
        let digits = digits
            .bytes()
            .map(|digit| SUPERSCRIPTS[usize::from(digit - b'0')]);
        ['2'].into_iter().chain(digits).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::LogAxis;
    use plotters::coord::ranged1d::{Ranged as _, ValueFormatter as _};

    #[test]
    fn sizes_are_numbers_or_powers_of_two() {
        let label = |number: u32| LogAxis::format(&number.into());
        assert_eq!(label(1024), "1024");
        assert_eq!(label(65_537), "65537");
        assert_eq!(label(1 << 16), "2¹⁶");
        assert_eq!(label(1 << 30), "2³⁰");
    }

    #[test]
    fn points_lie_within_the_axis() {
        let axis = LogAxis::of([64.0, 1.0, 8.0, 8.0].into_iter()).unwrap();
        let places = [1.0, 8.0, 64.0].map(|number| axis.map(&number, (0, 630)));
        assert_eq!(places, [15, 315, 615]);
    }
}
