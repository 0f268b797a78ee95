//! Grouped products of unequal shapes: tokens times the weights of their experts.

use super::bench::{Bench, Job, Score};
use super::sets::Number;
use crate::common::Result;
use tilewright::{Matmul, MatmulGroup, MatmulInto, Matrix, Order};
use tilewright_output::figures::Row;
use tilewright_test_support::random::Random;

/// Products per group.
const EXPERTS: usize = 64;

/// Average rows of the products, which range from 8 to twice the average, in steps of 8.
const TOKENS: [usize; 3] = [16, 64, 128];

/// Columns of the experts' weights, and their rows.
const WEIGHTS: (usize, usize) = (1024, 2048);

/// A method that multiplies the first two of each three matrices into the third.
type Way<T> = fn(&mut [[Matrix<T>; 3]]) -> Result;

impl Bench {
    /// Compares one launch for all products with one for each.
    pub fn run_groups<T: MatmulInto<T> + Number>(
        &self,
        element: &str,
        rows: &mut Vec<Row>,
    ) -> Result {
        let (experts, (n, k)) = match self.device.is_simulator() {
            true => (2, (64, 64)),
            false => (EXPERTS, WEIGHTS),
        };
        for tokens in TOKENS {
            let shape = format!("{experts} of {tokens}x{n}x{k}");
            let mut job = Job {
                size: Some(tokens),
                ..Job::of_operations("group", element, shape, 0.0)
            };
            if !self.options.wants(&job.name()) {
                continue;
            }
            let mut random = Random::new(tokens as u64);
            let mut operands: Vec<[Matrix<T>; 3]> = Vec::new();
            for _ in 0..experts {
                let m = 8 * random.integer(1..=tokens as i64 / 4) as usize;
                let mut draw = |len: usize| -> Vec<T> {
                    (0..len).map(|_| T::of(random.signed_unit())).collect()
                };
                job.amount += 2.0 * m as f64 * n as f64 * k as f64;
                operands.push([
                    self.device.matrix((m, k), &draw(m * k))?,
                    self.device
                        .matrix((k, n, Order::ColumnMajor), &draw(k * n))?,
                    self.device.matrix_zeros((m, n))?,
                ]);
            }
            let ways: [(&str, &str, Way<T>); 2] = [
                ("", "matmul_grouped", in_group),
                ("one by one", "matmul", one_by_one),
            ];
            for (way, function, multiply) in ways {
                let seconds = self.seconds(|| multiply(&mut operands))?;
                self.report(&job.by(way), &Score::new(function, seconds), &[], rows);
            }
        }
        Ok(())
    }
}

fn in_group<T: MatmulInto<T> + Number>(operands: &mut [[Matrix<T>; 3]]) -> Result {
    let (mut pairs, mut results) = (Vec::new(), Vec::new());
    for [a, b, c] in operands {
        pairs.push((&*a, &*b));
        results.push(c.view_mut());
    }
    Ok(MatmulGroup::new(pairs).run_into(&mut results)?)
}

fn one_by_one<T: MatmulInto<T> + Number>(operands: &mut [[Matrix<T>; 3]]) -> Result {
    for [a, b, c] in operands {
        Matmul::new(&*a, &*b).run_into(c)?;
    }
    Ok(())
}
