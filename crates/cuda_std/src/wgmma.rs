//! Asynchronous products of a warpgroup on tensor cores, with operands in shared memory.
//!
//! Three types track the accumulators, so that nothing reads them while products write them:
//!
//! ```text
//! Accumulator --overwrite() or accumulate()--> InFlight --begin()--> Products
//!      ^                                        |   ^                   |
//!      '---------------- wait() ----------------'   '---- commit() -----'
//! ```
//!
//! Accumulators in flight cannot be read:
//!
//! ```compile_fail,E0599
//! # use cuda_std::wgmma::M64N64;
//! # // SAFETY: it is not run.
//! let mut products = unsafe { M64N64::zero().accumulate() }.begin();
//! let early = products.commit().get(0);
//! ```
//!
//! and the original accumulator has moved:
//!
//! ```compile_fail,E0382
//! # use cuda_std::wgmma::M64N64;
//! let sums = M64N64::zero();
//! # // SAFETY: it is not run.
//! let products = unsafe { sums.accumulate() };
//! let early = sums.get(0);
//! ```
//!
//! All threads of a warpgroup make each call together, in the same order; otherwise the behaviour is undefined in PTX
//! (`.sync.aligned`). The caller of [`Accumulator::accumulate`] or [`Accumulator::overwrite`] guarantees this for
//! every later call on the accumulators, up to [`InFlight::wait`]. (PTX ISA, 9.7.15, "Asynchronous Warpgroup Level
//! Matrix Multiply-Accumulate Instructions".)
//!
//! | first operand | second operand | accumulators | elements along k in one instruction |
//! |---|---|---|---|
//! | `f16` | `f16` | `f32` | 16 |
//! | `bf16` | `bf16` | `f32` | 16 |
//! | `f32`, read as tf32 | `f32`, read as tf32 | `f32` | 8 |
//! | [`F8E4M3`](crate::fp8::F8E4M3) or [`F8E5M2`](crate::fp8::F8E5M2) | either of them | `f32` | 32 |
//! | `i8` | `i8` | `i32`, wrapping | 32 |
//! | `u8` | `u8` | `i32`, wrapping | 32 |
//!
//! The hardware reads an `f32` operand as tf32: sign, exponent and the first 10 bits of the fraction. It truncates
//! the 13 bits below. Sums of 8-bit floating-point products keep 13 bits of fraction, truncated at each instruction:
//! if that is too few, add the accumulators to others every few instructions. The repository's `docs/tensor_cores.md`
//! has the details.

mod operand;

pub use operand::{Element, KMajor, Major, MnMajor, Operand};

use crate::{machine, warpgroup};
use bytemuck::Pod;
use core::fmt;

/// The type of an accumulator: `f32`, or `i32` for integers. This crate alone implements it.
pub trait AccumulatorElement: Pod + sealed::AccumulatorElement {
    /// Zero.
    const ZERO: Self;
}

mod sealed {
    pub trait AccumulatorElement {}
    impl AccumulatorElement for f32 {}
    impl AccumulatorElement for i32 {}
}

impl AccumulatorElement for f32 {
    const ZERO: Self = 0.0;
}

impl AccumulatorElement for i32 {
    const ZERO: Self = 0;
}

/// A thread's registers for its outputs of a product.
#[doc(hidden)]
pub trait Registers {
    /// Passes the accumulators to products that are about to start.
    fn begin(&mut self);

    /// Waits until all groups of products but the last `PENDING` are finished. Their accumulators
    /// then hold the results.
    ///
    /// # Safety
    /// 1. All threads of the warpgroup make the call together, converged.
    unsafe fn wait<const PENDING: u32>(&mut self);
}

/// Registers for outputs of products of `A` and `B`.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "no instruction adds products of `{A}` and `{B}` to the accumulators `{Self}`",
    note = "the documentation of `cuda_std::wgmma` lists the types"
)]
pub trait Multiply<A, B>: Registers {
    /// Starts a product of 64 x k by k x n elements, described by `a` and `b`. It replaces the
    /// accumulators or is added to them. `A_MN` and `B_MN` are 1 for MN-major operands.
    ///
    /// # Safety
    /// 1. The descriptors are of tiles in the block's shared memory, in the layout that they state.
    /// 2. Until the product has been waited for, no thread writes the tiles.
    /// 3. All threads of the warpgroup make the call together, and the accumulators are in flight.
    unsafe fn multiply<const A_MN: i32, const B_MN: i32>(
        &mut self,
        a: Descriptor,
        b: Descriptor,
        accumulate: bool,
    );
}

pub use operand::Descriptor;

