//! Exact products of square matrices, beside cuBLAS's, which are not exact.

use super::bench::{Bench, Job};
use super::rivals::cublas::Gemm;
use super::rivals::cublas_lt::LtElement;
use super::sets::{Number, Sets};
use super::squares::{DATA, Line};
use crate::common::Result;
use tilewright::{ChainElement, Matmul, Order};
use tilewright_output::figures::Row;

impl Bench {
    pub fn run_exact<T: ChainElement + Gemm + LtElement<Product = T> + Number>(
        &self,
        element: &'static str,
        rows: &mut Vec<Row>,
    ) -> Result {
        for &size in &self.sizes {
            for data in &DATA {
                let job = Job {
                    work: "exact",
                    ..Job::of_squares(element, size, data.name)
                };
                if !self.options.wants(&job.name()) {
                    continue;
                }
                let mut drawn = 0;
                let mut sets = Sets::<T>::new(&self.device, size, Order::RowMajor, |random| {
                    let (number, of_a) = (drawn / size, size);
                    drawn += 1;
                    T::of((data.draw)(random, Line { number, of_a }))
                })?;
                let rivals = self.rivals(&job, &mut sets, true, |cublas, a, b, c| {
                    cublas.multiply(a, b, c, 1)
                })?;
                let ours = self.score("matmul_exact", &mut sets, true, |a, b, c| {
                    Ok(self.device.matmul_exact_into(a, b, c)?)
                })?;
                self.report(&job, &ours, &rivals, rows);
                if data.name == DATA[0].name && !self.options.as_selected {
                    let (_, b, _) = sets.next();
                    let b = b.view().to_matrix()?;
                    let b = self.device.prepare_exact(&b)?;
                    let prepared = self.score("matmul_exact", &mut sets, false, |a, _, c| {
                        Ok(Matmul::with_prepared(a, &b).run_into(c)?)
                    })?;
                    self.report(&job.by("B prepared"), &prepared, &rivals, rows);
                }
            }
        }
        Ok(())
    }
}
