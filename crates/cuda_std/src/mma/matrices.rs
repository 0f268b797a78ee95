//! What the two machines do with fragments.

use super::element::{Element, Registers};
use bytemuck::Pod;

/// Registers that `ldmatrix` and `stmatrix` move: each holds a row of 4 bytes of a matrix of 8 lines
/// of 16 bytes.
#[doc(hidden)]
pub trait MatrixRegisters: Registers {
    /// How many registers, and matrices.
    const COUNT: usize;

    /// Loads `COUNT` matrices. Lane `l` names line `l % 8` of matrix `l / 8` by its first element,
    /// number `index` of the `len` elements at `base`; those past the last matrix name a line that
    /// is there. Where a matrix is `TRANSPOSED`, whose elements have 16 bits, its lines are columns.
    ///
    /// # Safety
    /// 1. The lines lie within the elements, which are shared memory, and have been written.
    /// 2. No other thread writes them, unless a barrier orders the two.
    /// 3. `index` is a multiple of 16 bytes.
    /// 4. All threads of the warp make the call together: none has branched away.
    unsafe fn load<T: Pod, const TRANSPOSED: bool>(
        base: *const T,
        len: usize,
        index: usize,
    ) -> Self;

    /// Stores `COUNT` matrices; lines are named as for [`load`](Self::load).
    ///
    /// # Safety
    /// 1. The lines lie within the elements, which are shared memory.
    /// 2. No other thread touches them, unless a barrier orders the two.
    /// 3. `index` is a multiple of 16 bytes.
    /// 4. All threads of the warp make the call together: none has branched away.
    unsafe fn store<T: Pod, const TRANSPOSED: bool>(self, base: *mut T, len: usize, index: usize);
}

/// Registers of which an instruction loads two sets at once.
#[doc(hidden)]
pub trait HalfOfMatrices: MatrixRegisters {
    /// Both.
    type Pair: MatrixRegisters;

    fn halves(pair: Self::Pair) -> [Self; 2];
}

impl HalfOfMatrices for [u32; 1] {
    type Pair = [u32; 2];

    #[inline(always)]
    fn halves([first, second]: [u32; 2]) -> [Self; 2] {
        [[first], [second]]
    }
}

impl HalfOfMatrices for [u32; 2] {
    type Pair = [u32; 4];

    #[inline(always)]
    fn halves([first, second, third, fourth]: [u32; 4]) -> [Self; 2] {
        [[first, second], [third, fourth]]
    }
}

/// A product that the machine has, of A with elements `Self`, B with elements `U` and accumulators
/// `C`.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "tensor cores do not multiply {M} x {K} elements `{Self}` with {K} x {N} elements `{U}` to `{C}`",
    note = "the documentation of `cuda_std::mma` lists the products"
)]
pub trait Multiply<U, C, const M: usize, const N: usize, const K: usize>: Element<M, K>
where
    U: Element<K, N>,
    C: Element<M, N>,
{
    /// The accumulators with the product added.
    ///
    /// # Safety
    /// 1. All threads of the warp make the call together: none has branched away.
    unsafe fn multiply(a: Self::Registers, b: U::Registers, c: C::Registers) -> C::Registers;
}
