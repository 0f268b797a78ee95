//! Products of a warpgroup, bit for bit as on tensor cores. The simulator holds accumulators in
//! flight; meanwhile the registers hold its number for them.

use crate::fp8::{F8E4M3, F8E5M2};
use crate::wgmma::{AccumulatorElement, Descriptor, Element, Multiply, Registers};
use half::{bf16, f16};
use simt::{Major, Operand, Wgmma};

/// Makes this warp's register writes visible to its products.
///
/// # Safety
/// 1. All threads of the warpgroup make the call together, converged.
#[track_caller]
pub unsafe fn wgmma_fence() {
    simt::wgmma_fence();
}

/// Closes the group of products that this warp has started since the last call.
///
/// # Safety
/// As for [`wgmma_fence`].
#[track_caller]
pub unsafe fn wgmma_commit() {
    simt::wgmma_commit();
}

/// Waits until at most `PENDING` of this warp's groups of products are unfinished.
///
/// # Safety
/// As for [`wgmma_fence`].
#[track_caller]
pub unsafe fn wgmma_wait<const PENDING: u32>() {
    simt::wgmma_wait(PENDING);
}

/// Elements that one instruction multiplies by elements of type `B`.
trait Pair<B>: Element {
    /// The type of the accumulators.
    type Sum: AccumulatorElement;
}

macro_rules! pairs {
    ($($a:ty, $b:ty => $sum:ty;)*) => {$(
        impl Pair<$b> for $a {
            type Sum = $sum;
        }
    )*};
}
pairs! {
    f16, f16 => f32;
    bf16, bf16 => f32;
    f32, f32 => f32;
    F8E4M3, F8E4M3 => f32;
    F8E4M3, F8E5M2 => f32;
    F8E5M2, F8E4M3 => f32;
    F8E5M2, F8E5M2 => f32;
    i8, i8 => i32;
    u8, u8 => i32;
}

impl<S: AccumulatorElement, const COUNT: usize> Registers for [S; COUNT] {
    #[track_caller]
    fn begin(&mut self) {
        simt::wgmma_begin(bytemuck::cast_slice_mut(self));
    }

    #[track_caller]
    unsafe fn wait<const PENDING: u32>(&mut self) {
        simt::wgmma_wait(PENDING);
        simt::wgmma_collect(bytemuck::cast_slice_mut(self));
    }
}

impl<A, B, S, const COUNT: usize> Multiply<A, B> for [S; COUNT]
where
    A: Pair<B, Sum = S>,
    B: Element,
    S: AccumulatorElement,
{
    #[track_caller]
    unsafe fn multiply<const A_MN: i32, const B_MN: i32>(
        &mut self,
        a: Descriptor,
        b: Descriptor,
        accumulate: bool,
    ) {
        let major = |mn: i32| if mn == 1 { Major::MN } else { Major::K };
        let instruction = Wgmma {
            a: A::TYPE,
            b: B::TYPE,
            n: 2 * COUNT as u32,
            a_major: major(A_MN),
            b_major: major(B_MN),
        };
        let operand = |it: Descriptor| Operand {
            descriptor: it.bits,
            tile: it.tile,
            bytes: it.bytes,
        };
        let registers = bytemuck::cast_slice_mut(self);
        simt::wgmma(registers, instruction, operand(a), operand(b), accumulate);
    }
}
