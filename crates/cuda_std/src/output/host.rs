//! Reading records, on the host.

use super::format;
use super::ring::{CAPACITY, EMPTY, Memory, Record, WRITTEN};
use super::value::{Kind, Value};
use super::{MAX_TEXT_BYTES, MAX_VALUES};
use std::ptr::NonNull;
use std::sync::atomic::{Ordering, fence};

/// The host's side of the memory of a [`Ring`](super::Ring).
#[derive(Debug)]
pub struct Records {
    memory: NonNull<Memory>,
    /// The number of lines read so far.
    next: u32,
}

// SAFETY: it holds an address. The records' states order all accesses.
unsafe impl Send for Records {}

/// A panic of a kernel on a GPU.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PanicReport {
    /// The number of the kernel, as the host wrote it to the ring.
    pub kernel: u32,
    /// File, line and column.
    pub place: String,
    /// The message, if it is a text without values.
    pub message: String,
    /// The block's index.
    pub block: [u32; 3],
    /// The thread's index in its block.
    pub thread: [u32; 3],
}

impl Records {
    /// Size of the memory in bytes.
    pub const BYTES: usize = size_of::<Memory>();

    /// The records in the memory at `start`.
    ///
    /// # Safety
    /// 1. `start` is aligned to 16 bytes and has [`BYTES`](Self::BYTES) zero bytes, which live as long as the result.
    ///    Only kernels whose ring has their address write them.
    #[must_use]
    pub unsafe fn new(start: NonNull<u8>) -> Self {
        Self {
            memory: start.cast(),
            next: 0,
        }
    }

    /// Calls `print` with each complete, unread line, in the order in which the lines were begun, and returns their
    /// number.
    ///
    /// `also_behind_gaps` includes lines after an incomplete one: for when no kernel runs any more.
    pub fn drain(&mut self, also_behind_gaps: bool, mut print: impl FnMut(String)) -> u32 {
        let mut lines = 0;
        for _ in 0..CAPACITY {
            let index = (self.next % CAPACITY) as usize;
            // SAFETY: the memory is live: the contract of `new`. The index is below the length.
            let record = unsafe { &raw mut (*self.memory.as_ptr()).lines[index] };
            // SAFETY: as above. Nothing writes a complete record until the host gives it back.
            match unsafe { read(record) } {
                Some(record) => {
                    print(record.line());
                    lines += 1;
                }
                None if also_behind_gaps => {}
                None => break,
            }
            // SAFETY: as above. The record is cleared before it is given back.
            unsafe {
                (*record).kinds = [0; MAX_VALUES];
                (*record).state.store(EMPTY, Ordering::Relaxed);
                self.next = self.next.wrapping_add(1);
                let drained = &(*self.memory.as_ptr()).drained;
                drained.store(self.next, Ordering::Release);
            }
        }
        lines
    }

    /// The first panic, if there was one.
    #[must_use]
    pub fn panic(&self) -> Option<PanicReport> {
        // SAFETY: the memory is live: the contract of `new`. Nothing writes a complete panic.
        let record = unsafe { read(&raw const (*self.memory.as_ptr()).panic)? };
        Some(record.panic())
    }
}

/// A copy of a record's contents.
struct Copy {
    kernel: u32,
    line: u32,
    column: u32,
    block: [u32; 3],
    thread: [u32; 3],
    texts: [String; 2],
    values: Vec<Value>,
}

/// A copy of the record, if it is complete.
///
/// # Safety
/// 1. The record is in live memory, and nothing writes it once it is complete.
unsafe fn read(record: *const Record) -> Option<Copy> {
    // SAFETY: the memory is live: the caller's contract.
    if unsafe { (*record).state.load(Ordering::Relaxed) } != WRITTEN {
        return None;
    }
    fence(Ordering::Acquire);
    // SAFETY: the memory is live and nothing writes a complete record: the caller's contract.
    let record = unsafe { &*record };
    let [first, second] = record.text_bytes.map(|bytes| bytes as usize);
    let middle = first.min(MAX_TEXT_BYTES);
    let end = (middle + second).min(MAX_TEXT_BYTES);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Some(Copy {
        kernel: record.kernel,
        line: record.line,
        column: record.column,
        block: record.block,
        thread: record.thread,
        texts: [
            text(&record.text[..middle]),
            text(&record.text[middle..end]),
        ],
        values: (0..MAX_VALUES)
            .map_while(|place| value(record.kinds[place], record.values[place]))
            .collect(),
    })
}

fn value(kind: u8, bits: u64) -> Option<Value> {
    let kind = Kind::of_number(kind)?;
    Some(Value { kind, bits })
}

impl Copy {
    fn line(&self) -> String {
        format::line(&self.texts[0], &self.values)
    }

