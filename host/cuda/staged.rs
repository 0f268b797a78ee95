//! Copies of pageable host memory, by several host threads through page-locked chunks.
//!
//! The driver copies such memory with one thread, which is slower than the link to the device.

use super::context::{Context, Current, Stream, untimed_event};
use super::driver::{Failure, call};
use super::memory::{allocate_pinned, free_pinned, read_attribute};
use crate::locks::lock;
use cuda_bindings::driver::sys;
use std::ptr::{self, NonNull};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;

/// Shorter copies are the driver's.
const LEAST_BYTES: usize = 16 << 20;

const CHUNK_BYTES: usize = 4 << 20;

/// More threads than this do not fill the link further.
const MOST_THREADS: usize = 8;

/// While one chunk of a thread is copied by the device, the thread fills the other.
const CHUNKS_OF_THREAD: usize = 2;

/// The page-locked chunks of a device that no copy uses.
#[derive(Debug, Default)]
pub struct Chunks {
    free: Mutex<Vec<Chunk>>,
}

/// Page-locked memory of [`CHUNK_BYTES`] bytes, and an event for its last copy.
#[derive(Debug)]
struct Chunk {
    memory: NonNull<u8>,
    event: sys::CUevent,
}

// SAFETY: it owns its memory, and any thread may call the driver's functions with an event.
unsafe impl Send for Chunk {}

/// The direction of a copy, with its host memory.
#[derive(Clone, Copy, Debug)]
pub enum HostMemory {
    /// Memory that is copied to the device.
    Source(*const u8),
    /// Memory that is copied from the device.
    Destination(*mut u8),
}

// SAFETY: it is an address; code that reads or writes there is responsible for races.
unsafe impl Send for HostMemory {}

impl HostMemory {
    fn address(self) -> u64 {
        match self {
            Self::Source(first) => first.addr() as u64,
            Self::Destination(first) => first.addr() as u64,
        }
    }
}

/// Copies `bytes` bytes in the order of `stream` of `context`, through chunks of `kept`, if threads and chunks make that faster; returns whether it did. The
/// copy is complete then.
///
/// # Safety
/// 1. Host and device memory have the bytes. Nothing writes the source and nothing else accesses the destination until
///    the stream is done.
pub unsafe fn copy(
    (context, kept): (&Context, &Chunks),
    stream: &Stream,
    host: HostMemory,
    device: u64,
    bytes: usize,
    current: &Current<'_>,
) -> Result<bool, Failure> {
    if bytes < LEAST_BYTES || is_page_locked(host, current) {
        return Ok(false);
    }
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let threads = MOST_THREADS.min(cores / 2);
    if threads < 2 {
        return Ok(false);
    }
    let mut chunks = kept.take(threads * CHUNKS_OF_THREAD, current);
    if chunks.len() < 2 * CHUNKS_OF_THREAD {
        kept.give_back(chunks, current);
        return Ok(false);
    }
    let next = AtomicUsize::new(0);
    let copied = thread::scope(|scope| {
        let mut parts = Vec::new();
        for pair in chunks.chunks_exact_mut(CHUNKS_OF_THREAD) {
            let next = &next;
            parts.push(scope.spawn(move || {
                let host = host;
                let _current = context.enter()?;
                let [one, other] = pair else {
                    unreachable!("there are two chunks");
                };
                let pieces = Pieces { next, bytes };
                // SAFETY: the memory has the bytes, without conflicting accesses: the caller's contract.
                unsafe { copy_pieces(stream, host, device, pieces, [one, other]) }
            }));
        }
        let results = parts.into_iter().map(|part| match part.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        results.fold(Ok(()), Result::and)
    });
    // Even after a failure, no copy may use a chunk that others take. If waiting fails, too, the chunks are lost.
    stream.synchronize(current)?;
    kept.give_back(chunks, current);
    copied.map(|()| true)
}

/// The pieces of a copy, which threads take one after another.
#[derive(Clone, Copy)]
struct Pieces<'a> {
    next: &'a AtomicUsize,
    bytes: usize,
}

impl Iterator for Pieces<'_> {
    /// Where a piece starts, and its length.
    type Item = (usize, usize);

    fn next(&mut self) -> Option<(usize, usize)> {
        let start = self.next.fetch_add(CHUNK_BYTES, Relaxed);
        (start < self.bytes).then(|| (start, CHUNK_BYTES.min(self.bytes - start)))
    }
}

