//! Copies on a GPU of arrays in host memory.

use crate::held::Held;
use dlpark::AllocationDeleter;
use std::sync::Arc;
use std::{ptr, slice};
use tilewright::Buffer;

/// The copy on a GPU of an array in host memory.
pub struct Staged {
    buffer: Arc<Buffer<u8>>,
    /// The address of the array.
    first: usize,
    lines: Lines,
    pub is_read_only: bool,
    _owner: AllocationDeleter,
}

impl Staged {
    /// `buffer` is the copy of the array that `held` describes and `owner` keeps alive.
    pub fn new(buffer: Arc<Buffer<u8>>, held: &Held, owner: AllocationDeleter) -> Self {
        Self {
            buffer,
            first: held.bytes.start,
            lines: Lines::of(held),
            is_read_only: held.is_read_only,
            _owner: owner,
        }
    }

    /// Writes the copy to the array, but nothing between its lines: other threads may write that during the call.
    pub fn copy_back(self) -> tilewright::Result<()> {
        let Lines { count, bytes, .. } = self.lines;
        if count * bytes == 0 {
            return Ok(());
        }
        if count * bytes == self.buffer.len() {
            // SAFETY: as for a line, for an array that has nothing between its lines.
            let host = unsafe { host(self.first, count * bytes) };
            return self.buffer.copy_to_slice(host);
        }
        let copy = self.buffer.to_vec()?;
        for line in self.lines.starts() {
            // SAFETY: the producer's elements are writable memory until the owner is dropped, and nothing else uses
            // them during the call.
            let host = unsafe { host(self.first + line, bytes) };
            host.copy_from_slice(&copy[line..line + bytes]);
        }
        Ok(())
    }
}

/// `bytes` bytes of an array in host memory.
///
/// # Safety
/// 1. They are writable, and nothing else uses them while the result lives.
unsafe fn host<'a>(first: usize, bytes: usize) -> &'a mut [u8] {
    // SAFETY: writable memory that nothing else uses: the caller's contract.
    unsafe { slice::from_raw_parts_mut(ptr::with_exposed_provenance_mut(first), bytes) }
}

/// Elements of an array that lie one after another, at equal distances in bytes: the rows or columns of a matrix, and
/// otherwise all. No call writes arrays of other layouts.
#[derive(Debug)]
struct Lines {
    count: usize,
    bytes: usize,
    apart: usize,
}

impl Lines {
    fn of(held: &Held) -> Self {
        let element = held.element.element_size();
        let (count, len, apart) = match (&held.shape[..], &held.strides[..]) {
            (&[rows, columns], &[apart, across]) if across == 1 || columns <= 1 => {
                (rows, columns, apart)
            }
            (&[rows, columns], &[_, apart]) => (columns, rows, apart),
            _ => (1, held.bytes.len() / element.max(1), 0),
        };
        Self {
            count,
            bytes: len.saturating_mul(element),
            // A single line may have any distance.
            apart: apart.saturating_mul(element),
        }
    }

    /// Where each line starts.
    fn starts(&self) -> impl Iterator<Item = usize> + use<> {
        let apart = self.apart;
        (0..self.count).map(move |line| line * apart)
    }
}
