//! The tensor core's arithmetic: the bits of one element of a matrix product.
//!
//! A tensor core does not round as IEEE 754 does. It multiplies a few pairs exactly, aligns the products and the
//! accumulator to the largest exponent among them, truncates each to a fixed number of bits, adds them exactly, and
//! rounds the sum once. The number of pairs, the number of bits and the rounding differ between instructions and
//! generations. So each instruction is a value here: [`FloatUnit`] for floating-point accumulators, [`IntegerUnit`]
//! for integers and [`DoubleUnit`] for `f64`. [`EmulatedUnit`] models an instruction that the chip lacks, and that the
//! assembler replaces. [`wgmma`] and [`WarpUnits`] name the instructions.
//!
//! The model has the form of "MMA-Sim: Bit-Accurate Reference Model of Tensor Cores and
//! Matrix Cores" (arXiv 2511.10909) and "Accurate Models of NVIDIA Tensor Cores"
//! (arXiv 2512.07004). `docs/tensor_cores.md` says which constants were measured, on which chip,
//! and with how many products.

mod double;
mod emulated;
mod float;
mod format;
mod integer;
mod operands;
mod rounding;
mod units;

pub use double::DoubleUnit;
pub use emulated::EmulatedUnit;
pub use float::FloatUnit;
pub use format::Format;
pub use integer::{IntegerUnit, Overflow};
pub use operands::Operands;
pub use rounding::{Rounding, Sum};
pub use units::{F64, S8, U8, WarpUnits, wgmma};

/// Updates each accumulator by a row of A and a column of B.
fn each_output<T, C: Copy>(
    k: usize,
    a: &[T],
    b: &[T],
    c: &mut [C],
    dot: impl Fn(&[T], &[T], C) -> C,
) {
    let columns = b.len() / k;
    assert_eq!(
        c.len(),
        a.len() / k * columns,
        "an accumulator for each row of A and column of B"
    );
    for (row, outputs) in a.chunks_exact(k).zip(c.chunks_exact_mut(columns)) {
        for (column, output) in b.chunks_exact(k).zip(outputs) {
            *output = dot(row, column, *output);
        }
    }
}