/// Copies the pieces that one thread takes. A context must be current.
///
/// # Safety
/// The requirements of [`copy`].
unsafe fn copy_pieces(
    stream: &Stream,
    host: HostMemory,
    device: u64,
    pieces: Pieces<'_>,
    chunks: [&mut Chunk; CHUNKS_OF_THREAD],
) -> Result<(), Failure> {
    let mut in_flight: [Option<(usize, usize)>; CHUNKS_OF_THREAD] = [None; CHUNKS_OF_THREAD];
    for (turn, (start, len)) in pieces.enumerate() {
        let number = turn % CHUNKS_OF_THREAD;
        let (chunk, place) = (&*chunks[number], device + start as u64);
        // SAFETY: the chunk's last piece is in host memory, which has the bytes: the caller's contract.
        unsafe { end(host, chunk, in_flight[number].take()) }?;
        let raw = stream.raw();
        match host {
            HostMemory::Source(first) => {
                // SAFETY: the source has the bytes, and the chunk has as many, which no copy uses any more.
                unsafe { ptr::copy_nonoverlapping(first.add(start), chunk.memory.as_ptr(), len) };
                let source = chunk.memory.as_ptr().cast();
                // SAFETY: the chunk stays until its event has come; the destination has the bytes, without conflicting
                // work: the caller's contract.
                unsafe { call!(cuMemcpyHtoDAsync_v2(place, source, len, raw)) }?;
            }
            HostMemory::Destination(_) => {
                let destination = chunk.memory.as_ptr().cast();
                // SAFETY: the chunk stays until its event has come; the source has the bytes, without conflicting
                // work: the caller's contract.
                unsafe { call!(cuMemcpyDtoHAsync_v2(destination, place, len, raw)) }?;
            }
        }
        // SAFETY: event and stream are alive.
        unsafe { call!(cuEventRecord(chunk.event, raw)) }?;
        in_flight[number] = Some((start, len));
    }
    for (chunk, piece) in chunks.iter().zip(in_flight) {
        // SAFETY: as above.
        unsafe { end(host, chunk, piece) }?;
    }
    Ok(())
}

/// Waits for the copy of a piece, and copies it from the chunk if it came from the device.
///
/// # Safety
/// 1. Host memory has the bytes of the piece, which nothing else accesses if it is a destination.
unsafe fn end(
    host: HostMemory,
    chunk: &Chunk,
    piece: Option<(usize, usize)>,
) -> Result<(), Failure> {
    let Some((start, len)) = piece else {
        return Ok(());
    };
    // SAFETY: the event is alive.
    unsafe { call!(cuEventSynchronize(chunk.event)) }?;
    if let HostMemory::Destination(first) = host {
        // SAFETY: the destination has the bytes, and nothing else accesses them: the caller's contract. The device has
        // written them to the chunk.
        unsafe { ptr::copy_nonoverlapping(chunk.memory.as_ptr(), first.add(start), len) };
    }
    Ok(())
}

/// Whether the driver knows the memory as page-locked, so that the device copies it directly.
pub fn is_page_locked(host: HostMemory, _current: &Current<'_>) -> bool {
    const HOST: u32 = sys::CUmemorytype_enum::CU_MEMORYTYPE_HOST as u32;
    let attribute = sys::CUpointer_attribute_enum::CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
    let mut memory = 0_u32;
    // SAFETY: the type is right: this attribute is a 32-bit number.
    let known = unsafe { read_attribute(host.address(), attribute, &mut memory) };
    known.is_ok() && memory == HOST
}

impl Chunks {
    /// Up to `count` chunks: fewer if there is no page-locked memory for more.
    fn take(&self, count: usize, current: &Current<'_>) -> Vec<Chunk> {
        let mut free = lock(&self.free);
        let kept = free.len().saturating_sub(count);
        let mut taken = free.split_off(kept);
        drop(free);
        while taken.len() < count {
            match Chunk::new(current) {
                Ok(chunk) => taken.push(chunk),
                Err(_) => break,
            }
        }
        taken
    }

    /// Keeps the chunks of one copy for the next, and frees those of copies beside it.
    fn give_back(&self, chunks: Vec<Chunk>, current: &Current<'_>) {
        let mut free = lock(&self.free);
        free.extend(chunks);
        let kept = free.len().min(MOST_THREADS * CHUNKS_OF_THREAD);
        let excess = free.split_off(kept);
        drop(free);
        excess.into_iter().for_each(|chunk| chunk.free(current));
    }

    /// Frees the chunks.
    pub fn free(&self, current: &Current<'_>) {
        let chunks: Vec<Chunk> = lock(&self.free).drain(..).collect();
        chunks.into_iter().for_each(|chunk| chunk.free(current));
    }
}

impl Chunk {
    fn free(self, current: &Current<'_>) {
        // SAFETY: a live allocation and a live event that nothing uses any more: no copy has the chunk.
        let _ =
            unsafe { call!(cuEventDestroy_v2(self.event)).and(free_pinned(self.memory, current)) };
    }

    fn new(current: &Current<'_>) -> Result<Self, Failure> {
        let event = untimed_event()?;
        match allocate_pinned(CHUNK_BYTES, current) {
            Ok(memory) => Ok(Self { memory, event }),
            Err(failure) => {
                // SAFETY: the event is alive, and this is its last use.
                let _ = unsafe { call!(cuEventDestroy_v2(event)) };
                Err(failure)
            }
        }
    }
}
