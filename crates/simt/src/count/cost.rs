//! The cost of one request.

use super::banks;
use super::coalescing::coalesce;
use super::footprint::Footprint;
use super::operation::{Arithmetic, Operation};
use super::span::Span;
use super::tally::Tally;

/// The cost of one request of the lanes in `mask`. Its sectors of global memory are added to the
/// footprints of reads and of writes.
pub(super) fn cost(
    operation: Operation,
    mask: u64,
    spans: &[Span],
    footprints: &mut (&mut Footprint, &mut Footprint),
) -> Tally {
    let lanes = u64::from(mask.count_ones());
    let mut tally = Tally {
        requests: 1,
        lanes,
        ..Tally::default()
    };
    let taking_part = spans
        .iter()
        .copied()
        .enumerate()
        .filter(|(lane, _)| mask >> lane & 1 == 1);
    match operation {
        Operation::Arithmetic(kind @ Arithmetic::MulAddF64) => {
            tally.flops_f64 = lanes * kind.flops();
        }
        Operation::Arithmetic(kind) => tally.flops_f32 = lanes * kind.flops(),
        Operation::TensorProduct { operations } => tally.tensor_operations = operations.into(),
        _ if operation.is_global() => {
            let mut spans: Vec<Span> = taking_part.map(|(_, span)| span).collect();
            tally.global = coalesce(&mut spans);
            if operation.reads_global() {
                footprints.0.add(&spans);
            }
            if operation.writes_global() {
                footprints.1.add(&spans);
            }
        }
        _ if operation.is_shared() => {
            let lanes: Vec<_> = taking_part.collect();
            tally.shared = banks::serve(operation, &lanes);
        }
        _ => {}
    }
    tally
}
