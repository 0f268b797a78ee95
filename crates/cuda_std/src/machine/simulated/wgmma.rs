//! Products of a warpgroup, with the bits of the tensor core. The simulator holds accumulators in
//! flight; meanwhile the registers have the number by which it knows them.

use crate::wgmma::{Descriptor, Element, Multiply, Registers};
use simt::{Major, Operand, Wgmma};

/// Makes the registers that this warp has written known to its products.
#[track_caller]
pub fn wgmma_fence() {
    simt::wgmma_fence();
}

/// Closes the group of products that this warp has started since the last call.
#[track_caller]
pub fn wgmma_commit() {
    simt::wgmma_commit();
}

/// Waits until at most `PENDING` of this warp's groups of products are unfinished.
#[track_caller]
pub fn wgmma_wait<const PENDING: u32>() {
    simt::wgmma_wait(PENDING);
}

impl<const COUNT: usize> Registers for [f32; COUNT] {
    #[track_caller]
    fn begin(&mut self) {
        simt::wgmma_begin(bytemuck::cast_slice_mut(self));
    }

    #[track_caller]
    fn wait<const PENDING: u32>(&mut self) {
        simt::wgmma_wait(PENDING);
        simt::wgmma_collect(bytemuck::cast_slice_mut(self));
    }
}

impl<T: Element, const COUNT: usize> Multiply<T, T> for [f32; COUNT] {
    #[track_caller]
    unsafe fn multiply<const A_MN: i32, const B_MN: i32>(
        &mut self,
        a: Descriptor,
        b: Descriptor,
        accumulate: bool,
    ) {
        let major = |mn: i32| if mn == 1 { Major::MN } else { Major::K };
        let instruction = Wgmma {
            a: T::TYPE,
            b: T::TYPE,
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
