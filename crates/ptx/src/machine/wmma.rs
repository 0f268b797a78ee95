//! Moves of the fragments of `wmma`, element by element.

use super::invalid::invalid;
use super::thread::Thread;
use crate::decode::{FragmentKind, FragmentMove};
use simt::AccessKind;
use std::ptr::{with_exposed_provenance, with_exposed_provenance_mut};

/// Row and column of an element: `part` of register `register`, of as many parts.
fn place(
    kind: FragmentKind,
    parts: usize,
    lane: usize,
    register: usize,
    part: usize,
) -> [usize; 2] {
    let (group, within) = (lane / 4, lane % 4);
    let across = within * parts + part;
    match kind {
        FragmentKind::A => {
            let registers = if parts == 4 { 2 } else { 4 };
            let register = register % registers;
            [
                group + 8 * (register & 1),
                across + 4 * parts * (register >> 1),
            ]
        }
        FragmentKind::B => {
            let of_side = if parts == 4 { 1 } else { 2 };
            let register = register % (2 * of_side);
            let (side, register) = (register / of_side, register % of_side);
            [across + 4 * parts * register, group + 8 * side]
        }
        FragmentKind::Sum if parts == 1 => {
            let (side, register) = (register / 4, register % 4);
            [
                group + 8 * (register >> 1),
                within * 2 + (register & 1) + 8 * side,
            ]
        }
        FragmentKind::Sum => {
            let (side, register) = (register / 2, register % 2);
            [group + 8 * register, across + 8 * side]
        }
    }
}

impl Thread<'_> {
    pub fn move_fragment(&mut self, it: &FragmentMove) {
        let position = simt::position();
        if position.warp_width != 32 {
            invalid("a fragment of a warp that has not 32 lanes");
        }
        let parts = (4 / it.bytes).max(1) as usize;
        let start = self.address(it.pointer);
        let stride = self.get(it.stride) as u32 as usize;
        for (register, slot) in self.list(it.registers).iter().enumerate() {
            let mut word = if it.is_load { 0 } else { self.get(*slot) };
            for part in 0..parts {
                let [row, column] = place(it.kind, parts, position.lane as usize, register, part);
                let element = match it.is_by_rows {
                    true => row * stride + column,
                    false => column * stride + row,
                };
                let address = start.wrapping_add((element * it.bytes as usize) as u64);
                let shift = part as u32 * it.bytes * 8;
                match it.is_load {
                    true => word |= u64::from(self.load_part(it, address)) << shift,
                    false => self.store_part(it, address, (word >> shift) as u32),
                }
            }
            if it.is_load {
                word &= 0xffff_ffff;
                self.set(*slot, word);
            }
        }
        simt::warp_barrier(u32::MAX.into());
    }

    fn load_part(&self, it: &FragmentMove, address: u64) -> u32 {
        let host = self.checked_host(
            it.pointer.space,
            address,
            it.bytes as usize,
            AccessKind::Read,
        );
        // SAFETY: the element was checked.
        unsafe {
            match it.bytes {
                1 => simt::load_relaxed::<u8>(with_exposed_provenance(host)).into(),
                2 => simt::load_relaxed::<u16>(with_exposed_provenance(host)).into(),
                _ => simt::load_relaxed(with_exposed_provenance(host)),
            }
        }
    }

    fn store_part(&self, it: &FragmentMove, address: u64, value: u32) {
        let host = self.checked_host(
            it.pointer.space,
            address,
            it.bytes as usize,
            AccessKind::Write,
        );
        // SAFETY: the element was checked.
        unsafe {
            match it.bytes {
                1 => simt::store_relaxed(with_exposed_provenance_mut(host), value as u8),
                2 => simt::store_relaxed(with_exposed_provenance_mut(host), value as u16),
                _ => simt::store_relaxed(with_exposed_provenance_mut(host), value),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// Each element of a matrix is at one place of the fragments.
    #[test]
    fn fragments_have_each_element() {
        for (kind, parts, registers, elements) in [
            (FragmentKind::A, 2, 4, 256),
            (FragmentKind::A, 4, 2, 256),
            (FragmentKind::A, 1, 4, 128),
            (FragmentKind::B, 2, 4, 256),
            (FragmentKind::B, 4, 2, 256),
            (FragmentKind::B, 1, 4, 128),
            (FragmentKind::Sum, 1, 8, 256),
            (FragmentKind::Sum, 2, 4, 256),
        ] {
            let mut places = HashSet::new();
            for lane in 0..32 {
                for register in 0..registers {
                    places.extend((0..parts).map(|part| place(kind, parts, lane, register, part)));
                }
            }
            assert_eq!(places.len(), elements, "{kind:?}, {parts} in a register");
        }
    }
}