    fn panic(self) -> PanicReport {
        let [file, message] = self.texts;
        PanicReport {
            kernel: self.kernel,
            place: format!("{file}:{}:{}", self.line, self.column),
            message,
            block: self.block,
            thread: self.thread,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::device::Panic;
    use super::super::ring::Ring;
    use super::*;
    use crate::output::Printable as _;
    use std::alloc::{Layout, alloc_zeroed, dealloc};

    /// Memory, and a ring that has its address.
    struct Shared {
        memory: *mut u8,
        ring: Ring,
    }

    impl Shared {
        const LAYOUT: Layout = Layout::new::<Memory>();

        fn new() -> Self {
            // SAFETY: the layout's size is not zero.
            let memory = unsafe { alloc_zeroed(Self::LAYOUT) };
            let bytes = Ring::bytes_with_memory(memory.expose_provenance() as u64);
            // SAFETY: every field of the ring is a number, and the array has its size.
            let ring = unsafe { std::mem::transmute::<[u8; size_of::<Ring>()], Ring>(bytes) };
            Self { memory, ring }
        }

        fn records(&self) -> Records {
            // SAFETY: it is allocated with the layout, zeroed, and outlives the records of a test.
            unsafe { Records::new(NonNull::new(self.memory).unwrap()) }
        }

        fn print(&self, text: &str, values: &[Value]) {
            // SAFETY: the memory is live and zeroed.
            unsafe { self.ring.record_line(text, values) };
        }
    }

    impl Drop for Shared {
        fn drop(&mut self) {
            // SAFETY: it was allocated with this layout.
            unsafe { dealloc(self.memory, Self::LAYOUT) };
        }
    }

    // SAFETY: the ring orders all accesses of the memory.
    unsafe impl Sync for Shared {}

    fn drained(records: &mut Records, also_behind_gaps: bool) -> Vec<String> {
        let mut lines = Vec::new();
        let count = records.drain(also_behind_gaps, |line| lines.push(line));
        assert_eq!(count as usize, lines.len());
        lines
    }

    #[test]
    fn lines_are_read_once_in_their_order() {
        let shared = Shared::new();
        let mut records = shared.records();
        assert_eq!(drained(&mut records, false), [""; 0]);
        for i in 0..3_u32 {
            shared.print("i = {}, x = {}", &[i.value(), (i as f32 * 0.5).value()]);
        }
        let expected = ["i = 0, x = 0", "i = 1, x = 0.5", "i = 2, x = 1"];
        assert_eq!(drained(&mut records, false), expected);
        assert_eq!(drained(&mut records, false), [""; 0]);
        // The values of an earlier line in the same place are gone.
        for _ in 0..CAPACITY {
            shared.print("{}", &[]);
        }
        let lines = drained(&mut records, false);
        assert!(lines.len() == CAPACITY as usize && lines.iter().all(|line| line == "{}"));
    }

    #[test]
    fn a_line_behind_one_that_was_never_completed_is_read_at_the_end() {
        let shared = Shared::new();
        let mut records = shared.records();
        // SAFETY: the memory is live and zeroed.
        assert!(unsafe { shared.ring.take() }.is_some());
        shared.print("behind", &[]);
        assert_eq!(drained(&mut records, false), [""; 0]);
        assert_eq!(drained(&mut records, true), ["behind"]);
    }

    #[test]
    fn lines_past_the_capacity_are_lost_and_counted() {
        let shared = Shared::new();
        let mut records = shared.records();
        for i in 0..CAPACITY + 5 {
            shared.print("{}", &[i.value()]);
        }
        let lines = drained(&mut records, false);
        assert_eq!(lines.len(), CAPACITY as usize);
        assert_eq!(lines.last(), Some(&(CAPACITY - 1).to_string()));
        // SAFETY: the offset is that of a number in the ring.
        let lost = unsafe {
            (&raw const shared.ring)
                .cast::<u8>()
                .add(Ring::LOST_OFFSET)
                .cast::<u32>()
                .read()
        };
        assert_eq!(lost, 5);
        shared.print("room", &[]);
        assert_eq!(drained(&mut records, false), ["room"]);
    }

    #[test]
    fn no_line_of_several_threads_is_torn_while_the_host_reads() {
        let shared = Shared::new();
        let mut records = shared.records();
        let mut lines = Vec::new();
        std::thread::scope(|scope| {
            let shared = &shared;
            let threads: Vec<_> = (0..4_u64)
                .map(|thread| {
                    scope.spawn(move || {
                        for i in 0..200_u64 {
                            shared.print(
                                "{} {} {}",
                                &[thread.value(), i.value(), (thread * i).value()],
                            );
                        }
                    })
                })
                .collect();
            while !threads.iter().all(|thread| thread.is_finished()) {
                records.drain(false, |line| lines.push(line));
            }
        });
        records.drain(false, |line| lines.push(line));
        let mut expected: Vec<_> = (0..4)
            .flat_map(|thread| (0..200).map(move |i| format!("{thread} {i} {}", thread * i)))
            .collect();
        lines.sort();
        expected.sort();
        assert_eq!(lines, expected);
    }

    #[test]
    fn the_first_panic_is_kept() {
        let shared = Shared::new();
        let records = shared.records();
        assert_eq!(records.panic(), None);
        for line in [7, 8] {
            let panic = Panic {
                file: "kernels/lib.rs",
                line,
                column: 5,
                message: "assertion failed: x > 0",
                block: [1, 2, 3],
                thread: [4, 5, 6],
            };
            // SAFETY: the memory is live and zeroed.
            unsafe { shared.ring.record_panic(&panic) };
        }
        let expected = PanicReport {
            kernel: 0,
            place: "kernels/lib.rs:7:5".to_owned(),
            message: "assertion failed: x > 0".to_owned(),
            block: [1, 2, 3],
            thread: [4, 5, 6],
        };
        assert_eq!(records.panic(), Some(expected));
    }
}
