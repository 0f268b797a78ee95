//! Products of a warp, and moves of matrices between shared memory and registers.

use super::invalid::invalid;
use super::places::Place;
use super::thread::Thread;
use crate::decode::{MatrixMove, ProductOp};
use crate::numbers::clamped;
use simt::{AccessKind, Space};
use std::ptr::{with_exposed_provenance, with_exposed_provenance_mut};

/// The bytes of a row of a matrix; of a column, if it is transposed.
const LINE_BYTES: usize = 16;

/// The rows of each matrix.
const LINES: usize = 8;

/// The line that a lane addresses, and its registers.
struct Line {
    bytes: [u8; LINE_BYTES],
    registers: [u32; 4],
}

/// Line and byte of each of the four bytes that a lane's register has of a matrix (PTX ISA, "ldmatrix"). If the
/// matrix is transposed, its elements have 16 bits.
fn bytes_of_register(lane: usize, is_transposed: bool) -> [(usize, usize); 4] {
    let (line, place) = (lane / 4, lane % 4);
    std::array::from_fn(|byte| match is_transposed {
        false => (line, 4 * place + byte),
        true => (2 * place + byte / 2, 2 * line + byte % 2),
    })
}

impl Thread<'_> {
    pub fn product(&mut self, it: &ProductOp) {
        let values = |list| self.list(list).iter().map(|slot| self.get(*slot));
        let (a, b): (Vec<u64>, Vec<u64>) = (values(it.a).collect(), values(it.b).collect());
        let mut sums: Vec<u64> = values(it.c).collect();
        match it.is_clamped {
            true => clamped(it.f, &a, &b, &mut sums),
            false => (it.f)(&a, &b, &mut sums),
        }
        for (slot, sum) in self.list(it.d).iter().zip(sums) {
            self.set(*slot, sum);
        }
    }

    pub fn move_matrices(&mut self, it: &MatrixMove) {
        let slots = self.list(it.registers);
        let position = simt::position();
        if position.warp_width != 32 {
            invalid("a move of matrices by a warp that has not 32 lanes");
        }
        let mut own = Line {
            bytes: [0; LINE_BYTES],
            registers: [0; 4],
        };
        for (register, slot) in own.registers.iter_mut().zip(slots) {
            *register = self.get(*slot) as u32;
        }
        let has_line = (position.lane as usize) < LINES * slots.len();
        let line = has_line.then(|| self.line(it));
        let (count, is_transposed) = (slots.len(), it.is_transposed);
        if it.is_load {
            if let Some(line) = line {
                // SAFETY: the line is in shared memory of the block, checked above.
                own.bytes = unsafe { with_exposed_provenance::<[u8; LINE_BYTES]>(line).read() };
            }
            let combine = |lanes: &mut [&mut Line]| gather(lanes, count, is_transposed);
            // SAFETY: the closure only moves bytes.
            unsafe { simt::warp_exchange(name(it), None, u32::MAX.into(), &mut own, combine) };
            for (slot, register) in slots.iter().zip(own.registers) {
                self.set(*slot, register.into());
            }
        } else {
            let combine = |lanes: &mut [&mut Line]| spread(lanes, count, is_transposed);
            // SAFETY: the closure only moves bytes.
            unsafe { simt::warp_exchange(name(it), None, u32::MAX.into(), &mut own, combine) };
            if let Some(line) = line {
                // SAFETY: the line is in shared memory of the block, checked above.
                unsafe {
                    with_exposed_provenance_mut::<[u8; LINE_BYTES]>(line).write(own.bytes);
                }
            }
        }
    }

    /// The address of the line that the lane names, after its check.
    fn line(&self, it: &MatrixMove) -> usize {
        let kind = match it.is_load {
            true => AccessKind::Read,
            false => AccessKind::Write,
        };
        match self.place_of(it.pointer, LINE_BYTES) {
            Place::Device(Space::Shared, host) => {
                // SAFETY: it is shared memory.
                unsafe { self.access(Space::Shared, kind, host, LINE_BYTES) };
                host
            }
            _ => invalid("a move of matrices that are not in shared memory"),
        }
    }
}

/// Fills the registers of all lanes from the lines.
fn gather(lanes: &mut [&mut Line], count: usize, is_transposed: bool) {
    for lane in 0..lanes.len() {
        let places = bytes_of_register(lane, is_transposed);
        for matrix in 0..count {
            let bytes = places.map(|(line, byte)| lanes[LINES * matrix + line].bytes[byte]);
            lanes[lane].registers[matrix] = u32::from_le_bytes(bytes);
        }
    }
}

/// Fills the lines from the registers of all lanes.
fn spread(lanes: &mut [&mut Line], count: usize, is_transposed: bool) {
    for lane in 0..lanes.len() {
        let places = bytes_of_register(lane, is_transposed);
        for matrix in 0..count {
            let bytes = lanes[lane].registers[matrix].to_le_bytes();
            for ((line, place), byte) in places.into_iter().zip(bytes) {
                lanes[LINES * matrix + line].bytes[place] = byte;
            }
        }
    }
}

/// A name for each kind of move, so that lanes that make different ones do not meet.
fn name(it: &MatrixMove) -> &'static str {
    match (it.is_load, it.registers.count, it.is_transposed) {
        (true, 1, false) => "ldmatrix x1",
        (true, 1, true) => "ldmatrix x1 trans",
        (true, 2, false) => "ldmatrix x2",
        (true, 2, true) => "ldmatrix x2 trans",
        (true, _, false) => "ldmatrix x4",
        (true, _, true) => "ldmatrix x4 trans",
        (false, 1, false) => "stmatrix x1",
        (false, 1, true) => "stmatrix x1 trans",
        (false, 2, false) => "stmatrix x2",
        (false, 2, true) => "stmatrix x2 trans",
        (false, _, false) => "stmatrix x4",
        (false, _, true) => "stmatrix x4 trans",
    }
}
