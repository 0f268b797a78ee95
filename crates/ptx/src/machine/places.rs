//! The memory that addresses refer to.
//!
//! A global address is the host's, as is a generic one. A shared address is a distance from the start of the block's
//! shared memory; that of another block of the cluster has the block's rank and one in the bits from
//! [`RANK_SHIFT`] on. Addresses of parameters and of local memory are distances, too.

use super::invalid::invalid;
use super::thread::Thread;
use crate::decode::{AddressSpace, Pointer};
use simt::{AccessKind, DefectKind, MAX_SHARED_BYTES, Space};

/// Above the distances in one block's shared memory.
pub(super) const RANK_SHIFT: u32 = 24;

/// The memory of an access, and the address of its first byte on the host.
#[derive(Clone, Copy)]
pub(super) enum Place {
    /// Memory that the simulator checks.
    Device(Space, usize),
    /// Parameters of the launch.
    Parameter(usize),
    /// Memory of the thread.
    Local(usize),
}

impl Thread<'_> {
    #[inline(always)]
    pub(super) fn address(&self, pointer: Pointer) -> u64 {
        self.get(pointer.address)
            .wrapping_add_signed(pointer.offset)
    }

    /// The place of `bytes` bytes that a pointer names.
    #[inline(always)]
    pub(super) fn place_of(&self, pointer: Pointer, bytes: usize) -> Place {
        self.place(pointer.space, self.address(pointer), bytes)
    }

    /// The place of `bytes` bytes at an address.
    pub(super) fn place(&self, space: AddressSpace, address: u64, bytes: usize) -> Place {
        match space {
            AddressSpace::Global => Place::Device(Space::Global, address as usize),
            AddressSpace::Shared => {
                let offset = address as u32 as usize;
                self.check_shared(offset, bytes);
                Place::Device(Space::Shared, self.shared + offset)
            }
            AddressSpace::SharedCluster => {
                let offset = address as usize & ((1 << RANK_SHIFT) - 1);
                self.check_shared(offset, bytes);
                Place::Device(Space::Shared, self.shared_in_cluster(address as u32))
            }
            AddressSpace::Param => {
                self.check_own(self.parameters.bytes(), address, bytes);
                Place::Parameter(self.parameters.address() + address as usize)
            }
            AddressSpace::Local => {
                self.check_own(self.program.local_bytes, address, bytes);
                Place::Local(self.local.as_ptr().expose_provenance() + address as usize)
            }
            AddressSpace::Generic => self.generic_place(address as usize, bytes),
        }
    }

    /// The address on the host of bytes that are read or written, after their check.
    pub(super) fn checked_host(
        &self,
        space: AddressSpace,
        address: u64,
        bytes: usize,
        kind: AccessKind,
    ) -> usize {
        match self.place(space, address, bytes) {
            Place::Parameter(_) if kind == AccessKind::Write => store_to_parameter(),
            Place::Parameter(host) | Place::Local(host) => host,
            Place::Device(space, host) => {
                if kind == AccessKind::Write {
                    self.check_written(host);
                }
                // SAFETY: the contract of `Kernel::body`.
                unsafe { self.access(space, kind, host, bytes) };
                host
            }
        }
    }

    /// Checks an access of the simulator's memory, at the line of the instruction.
    ///
    /// # Safety
    ///
    /// 1. As for [`simt::access_at`].
    #[inline(always)]
    pub(super) unsafe fn access(&self, space: Space, kind: AccessKind, host: usize, bytes: usize) {
        // SAFETY: requirement 1.
        unsafe { simt::access_at(self.line, space, kind, host, bytes, 0, bytes, bytes) };
    }

    /// Refuses a write to constant memory.
    #[inline(always)]
    pub(super) fn check_written(&self, host: usize) {
        if self.constants.iter().any(|it| it.contains(&host)) {
            invalid("a write to constant memory");
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

    /// Blocks of a cluster have the same arrays.
    pub fn check_shared(&self, offset: usize, bytes: usize) {
        let length = self.shared_bytes;
        if offset.checked_add(bytes).is_none_or(|end| end > length) {
            simt::fail(
                DefectKind::OutOfBounds,
                format!("{bytes} bytes at byte {offset} of {length} bytes of shared memory"),
            );
        }
    }

    /// Checks an access of `length` bytes of parameters or local memory.
    fn check_own(&self, length: usize, address: u64, bytes: usize) {
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
        if !address.is_multiple_of(bytes as u64) {
            simt::fail(
                DefectKind::Misaligned,
                format!("{bytes} bytes at byte {address} of parameters or local memory"),
            );
        }
    }

    /// Whether a generic address is in a space. Parameters of the kernel are in global memory, too.
    pub fn is_in(&self, space: AddressSpace, is_constant: bool, address: usize) -> bool {
        let within = |start: usize, length: usize| address.wrapping_sub(start) < length;
        let is_own = within(self.shared, MAX_SHARED_BYTES);
        let is_shared = is_own || simt::shared_owner(address).is_some();
        let is_local = within(self.local.as_ptr().addr(), self.program.local_bytes);
        let is_in_constants = self.constants.iter().any(|it| it.contains(&address));
        match space {
            AddressSpace::Shared => is_own,
            AddressSpace::SharedCluster => is_shared,
            AddressSpace::Local => is_local,
            AddressSpace::Param => within(self.parameters.address(), self.parameters.bytes()),
            AddressSpace::Global | AddressSpace::Generic => {
                is_in_constants == is_constant && !is_shared && !is_local
            }
        }
    }

    fn generic_place(&self, address: usize, bytes: usize) -> Place {
        let within = |start: usize, length: usize| {
            let distance = address.wrapping_sub(start);
            (distance < length).then_some(distance as u64)
        };
        let spaces = [
            (AddressSpace::Shared, self.shared, MAX_SHARED_BYTES),
            (
                AddressSpace::Param,
                self.parameters.address(),
                self.parameters.bytes(),
            ),
            (
                AddressSpace::Local,
                self.local.as_ptr().addr(),
                self.program.local_bytes,
            ),
        ];
        let found = spaces
            .into_iter()
            .find_map(|(space, start, length)| Some((space, within(start, length)?)));
        if let Some((space, distance)) = found {
            return self.place(space, distance, bytes);
        }
        match simt::shared_owner(address) {
            Some((_, offset)) => {
                self.check_shared(offset, bytes);
                Place::Device(Space::Shared, address)
            }
            None => Place::Device(Space::Global, address),
        }
    }

    pub fn to_generic(&self, space: AddressSpace, address: u64) -> u64 {
        match space {
            AddressSpace::Shared => self.shared as u64 + (address & 0xffff_ffff),
            AddressSpace::SharedCluster => self.shared_in_cluster(address as u32) as u64,
            AddressSpace::Param => address.wrapping_add(self.parameters.address() as u64),
            AddressSpace::Local => {
                address.wrapping_add(self.local.as_ptr().expose_provenance() as u64)
            }
            AddressSpace::Generic | AddressSpace::Global => address,
        }
    }

    pub fn in_space(&self, space: AddressSpace, address: u64) -> u64 {
        let start = match space {
            AddressSpace::Shared | AddressSpace::SharedCluster => {
                return self.shared_address(address);
            }
            AddressSpace::Param => self.parameters.address(),
            AddressSpace::Local => self.local.as_ptr().addr(),
            AddressSpace::Generic | AddressSpace::Global => 0,
        };
        address.wrapping_sub(start as u64)
    }

    /// The shared address of a generic one, which may be another block's: the shared window of a GPU has the memory of the
    /// whole cluster.
    fn shared_address(&self, address: u64) -> u64 {
        let own = address.wrapping_sub(self.shared as u64);
        if own < MAX_SHARED_BYTES as u64 {
            return own;
        }
        match simt::shared_owner(address as usize) {
            Some((rank, offset)) => offset as u64 | u64::from(rank + 1) << RANK_SHIFT,
            None => own,
        }
    }
}

#[cold]
pub(super) fn store_to_parameter() -> ! {
    invalid("a store to a parameter of the kernel, which is constant")
}
