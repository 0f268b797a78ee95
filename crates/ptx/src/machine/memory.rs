//! Accesses of memory.
//!
//! A global address is the host's, as is a generic one. A shared address is a distance from the start of the block's
//! shared memory; that of another block of the cluster has the block's rank and one in the bits from
//! [`RANK_SHIFT`] on. Addresses of parameters and of local memory are distances, too.

use super::raw::{copy_from, copy_to, half_of_word, updated};
use super::thread::Thread;
use crate::decode::{Access, AddressSpace, Atomic};
use crate::numbers::general::{is_of_halves, sum_of_halves};
use crate::words::{AtomicOperation, Type};
use simt::{AccessKind, DefectKind, MAX_SHARED_BYTES, Space};
use std::ptr::{with_exposed_provenance, with_exposed_provenance_mut};

/// Above the distances in one block's shared memory.
pub(super) const RANK_SHIFT: u32 = 24;

/// The memory of an access, and the address of its first byte on the host.
#[derive(Clone, Copy)]
pub(super) enum Place {
    /// Memory that the simulator checks.
    Device(Space, usize),
    /// Parameters or local memory, with the bytes from the address on.
    Own(usize),
}

impl Thread<'_> {
    /// The place of `bytes` bytes at an address.
    pub(super) fn place(&self, space: AddressSpace, address: u64, bytes: usize) -> Place {
        match space {
            AddressSpace::Global => Place::Device(Space::Global, address as usize),
            AddressSpace::Shared => {
                self.check_shared(address as u32 as usize, bytes);
                Place::Device(Space::Shared, self.shared + address as u32 as usize)
            }
            AddressSpace::SharedCluster => {
                let offset = address as usize & ((1 << RANK_SHIFT) - 1);
                self.check_shared(offset, bytes);
                Place::Device(Space::Shared, self.shared_in_cluster(address as u32))
            }
            AddressSpace::Param => self.own(
                self.parameters.address(),
                self.parameters.bytes(),
                address,
                bytes,
            ),
            AddressSpace::Local => {
                let start = self.local.as_ptr().expose_provenance();
                self.own(start, self.program.local_bytes, address, bytes)
            }
            AddressSpace::Generic => self.generic_place(address as usize, bytes),
        }
    }

    /// Ends the launch unless the block's shared memory has these bytes.
    #[inline]
    fn check_shared(&self, offset: usize, bytes: usize) {
        let length = self.shared_bytes;
        if offset > length || bytes > length - offset {
            simt::fail(
                DefectKind::OutOfBounds,
                format!("{bytes} bytes at byte {offset} of the {length} bytes of shared memory"),
            );
        }
    }

    /// The host's address of a shared address that may be another block's.
    fn shared_in_cluster(&self, address: u32) -> usize {
        let own = self.shared + (address & ((1 << RANK_SHIFT) - 1)) as usize;
        match address >> RANK_SHIFT {
            0 => own,
            rank => simt::map_shared(own, rank - 1),
        }
    }

    fn own(&self, start: usize, length: usize, address: u64, bytes: usize) -> Place {
        let end = usize::try_from(address)
            .ok()
            .and_then(|it| it.checked_add(bytes));
        if end.is_none_or(|end| end > length) {
            simt::fail(
                DefectKind::OutOfBounds,
                format!(
                    "{bytes} bytes at byte {address} of {length} bytes of parameters or local memory"
                ),
            );
        }
        if !address.is_multiple_of(bytes.min(16) as u64) {
            simt::fail(
                DefectKind::Misaligned,
                format!("{bytes} bytes at byte {address} of parameters or local memory"),
            );
        }
        Place::Own(start + address as usize)
    }

    fn generic_place(&self, address: usize, bytes: usize) -> Place {
        let within = |start: usize, length: usize| {
            let distance = address.wrapping_sub(start);
            (distance < length).then_some(distance as u64)
        };
        if let Some(offset) = within(self.shared, MAX_SHARED_BYTES) {
            self.check_shared(offset as usize, bytes);
            return Place::Device(Space::Shared, address);
        }
        let (parameters, local) = (self.parameters.address(), self.local.as_ptr().addr());
        if let Some(distance) = within(parameters, self.parameters.bytes()) {
            return self.own(parameters, self.parameters.bytes(), distance, bytes);
        }
        match within(local, self.program.local_bytes) {
            Some(distance) => self.own(local, self.program.local_bytes, distance, bytes),
            None => Place::Device(Space::Global, address),
        }
    }

    pub fn to_generic(&self, space: AddressSpace, address: u64) -> u64 {
        match space {
            AddressSpace::Shared => self.shared as u64 + (address & 0xffff_ffff),
            AddressSpace::SharedCluster => self.shared_in_cluster(address as u32) as u64,
            AddressSpace::Param => self.parameters.address() as u64 + address,
            AddressSpace::Local => self.local.as_ptr().expose_provenance() as u64 + address,
            AddressSpace::Generic | AddressSpace::Global => address,
        }
    }

    pub fn in_space(&self, space: AddressSpace, address: u64) -> u64 {
        let start = match space {
            AddressSpace::Shared | AddressSpace::SharedCluster => self.shared,
            AddressSpace::Param => self.parameters.address(),
            AddressSpace::Local => self.local.as_ptr().addr(),
            AddressSpace::Generic | AddressSpace::Global => 0,
        };
        address.wrapping_sub(start as u64)
    }

    pub fn load(&mut self, it: &Access) {
        let values = self.list(it.values);
        let bytes = it.element as usize * values.len();
        let address = self.get(it.address).wrapping_add_signed(it.offset);
        let place = self.place(it.space, address, bytes);
        if let ([slot], Place::Device(space, host), None, 4) = (values, place, it.ordering, bytes) {
            // SAFETY: the contract of `Kernel::body`; the access is checked before it is made.
            let word: u32 = unsafe {
                simt::access_at(self.line, space, it.kind, host, 4, 0, 4, 4);
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
                // SAFETY: the contract of `Kernel::body`; the access is checked before it is made.
                unsafe {
                    simt::atomic_access(space, it.kind, ordering, host, bytes, 0, bytes);
                    match bytes {
                        // No atomic operation has them.
                        1 | 2 => copy_from(host, &mut loaded, bytes),
                        _ => loaded[..8]
                            .copy_from_slice(&updated(host, bytes, |old| old).to_le_bytes()),
                    }
                }
            }
            (Place::Device(space, host), None) => {
                // SAFETY: the contract of `Kernel::body`.
                unsafe { simt::access_at(self.line, space, it.kind, host, bytes, 0, bytes, bytes) };
                // SAFETY: the access was checked, and `bytes` is the size of the array.
                unsafe { copy_from(host, &mut loaded, bytes) };
            }
            // SAFETY: the bytes are within memory of this thread or of the launch.
            (Place::Own(host), _) => unsafe { copy_from(host, &mut loaded, bytes) },
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

    /// Copies from one place in local memory to another.
    pub fn copy_local(&self, to: u64, from: u64, bytes: u32) {
        let start = self.local.as_ptr().expose_provenance();
        let place = |offset: u64| with_exposed_provenance_mut::<u8>(start + offset as usize);
        // SAFETY: the decoder has placed both in local memory, which no reference refers to.
        unsafe { std::ptr::copy(place(from).cast_const(), place(to), bytes as usize) };
    }

    pub fn store(&mut self, it: &Access) {
        let values = self.list(it.values);
        let bytes = it.element as usize * values.len();
        let address = self.get(it.address).wrapping_add_signed(it.offset);
        let place = self.place(it.space, address, bytes);
        let mut stored = [0_u8; 32];
        for (element, slot) in stored.chunks_mut(it.element as usize).zip(values) {
            element.copy_from_slice(&self.get(*slot).to_le_bytes()[..element.len()]);
        }
        match (place, it.ordering) {
            (Place::Device(space, host), Some(ordering)) => {
                let word = stored.first_chunk().map_or(0, |it| u64::from_le_bytes(*it));
                // SAFETY: the contract of `Kernel::body`; the access is checked before it is made.
                unsafe {
                    simt::atomic_access(space, it.kind, ordering, host, bytes, 0, bytes);
                    match bytes {
                        1 | 2 => copy_to(host, &stored, bytes),
                        _ => {
                            updated(host, bytes, |_| word);
                        }
                    }
                }
            }
            (Place::Device(space, host), None) => {
                // SAFETY: the contract of `Kernel::body`.
                unsafe {
                    match self.allows_equal_writes {
                        true => simt::write_at(self.line, space, host, &stored[..bytes]),
                        false => {
                            simt::access_at(self.line, space, it.kind, host, bytes, 0, bytes, bytes)
                        }
                    }
                }
                // SAFETY: the access was checked.
                unsafe { copy_to(host, &stored, bytes) };
            }
            // SAFETY: the bytes are within memory of this thread; parameters are not stored to.
            (Place::Own(host), _) => unsafe { copy_to(host, &stored, bytes) },
        }
    }

    pub fn atomic(&mut self, it: &Atomic) {
        let bytes = it.of.bits().map_or(4, |bits| bits as usize / 8);
        let address = self.get(it.address).wrapping_add_signed(it.offset);
        let Place::Device(space, host) = self.place(it.space, address, bytes) else {
            simt::fail(
                DefectKind::InvalidArgument,
                "an atomic operation on parameters or local memory".to_owned(),
            )
        };
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
            match bytes {
                2 => half_of_word(host, |old| replaced(it.operation, it.of, old, a, b)),
                _ => updated(host, bytes, |old| replaced(it.operation, it.of, old, a, b)),
            }
        };
        self.set(it.d, old);
    }

    pub fn copy_async(&mut self, to: &Access, (from, offset): (u32, i64), present: Option<u32>) {
        let bytes = to.element as usize;
        let present = present.map_or(bytes, |slot| self.get(slot) as u32 as usize);
        let target = self.get(to.address).wrapping_add_signed(to.offset);
        self.check_shared(target as u32 as usize, bytes);
        let target = self.shared + target as u32 as usize;
        let source = self.get(from).wrapping_add_signed(offset) as usize;
        let read = present.min(bytes);
        // A source that is not read may lie anywhere.
        let view = if read > 0 { source } else { 0 };
        // SAFETY: the contract of `Kernel::body`; the accesses are checked before they are made, and the simulator
        // refuses a copy of more bytes than it has.
        unsafe {
            simt::access_at(
                self.line,
                Space::Shared,
                to.kind,
                target,
                bytes,
                0,
                bytes,
                bytes,
            );
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

/// A signed number of `bits` bits in a register of `width` bits.
fn extended(value: u64, bits: u32, width: u32) -> u64 {
    let shift = 64 - bits;
    (((value << shift) as i64) >> shift) as u64 & crate::numbers::mask(width)
}

/// The new value of an atomic operation.
fn replaced(operation: AtomicOperation, of: Type, old: u64, a: u64, b: u64) -> u64 {
    let is_wide = of.bits() == Some(64);
    let narrowed = |value: u64| if is_wide { value } else { value & 0xffff_ffff };
    let signed = |value: u64| match is_wide {
        true => value as i64,
        false => i64::from(value as i32),
    };
    match operation {
        AtomicOperation::Add if of == Type::F32 => {
            let sum = f32::from_bits(old as u32) + f32::from_bits(a as u32);
            sum.to_bits().into()
        }
        AtomicOperation::Add if of == Type::F64 => {
            (f64::from_bits(old) + f64::from_bits(a)).to_bits()
        }
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
