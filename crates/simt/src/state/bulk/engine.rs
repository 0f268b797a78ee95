//! The bulk copies of one block that are in flight.

use super::pieces::Piece;
use crate::basics::{CallSite, Position};
use crate::memory::{copy_from_global, copy_to_global};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

/// A copy to the shared memory of a block of the cluster, which counts its bytes on an mbarrier
/// there. A multicast consists of several, which arrive one by one.
#[derive(Clone)]
pub(crate) struct Load {
    pub pieces: Rc<[Piece]>,
    /// Its start in shared memory, and its length.
    pub start: usize,
    pub bytes: usize,
    /// The rank of the block.
    pub target: u32,
    /// The offset of the mbarrier.
    pub barrier: usize,
    /// The thread that has issued it.
    pub position: Position,
    pub site: CallSite,
}

/// A copy to global memory.
#[derive(Clone)]
pub(crate) struct Store {
    pub pieces: Vec<Piece>,
    /// The bytes, once they have been read.
    pub data: Option<Vec<u8>>,
}

/// A copy in flight.
#[derive(Clone)]
pub(crate) enum Job {
    Load(Load),
    Store(Store),
}

impl Load {
    /// Copies to the shared memory that begins at `shared`.
    ///
    /// # Safety
    ///
    /// 1. The pieces are within the shared memory that begins at `shared`, and their global sides are valid for
    ///    reads; other host threads write there only through this crate.
    pub unsafe fn copy_to(&self, shared: *mut u8) {
        for piece in &*self.pieces {
            // SAFETY: the pieces are in shared memory, their sources are readable, and other host threads write the
            // sources only through this crate: the caller's contract.
            unsafe {
                let destination = shared.add(piece.shared);
                let source = std::ptr::with_exposed_provenance::<u8>(piece.global);
                copy_from_global(destination, source, piece.inside);
                destination
                    .add(piece.inside)
                    .write_bytes(0, piece.bytes - piece.inside);
            }
        }
    }
}

impl Store {
    /// Reads the source, in the shared memory that begins at `shared`, unless it has been read.
    ///
    /// # Safety
    ///
    /// 1. The pieces are within the shared memory that begins at `shared`.
    pub unsafe fn read(&mut self, shared: *const u8) {
        if self.data.is_some() {
            return;
        }
        let mut data = Vec::new();
        for piece in &self.pieces {
            // SAFETY: the pieces are in shared memory: the caller's contract. No other host thread writes them,
            // because the threads that address a block's memory all run on this one.
            data.extend_from_slice(unsafe {
                std::slice::from_raw_parts(shared.add(piece.shared), piece.inside)
            });
        }
        self.data = Some(data);
    }

    /// Writes the bytes that were read.
    ///
    /// # Safety
    ///
    /// 1. The global sides of the pieces are valid for writes; other host threads access them only
    ///    through this crate.
    pub unsafe fn write(&self) {
        let mut rest = self.data.as_deref().unwrap_or_default();
        for piece in &self.pieces {
            let Some((bytes, following)) = rest.split_at_checked(piece.inside) else {
                return;
            };
            let destination = std::ptr::with_exposed_provenance_mut::<u8>(piece.global);
            // SAFETY: the destination is writable, and other host threads access it only through this crate: the
            // caller's contract. The source is a slice of this function's own, of that length.
            unsafe { copy_to_global(destination, bytes.as_ptr(), bytes.len()) };
            rest = following;
        }
    }
}

/// The copies of one block that are in flight, by number.
#[derive(Default)]
pub(crate) struct Engine {
    jobs: RefCell<BTreeMap<u64, Job>>,
    next: Cell<u64>,
}

impl Engine {
    /// Forgets all copies.
    pub fn clear(&mut self) {
        self.jobs.get_mut().clear();
    }

    /// The number of copies in flight.
    pub fn len(&self) -> usize {
        self.jobs.borrow().len()
    }

    /// Adds an issued copy; returns its number.
    pub fn issue(&self, job: Job) -> u64 {
        let number = self.next.get();
        self.next.set(number + 1);
        self.jobs.borrow_mut().insert(number, job);
        number
    }

    /// Takes out the copy at index `place` among those in flight.
    pub fn take_at(&self, place: usize) -> Option<(u64, Job)> {
        let mut jobs = self.jobs.borrow_mut();
        let number = *jobs.keys().nth(place)?;
        Some((number, jobs.remove(&number)?))
    }

    /// Takes out a copy by its number, if it is in flight.
    pub fn take(&self, number: u64) -> Option<Job> {
        self.jobs.borrow_mut().remove(&number)
    }

    /// Puts back a copy that stays in flight.
    pub fn put_back(&self, number: u64, job: Job) {
        self.jobs.borrow_mut().insert(number, job);
    }

    /// The first copy in flight for which `is_wanted` is true.
    pub fn find(&self, is_wanted: impl Fn(&Job) -> bool) -> Option<Job> {
        let jobs = self.jobs.borrow();
        jobs.values().find(|job| is_wanted(job)).cloned()
    }
}