/// A warpgroup's 64 x 2 `COUNT` outputs of type `T`: `COUNT` of them in each thread.
///
/// An instruction has any multiple of 8 columns up to 256, so `COUNT` is a multiple of 4 up to 128. With integers, the
/// columns beyond 32 are a multiple of 16. Other widths do not compile. The aliases below name some.
///
/// Thread `t` of the warpgroup holds, at `4 j` and `4 j + 1`, columns `8 j + 2 (t % 4)` and `8 j + 2 (t % 4) + 1` of
/// row `16 (t / 32) + (t % 32) / 4`, and at `4 j + 2` and `4 j + 3` those of the row 8 below.
#[derive(Debug)]
pub struct Accumulator<const COUNT: usize, T = f32> {
    registers: [T; COUNT],
}

/// 64 x 8 outputs.
pub type M64N8 = Accumulator<4>;
/// 64 x 16 outputs.
pub type M64N16 = Accumulator<8>;
/// 64 x 32 outputs.
pub type M64N32 = Accumulator<16>;
/// 64 x 64 outputs.
pub type M64N64 = Accumulator<32>;
/// 64 x 96 outputs.
pub type M64N96 = Accumulator<48>;
/// 64 x 128 outputs.
pub type M64N128 = Accumulator<64>;
/// 64 x 192 outputs.
pub type M64N192 = Accumulator<96>;
/// 64 x 256 outputs.
pub type M64N256 = Accumulator<128>;

/// 64 x 8 outputs of integers.
pub type M64N8I32 = Accumulator<4, i32>;
/// 64 x 16 outputs of integers.
pub type M64N16I32 = Accumulator<8, i32>;
/// 64 x 32 outputs of integers.
pub type M64N32I32 = Accumulator<16, i32>;
/// 64 x 64 outputs of integers.
pub type M64N64I32 = Accumulator<32, i32>;
/// 64 x 96 outputs of integers.
pub type M64N96I32 = Accumulator<48, i32>;
/// 64 x 128 outputs of integers.
pub type M64N128I32 = Accumulator<64, i32>;
/// 64 x 192 outputs of integers.
pub type M64N192I32 = Accumulator<96, i32>;
/// 64 x 256 outputs of integers.
pub type M64N256I32 = Accumulator<128, i32>;

impl<const COUNT: usize, T: AccumulatorElement> Accumulator<COUNT, T> {
    /// Zeros.
    #[inline(always)]
    #[must_use]
    pub const fn zero() -> Self {
        Self {
            registers: [T::ZERO; COUNT],
        }
    }

    /// The calling thread's output number `index`, below `COUNT`.
    #[inline(always)]
    #[must_use]
    pub const fn get(&self, index: usize) -> T {
        self.registers[index]
    }

    /// The calling thread's outputs.
    #[inline(always)]
    #[must_use]
    pub const fn as_array(&self) -> &[T; COUNT] {
        &self.registers
    }

    /// The row and the column of the calling thread's output number `index`.
    #[inline(always)]
    #[track_caller]
    #[must_use]
    pub fn place(index: usize) -> (u32, u32) {
        let thread = warpgroup::thread_rank();
        let (group, within) = ((index / 4) as u32, (index % 4) as u32);
        let row = 16 * (thread / 32) + thread % 32 / 4 + 8 * (within / 2);
        (row, 8 * group + 2 * (thread % 4) + within % 2)
    }
}

impl<const COUNT: usize, T> Accumulator<COUNT, T>
where
    [T; COUNT]: Registers,
{
    /// Starts products that add to the accumulators.
    ///
    /// # Safety
    /// 1. All threads of the warpgroup make this call together, converged, and then all calls on the resulting
    ///    [`InFlight`] and [`Products`].
    #[inline(always)]
    #[track_caller]
    pub unsafe fn accumulate(self) -> InFlight<COUNT, T> {
        // SAFETY: the caller's contract.
        unsafe { self.in_flight(true) }
    }

    /// Starts products that replace the accumulators with the first product.
    ///
    /// # Safety
    /// As for [`accumulate`](Self::accumulate).
    #[inline(always)]
    #[track_caller]
    pub unsafe fn overwrite(self) -> InFlight<COUNT, T> {
        // SAFETY: the caller's contract.
        unsafe { self.in_flight(false) }
    }

    /// # Safety
    /// As for [`accumulate`](Self::accumulate).
    #[inline(always)]
    #[track_caller]
    unsafe fn in_flight(mut self, is_added_to: bool) -> InFlight<COUNT, T> {
        self.registers.begin();
        InFlight {
            registers: self.registers,
            is_added_to,
        }
    }
}

/// Accumulators that products may be writing, from [`Accumulator::accumulate`] or [`Accumulator::overwrite`].
#[must_use = "the products are unfinished until `wait`"]
pub struct InFlight<const COUNT: usize, T = f32> {
    registers: [T; COUNT],
    /// Whether the next product adds to the accumulators.
    is_added_to: bool,
}

/// Without the registers, which products may be writing.
impl<const COUNT: usize, T> fmt::Debug for InFlight<COUNT, T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("InFlight").finish_non_exhaustive()
    }
}

