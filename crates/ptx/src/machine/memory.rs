//! Accesses of memory.

use super::invalid::invalid;
use super::places::{Place, store_to_parameter};
use super::raw::{copy_from, copy_to, updated};
use super::thread::Thread;
use crate::decode::{Access, Atomic, Pointer};
use crate::numbers::general::{is_of_halves, sum_of_halves};
use crate::numbers::{Flushed, Number};
use crate::words::{AtomicOperation, Type};
use simt::{AccessKind, DefectKind, Space};
use std::ptr::{with_exposed_provenance, with_exposed_provenance_mut};

impl Thread<'_> {
    pub fn load(&mut self, it: &Access) {
        let values = self.list(it.values);
        let bytes = it.element as usize * values.len();
        let place = self.place_of(it.pointer, bytes);
        if let ([slot], Place::Device(space, host), None, 4) = (values, place, it.ordering, bytes) {
            // SAFETY: the contract of `Kernel::body`; the access is checked before it is made.
            let word: u32 = unsafe {
                self.access(space, it.kind, host, 4);
                simt::load_relaxed(with_exposed_provenance(host))
            };
            let value = match it.signed_to {
                Some(width) => extended(word.into(), 32, width),
                None => word.into(),
            };
            return self.set(*slot, value);
        }
        let mut loaded = [0_u8; 32];
        match (place, it.ordering) {
            (Place::Device(space, host), Some(ordering)) => {
                for (at, part) in parts_of(it, host, bytes) {
                    // SAFETY: the contract of `Kernel::body`; the access is checked before it is made.
                    let word = unsafe {
                        simt::atomic_access(space, it.kind, ordering, host + at, part, 0, part);
                        updated(host + at, part, |old| old)
                    };
                    loaded[at..][..part].copy_from_slice(&word.to_le_bytes()[..part]);
                }
            }
            (Place::Device(space, host), None) => {
                // SAFETY: the contract of `Kernel::body`.
                unsafe { self.access(space, it.kind, host, bytes) };
                // SAFETY: the access was checked, and `bytes` is the size of the array.
                unsafe { copy_from(host, &mut loaded, bytes) };
            }
            // SAFETY: the bytes are within memory of this thread or of the launch.
            (Place::Parameter(host) | Place::Local(host), _) => unsafe {
                copy_from(host, &mut loaded, bytes);
            },
        }
        for (element, slot) in loaded.chunks(it.element as usize).zip(values) {
            let mut word = [0; 8];
            word[..element.len()].copy_from_slice(element);
            let value = u64::from_le_bytes(word);
            self.set(
                *slot,
                match it.signed_to {
                    Some(width) => extended(value, 8 * it.element, width),
                    None => value,
                },
            );
        }
    }

    /// Copies bytes from one place in local memory to another. Both places have them.
    pub fn copy_local(&self, to: u64, from: u64, bytes: u32) {
        let start = self.local.as_ptr().expose_provenance();
        let place = |offset: u64| with_exposed_provenance_mut::<u8>(start + offset as usize);
        // SAFETY: the decoder has placed both in local memory, each with as many bytes, and no reference refers to it.
        unsafe { std::ptr::copy(place(from).cast_const(), place(to), bytes as usize) };
    }

    pub fn store(&mut self, it: &Access) {
        let values = self.list(it.values);
        let bytes = it.element as usize * values.len();
        let place = self.place_of(it.pointer, bytes);
        let mut stored = [0_u8; 32];
        for (element, slot) in stored.chunks_mut(it.element as usize).zip(values) {
            element.copy_from_slice(&self.get(*slot).to_le_bytes()[..element.len()]);
        }
        if let Place::Device(_, host) = place {
            self.check_written(host);
        }
        match (place, it.ordering) {
            (Place::Device(space, host), Some(ordering)) => {
                for (at, part) in parts_of(it, host, bytes) {
                    let mut word = [0; 8];
                    word[..part].copy_from_slice(&stored[at..][..part]);
                    // SAFETY: the contract of `Kernel::body`; the access is checked before it is made.
                    unsafe {
                        simt::atomic_access(space, it.kind, ordering, host + at, part, 0, part);
                        updated(host + at, part, |_| u64::from_le_bytes(word));
                    }
                }
            }
            (Place::Device(space, host), None) => {
                // SAFETY: the contract of `Kernel::body`.
                unsafe {
                    match self.allows_equal_writes {
                        true => simt::write_at(self.line, space, host, &stored[..bytes]),
                        false => self.access(space, it.kind, host, bytes),
                    }
                }
                // SAFETY: the access was checked.
                unsafe { copy_to(host, &stored, bytes) };
            }
            // SAFETY: the bytes are within memory of this thread.
            (Place::Local(host), _) => unsafe { copy_to(host, &stored, bytes) },
            (Place::Parameter(_), _) => store_to_parameter(),
        }
    }

    pub fn atomic(&mut self, it: &Atomic) {
        let bytes = it.of.bits().map_or(4, |bits| bits as usize / 8);
        let Place::Device(space, host) = self.place_of(it.pointer, bytes) else {
            invalid("an atomic operation on parameters or local memory")
        };
        self.check_written(host);
        check_vector(host, it.alignment as usize);
        let (a, b) = (self.get(it.a), self.get(it.b));
        // SAFETY: the contract of `Kernel::body`; the access is checked before it is made.
        let old = unsafe {
            simt::atomic_access(
                space,
                AccessKind::Atomic,
                it.ordering,
                host,
                bytes,
                0,
                bytes,
            );
            updated(host, bytes, |old| match (it.operation, it.of, space) {
                (AtomicOperation::Add, Type::F32, Space::Global) => sum_in_global(old, a),
                _ => replaced(it.operation, it.of, old, a, b),
            })
        };
        self.set(it.d, old);
    }

    pub fn copy_async(&mut self, to: &Access, from: Pointer, present: Option<u32>) {
        let bytes = to.element as usize;
        let present = present.map_or(bytes, |slot| self.get(slot) as u32 as usize);
        let target = self.address(to.pointer) as u32 as usize;
        self.check_shared(target, bytes);
        let target = self.shared + target;
        let source = self.address(from) as usize;
        let read = present.min(bytes);
        // A source that is not read may lie anywhere.
        let view = if read > 0 { source } else { 0 };
        // SAFETY: the contract of `Kernel::body`; the accesses are checked before they are made, and the simulator
        // refuses a copy of more bytes than it has.
        unsafe {
            self.access(Space::Shared, to.kind, target, bytes);
            simt::access_at(
                self.line,
                Space::Global,
                AccessKind::AsyncRead,
                view,
                read,
                0,
                read,
                bytes,
            );
            let target = with_exposed_provenance_mut(target);
            simt::async_copy(target, with_exposed_provenance(source), bytes, present);
        }
    }
}

