//! The first operand of a product, from registers.

use super::operand::{Descriptor, WARPS};
use crate::state::Swizzle;

/// Bytes of a row of eight lines, and of the rows of one warp.
const GROUP_BYTES: usize = 256;
const WARP_BYTES: usize = 2 * GROUP_BYTES;

/// Bytes of a half of eight lines.
const HALF_BYTES: usize = 128;

/// 64 rows of 32 bytes, in the order of [`Rows::DESCRIPTOR`].
#[derive(Clone)]
pub(crate) struct Rows(Box<[u8; WARPS * WARP_BYTES]>);

impl Rows {
    /// Where its elements are.
    pub const DESCRIPTOR: Descriptor = Descriptor {
        start: 0,
        leading: HALF_BYTES,
        stride: GROUP_BYTES,
        swizzle: Swizzle::None,
        base: 0,
    };

    /// The rows of one warp; `registers` has those of each lane (PTX ISA, "Register Fragments" of wgmma).
    pub fn of_warp(warp: usize, registers: impl Iterator<Item = [u32; 4]>) -> Self {
        let mut rows = Self(Box::new([0; WARPS * WARP_BYTES]));
        for (lane, registers) in registers.enumerate() {
            for (number, register) in registers.into_iter().enumerate() {
                let row = lane / 4 + 8 * (number & 1);
                let place = warp * WARP_BYTES
                    + row / 8 * GROUP_BYTES
                    + row % 8 * 16
                    + (number >> 1) * HALF_BYTES
                    + lane % 4 * 4;
                rows.0[place..place + 4].copy_from_slice(&register.to_le_bytes());
            }
        }
        rows
    }

    /// Takes the rows of a warp from others.
    pub fn take_warp(&mut self, others: &Self, warp: usize) {
        let own = warp * WARP_BYTES..(warp + 1) * WARP_BYTES;
        self.0[own.clone()].copy_from_slice(&others.0[own]);
    }

    /// The first byte.
    pub fn start(&self) -> *const u8 {
        self.0.as_ptr()
    }
}
