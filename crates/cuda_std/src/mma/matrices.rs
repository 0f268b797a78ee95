//! Operations on fragments that both machines implement.

use super::element::{Element, Registers};
use bytemuck::Pod;

/// Registers that `ldmatrix` and `stmatrix` move: each holds 4 bytes of a matrix of 8 lines of 16 bytes.
#[doc(hidden)]
pub trait MatrixRegisters: Registers {
    /// The number of registers, and of matrices.
    const COUNT: usize;

    /// Loads `COUNT` matrices from the `len` elements at `base`.
    ///
    /// Lane `l` gives the `index` of the first element of line `l % 8` of matrix `l / 8`; lanes past the last matrix
    /// give any valid line. Lines are rows or, if `TRANSPOSED`, columns of 16-bit elements.
    ///
    /// # Safety
    /// 1. The lines lie within the elements, which are shared memory, and have been written.
    /// 2. No other thread writes them, unless a barrier orders the two.
    /// 3. `index` is a multiple of the elements in 16 bytes.
    /// 4. All threads of the warp make the call together, converged.
    unsafe fn load<T: Pod, const TRANSPOSED: bool>(
        base: *const T,
        len: usize,
        index: usize,
    ) -> Self;

    /// Stores `COUNT` matrices, with lines as for [`load`](Self::load).
    ///
    /// # Safety
    /// 1. The lines lie within the elements, which are shared memory.
    /// 2. No other thread touches them, unless a barrier orders the two.
    /// 3. `index` is a multiple of the elements in 16 bytes.
    /// 4. All threads of the warp make the call together, converged.
    unsafe fn store<T: Pod, const TRANSPOSED: bool>(self, base: *mut T, len: usize, index: usize);
}

/// Registers that an instruction loads in pairs.
#[doc(hidden)]
pub trait HalfOfMatrices: MatrixRegisters {
    /// The registers of the pair.
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

/// A product that tensor cores have: elements `Self` of A, `U` of B, and accumulators `C`.
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
    /// Adds the product to the accumulators.
    ///
    /// # Safety
    /// 1. All threads of the warp make the call together, converged.
    unsafe fn multiply(a: Self::Registers, b: U::Registers, c: C::Registers) -> C::Registers;
}