impl<const COUNT: usize, T> InFlight<COUNT, T>
where
    [T; COUNT]: Registers,
{
    /// Begins a group of products.
    #[inline(always)]
    #[track_caller]
    pub fn begin(self) -> Products<COUNT, T> {
        // SAFETY: all threads make the call together: the contract of `accumulate` and `overwrite`,
        // which made this value.
        unsafe { machine::wgmma_fence() };
        Products { accumulators: self }
    }

    /// Waits until all groups but the last `PENDING` are finished. Their operands may then be written again.
    #[inline(always)]
    #[track_caller]
    pub fn wait_all_but<const PENDING: u32>(&mut self) {
        // SAFETY: all threads make the call together: the contract of `accumulate` and `overwrite`,
        // which made this value.
        unsafe { machine::wgmma_wait::<PENDING>() };
    }

    /// Waits until all groups are finished, and returns the outputs.
    #[inline(always)]
    #[track_caller]
    #[must_use]
    pub fn wait(mut self) -> Accumulator<COUNT, T> {
        // SAFETY: all threads make the call together: the contract of `accumulate` and `overwrite`,
        // which made this value.
        unsafe { self.registers.wait::<0>() };
        Accumulator {
            registers: self.registers,
        }
    }

    /// Waits until all groups but the last `PENDING` are finished, and returns their outputs.
    /// Products of other accumulators continue.
    ///
    /// # Safety
    /// 1. None of the last `PENDING` groups has a product of these accumulators.
    #[inline(always)]
    #[track_caller]
    #[must_use]
    pub unsafe fn wait_before<const PENDING: u32>(mut self) -> Accumulator<COUNT, T> {
        // SAFETY: all threads make the call together: the contract of `accumulate` and `overwrite`,
        // which made this value.
        unsafe { self.registers.wait::<PENDING>() };
        Accumulator {
            registers: self.registers,
        }
    }
}

/// An open group of products.
#[derive(Debug)]
#[must_use = "products that are not committed are never waited for"]
pub struct Products<const COUNT: usize, T = f32> {
    accumulators: InFlight<COUNT, T>,
}

impl<const COUNT: usize, T> Products<COUNT, T> {
    /// Starts to add the product of two operands, 64 x K by K x 2 `COUNT`.
    ///
    /// # Safety
    /// 1. Both tiles have been written, by bulk copies that have been waited for, or by threads that have called
    ///    [`tma::fence`](crate::tma::fence) before a barrier.
    /// 2. Until the group has been waited for, no thread writes the tiles.
    /// 3. All threads of the warpgroup make the call together, with the same operands.
    /// 4. The tiles are in range (see [`SwizzledTile`](crate::shared::SwizzledTile)).
    /// 5. The accumulators reach [`InFlight::wait`]: they are not dropped while products write them.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn multiply<A, B, MA, MB, const N: usize, const K: usize>(
        &mut self,
        a: Operand<'_, A, MA, 64, K>,
        b: Operand<'_, B, MB, N, K>,
    ) where
        A: Element,
        B: Element,
        MA: Major,
        MB: Major,
        [T; COUNT]: Multiply<A, B>,
    {
        const {
            assert!(
                N > 0 && N <= 256 && N.is_multiple_of(if N > 32 { A::COLUMNS_STEP } else { 8 }),
                "an instruction has 8 to 256 columns, a multiple of 8; with integers, beyond 32, of 16"
            );
            assert!(
                N == 2 * COUNT,
                "the second operand must be as wide as the accumulators"
            );
        };
        let mut step = 0;
        while step < K / A::STEP {
            match (MA::IS_MN, MB::IS_MN) {
                // SAFETY: the caller's contract. The descriptors are those of the tiles.
                (false, false) => unsafe { self.step::<A, B, 0, 0>(a.step(step), b.step(step)) },
                // SAFETY: as above.
                (false, true) => unsafe { self.step::<A, B, 0, 1>(a.step(step), b.step(step)) },
                // SAFETY: as above.
                (true, false) => unsafe { self.step::<A, B, 1, 0>(a.step(step), b.step(step)) },
                // SAFETY: as above.
                (true, true) => unsafe { self.step::<A, B, 1, 1>(a.step(step), b.step(step)) },
            }
            step += 1;
        }
    }

    /// # Safety
    /// As for [`Multiply::multiply`].
    #[inline(always)]
    #[track_caller]
    unsafe fn step<A, B, const A_MN: i32, const B_MN: i32>(&mut self, a: Descriptor, b: Descriptor)
    where
        [T; COUNT]: Multiply<A, B>,
    {
        let InFlight {
            registers,
            is_added_to,
        } = &mut self.accumulators;
        // SAFETY: the caller's contract. The accumulators are in flight.
        unsafe { registers.multiply::<A_MN, B_MN>(a, b, *is_added_to) };
        *is_added_to = true;
    }

    /// Closes the group.
    #[inline(always)]
    #[track_caller]
    pub fn commit(self) -> InFlight<COUNT, T> {
        // SAFETY: all threads make the call together: the contract of `accumulate` and `overwrite`,
        // which made this value.
        unsafe { machine::wgmma_commit() };
        self.accumulators
    }
}
