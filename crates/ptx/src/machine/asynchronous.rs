//! Barriers in shared memory, bulk copies and clusters.

use super::invalid::invalid;
use super::places::{Place, RANK_SHIFT};
use super::thread::Thread;
use crate::decode::{ArrivalOrder, BoxCopy, BytesCopy, MbarrierStep, Pointer};
use bytemuck::Zeroable;
use simt::{AccessKind, DefectKind, MAX_SHARED_BYTES, Space, TensorMap};
use std::ptr::{with_exposed_provenance, with_exposed_provenance_mut};

/// The bytes of an mbarrier.
const BARRIER_BYTES: usize = 8;

/// The most arrivals of an mbarrier's phase (PTX ISA, "mbarrier").
const MOST_ARRIVALS: u32 = (1 << 20) - 1;

impl Thread<'_> {
    /// The address on the host of what a pointer names in shared memory.
    fn shared_place(&self, pointer: Pointer, bytes: usize) -> usize {
        match self.place_of(pointer, bytes) {
            Place::Device(Space::Shared, host) => host,
            _ => invalid("an mbarrier or a bulk copy that is not in shared memory"),
        }
    }

    pub fn mbarrier(&mut self, barrier: Pointer, step: MbarrierStep) {
        let address = self.shared_place(barrier, BARRIER_BYTES);
        match step {
            MbarrierStep::Init(arrivals) => {
                simt::mbarrier_init(address, self.get(arrivals) as u32);
            }
            MbarrierStep::Invalidate => simt::mbarrier_invalidate(address),
            MbarrierStep::Check => {
                simt::mbarrier_parity(address);
            }
            MbarrierStep::Arrive {
                d,
                count,
                bytes,
                order,
            } => {
                // The phase lasts at least until the thread has arrived.
                let parity = d.map(|d| (d, simt::mbarrier_parity(address)));
                let bytes = bytes.map_or(0, |slot| self.get(slot) as u32);
                self.arrive(address, (self.arrivals(count), bytes), order);
                if let Some((d, parity)) = parity {
                    self.set(d, parity.into());
                }
            }
            MbarrierStep::Expect(bytes) => simt::mbarrier_expect(address, self.get(bytes) as u32),
            // It may wait as long as it likes, and so until the end of the phase.
            MbarrierStep::Wait { d, parity } => {
                simt::mbarrier_wait(address, self.get(parity) & 1 == 1);
                self.set(d, 1);
            }
            MbarrierStep::Test { d, parity } => {
                let is_past = simt::mbarrier_test(address, self.get(parity) & 1 == 1);
                self.set(d, is_past.into());
            }
        }
    }

    fn arrive(&self, address: usize, (count, bytes): (u32, u32), order: ArrivalOrder) {
        let is_own = address.wrapping_sub(self.shared) < MAX_SHARED_BYTES;
        match order {
            ArrivalOrder::Block if is_own => simt::mbarrier_arrive_counted(address, count, bytes),
            ArrivalOrder::Cluster => simt::mbarrier_arrive_counted(address, count, bytes),
            _ => simt::mbarrier_arrive_relaxed(address, count, bytes),
        }
    }

    /// A number of arrivals at once.
    fn arrivals(&self, count: u32) -> u32 {
        match self.get(count) as u32 {
            count @ 1..=MOST_ARRIVALS => count,
            count => invalid(format!(
                "{count} arrivals at an mbarrier: it can have 1 to {MOST_ARRIVALS}"
            )),
        }
    }

    pub fn copy_box(&mut self, it: &BoxCopy) {
        let map = self.tensor_map(self.get(it.map));
        let coordinates = self.list(it.coordinates).iter();
        let coordinates: Vec<i32> = coordinates.map(|slot| self.get(*slot) as i32).collect();
        let box_bytes = map.fields().map_or(16, |fields| fields.box_bytes());
        let shared = self.shared_place(it.shared, box_bytes);
        let blocks = it.blocks.map(|slot| self.get(slot) as u16);
        match it.barrier {
            Some(barrier) => {
                let barrier = self.shared_place(barrier, BARRIER_BYTES);
                let shared = with_exposed_provenance_mut(shared);
                // SAFETY: the contract of `Kernel::body`: a tensor's memory is that of an argument.
                unsafe { simt::tensor_load(&map, shared, barrier, &coordinates, blocks) };
            }
            // SAFETY: as above.
            None => unsafe {
                simt::tensor_store(&map, with_exposed_provenance(shared), &coordinates);
            },
        }
    }

    /// The description of a tensor at a generic address.
    fn tensor_map(&self, address: u64) -> TensorMap {
        let bytes = size_of::<TensorMap>();
        if !address.is_multiple_of(align_of::<TensorMap>() as u64) {
            simt::fail(
                DefectKind::Misaligned,
                format!("a tensor map at address {address:#x}, which is not a multiple of 64"),
            );
        }
        let mut map = TensorMap::zeroed();
        let words: &mut [[u8; 16]] = bytemuck::cast_slice_mut(bytemuck::bytes_of_mut(&mut map));
        for (number, word) in words.iter_mut().enumerate() {
            let address = address.wrapping_add((number * size_of_val(word)) as u64);
            let place = self.place(
                crate::decode::AddressSpace::Generic,
                address,
                size_of_val(word),
            );
            let host = match place {
                Place::Parameter(host) | Place::Local(host) => host,
                Place::Device(space, host) => {
                    // SAFETY: the contract of `Kernel::body`.
                    unsafe {
                        simt::access_at(self.line, space, AccessKind::Read, host, bytes, 0, 16, 16)
                    };
                    host
                }
            };
            // SAFETY: the bytes are the launch's parameters, or were checked.
            *word = unsafe { simt::load_relaxed(with_exposed_provenance(host)) };
        }
        map
    }

    pub fn copy_bytes(&mut self, it: &BytesCopy) {
        let bytes = self.get(it.bytes) as u32 as usize;
        let shared = self.shared_place(it.shared, bytes);
        let global = self.address(it.global) as usize;
        let blocks = it.blocks.map(|slot| self.get(slot) as u16);
        match it.barrier {
            Some(barrier) => {
                let barrier = self.shared_place(barrier, BARRIER_BYTES);
                let (to, from) = (
                    with_exposed_provenance_mut(shared),
                    with_exposed_provenance(global),
                );
                // SAFETY: the contract of `Kernel::body`.
                unsafe { simt::bulk_load(to, from, bytes, barrier, blocks) };
            }
            None => {
                self.check_written(global);
                let (to, from) = (
                    with_exposed_provenance_mut(global),
                    with_exposed_provenance(shared),
                );
                // SAFETY: the contract of `Kernel::body`.
                unsafe { simt::bulk_store(to, from, bytes) };
            }
        }
    }

    /// The address of the same place in another block of the cluster.
    pub fn map_shared(&mut self, d: u32, a: u32, rank: u32, is_generic: bool) {
        let (address, rank) = (self.get(a), self.get(rank) as u32);
        let mapped = match is_generic {
            true => simt::map_shared(address as usize, rank) as u64,
            false => {
                let offset = address & ((1 << RANK_SHIFT) - 1);
                // There is a block of this rank, or the launch ends here.
                simt::map_shared(self.shared + offset as usize, rank);
                offset | u64::from(rank + 1) << RANK_SHIFT
            }
        };
        self.set(d, mapped);
    }
}