/// Refuses atomic accesses of a vector of `bytes` bytes that is not aligned to them.
fn check_vector(host: usize, bytes: usize) {
    if !host.is_multiple_of(bytes) {
        simt::fail(
            DefectKind::Misaligned,
            format!(
                "an atomic operation on {bytes} bytes at an address that is not a multiple of them"
            ),
        );
    }
}

/// The distances and the sizes of the atomic accesses of an access of `bytes` bytes: one, or one for each element of a
/// vector (PTX ISA, "Vector Data-types" of the memory model).
fn parts_of(it: &Access, host: usize, bytes: usize) -> impl Iterator<Item = (usize, usize)> {
    let part = match bytes {
        8 => bytes,
        _ => it.element as usize,
    };
    // The access itself checks a single one.
    if part < bytes {
        check_vector(host, bytes);
    }
    (0..bytes).step_by(part).map(move |at| (at, part))
}

/// A signed number of `bits` bits in a register of `width` bits.
fn extended(value: u64, bits: u32, width: u32) -> u64 {
    let shift = 64 - bits;
    (((value << shift) as i64) >> shift) as u64 & crate::numbers::mask(width)
}

/// The new value of an addition of f32 to global memory, where subnormal numbers are zeros (PTX ISA, "atom").
fn sum_in_global(old: u64, a: u64) -> u64 {
    Flushed(Flushed::of(old).0 + Flushed::of(a).0).slot()
}

/// The new value of any other atomic operation.
fn replaced(operation: AtomicOperation, of: Type, old: u64, a: u64, b: u64) -> u64 {
    let is_wide = of.bits() == Some(64);
    let narrowed = |value: u64| if is_wide { value } else { value & 0xffff_ffff };
    let signed = |value: u64| match is_wide {
        true => value as i64,
        false => i64::from(value as i32),
    };
    match operation {
        AtomicOperation::Add if of == Type::F32 => (f32::of(old) + f32::of(a)).slot(),
        AtomicOperation::Add if of == Type::F64 => (f64::of(old) + f64::of(a)).slot(),
        AtomicOperation::Add if is_of_halves(of) => sum_of_halves(of, old, a),
        AtomicOperation::Add => narrowed(old.wrapping_add(a)),
        AtomicOperation::And => old & a,
        AtomicOperation::Or => old | a,
        AtomicOperation::Xor => old ^ a,
        AtomicOperation::Swap => a,
        AtomicOperation::CompareSwap => {
            if old == a {
                b
            } else {
                old
            }
        }
        AtomicOperation::Increment => match old >= a {
            true => 0,
            false => old + 1,
        },
        AtomicOperation::Decrement => match old == 0 || old > a {
            true => a,
            false => old - 1,
        },
        AtomicOperation::Min if of.is_signed() => narrowed(signed(old).min(signed(a)) as u64),
        AtomicOperation::Max if of.is_signed() => narrowed(signed(old).max(signed(a)) as u64),
        AtomicOperation::Min => old.min(a),
        AtomicOperation::Max => old.max(a),
    }
}
