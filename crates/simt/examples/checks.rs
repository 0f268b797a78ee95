//! What the checks of memory cost on this machine: each pattern of access without them and with
//! them, and a grid in which every block takes a ticket between two fences. One host thread runs the
//! blocks; what counts is the processor time of the process, which other processes do not change
//! much. At last, how many bytes the checks take for each byte of memory.
//!
//! `cargo run --release --package tilewright-simt --example checks [pattern]`

#[path = "../tests/borrowed/mod.rs"]
mod borrowed;

use simt::{AccessKind, BarrierId, Contents, Launch, MemoryScope, Options, Space};
use std::alloc::{GlobalAlloc, Layout, System};
use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};

const THREADS: u32 = 256;
const WORDS: usize = 1 << 20;
/// The machine may be shared: the best of several runs counts.
const RUNS: usize = 20;

/// The allocator of the system, which counts.
struct Counting {
    /// Bytes that are allocated.
    bytes: AtomicUsize,
    /// The most of them since this was set.
    most: AtomicUsize,
}

#[global_allocator]
static COUNTING: Counting = Counting {
    bytes: AtomicUsize::new(0),
    most: AtomicUsize::new(0),
};

impl Counting {
    fn add(&self, bytes: usize) {
        let bytes = self.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.most.fetch_max(bytes, Ordering::Relaxed);
    }
}

// SAFETY: all is left to the allocator of the system; what is counted does not change what it returns.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        self.add(layout.size());
        // SAFETY: the caller keeps to the same contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        self.add(layout.size());
        // SAFETY: as in `alloc`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        self.bytes.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: as in `alloc`.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// The most bytes that are allocated while `action` runs, less those that are before.
fn most_allocated(action: impl FnOnce()) -> usize {
    let before = COUNTING.bytes.load(Ordering::Relaxed);
    COUNTING.most.store(before, Ordering::Relaxed);
    action();
    COUNTING.most.load(Ordering::Relaxed) - before
}

/// Seconds of processor time that the process has taken.
#[cfg(target_os = "linux")]
fn processor_seconds() -> f64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the pointer is to a value of the type that the call fills in.
    let status = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    assert_eq!(status, 0, "every Linux has this clock");
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// Seconds of a clock on the wall, where there is no other one.
#[cfg(not(target_os = "linux"))]
fn processor_seconds() -> f64 {
    static START: std::sync::LazyLock<std::time::Instant> =
        std::sync::LazyLock::new(std::time::Instant::now);
    START.elapsed().as_secs_f64()
}

/// Seconds of processor time that the launch takes.
fn seconds(blocks: u32, threads: u32, checks: bool, body: impl Fn() + Sync) -> f64 {
    let options = Options {
        parallel_blocks: false,
        checks,
        ..Options::default()
    };
    let launch = Launch::new("checks", blocks, threads, &options);
    let run = |_| {
        let start = processor_seconds();
        crate::borrowed::run(&launch, &body).expect("the kernel has no defect");
        processor_seconds() - start
    };
    (0..RUNS).map(run).fold(f64::INFINITY, f64::min)
}

/// Whether the command line names the pattern, or none.
fn is_chosen(name: &str) -> bool {
    std::env::args()
        .nth(1)
        .is_none_or(|chosen| name.contains(&chosen))
}

/// Prints millions of operations a second, without and with checks.
fn compare(name: &str, blocks: u32, operations: u32, body: impl Fn() + Sync) {
    if !is_chosen(name) {
        return;
    }
    let count = f64::from(blocks) * f64::from(THREADS) * f64::from(operations);
    let [plain, checked] =
        [false, true].map(|checks| count / seconds(blocks, THREADS, checks, &body) / 1e6);
    println!(
        "{name:32} {plain:8.1} {checked:8.1}    1/{:.1}",
        plain / checked
    );
}

/// A word of the buffer, announced and accessed.
#[derive(Clone, Copy)]
struct Words(usize);

impl Words {
    #[inline]
    fn announce(self, kind: AccessKind, index: usize) -> *mut u32 {
        // SAFETY: the words live as long as the program, and launches alone access them.
        unsafe { simt::access(Space::Global, kind, self.0, WORDS * 4, index * 4, 4, 4) };
        std::ptr::with_exposed_provenance_mut::<u32>(self.0 + index * 4)
    }

    #[inline]
    fn load(self, kind: AccessKind, index: usize) -> u32 {
        let word = self.announce(kind, index);
        // SAFETY: the index is in bounds, and all threads access the words through the simulator.
        unsafe { simt::load_relaxed(word) }
    }

    #[inline]
    fn store(self, index: usize, value: u32) {
        let word = self.announce(AccessKind::Write, index);
        // SAFETY: as in `load`.
        unsafe { simt::store_relaxed(word, value) };
    }

    #[inline]
    fn add(self, index: usize) -> u32 {
        let word = self.announce(AccessKind::Atomic, index);
        // SAFETY: as in `load`.
        unsafe { simt::atomic_update_u32(word, |old| old.wrapping_add(1)) }
    }
}

fn index() -> usize {
    let at = simt::position();
    (at.block_idx.x * at.block_dim.x + at.thread_idx.x) as usize
}

fn global_memory(words: Words) {
    let re_read = |kind| {
        move || {
            let first = index();
            let mut sum = 0_u32;
            for step in 0..200 {
                sum = sum.wrapping_add(words.load(kind, (first + step * 256) % WORDS));
            }
            black_box(sum);
        }
    };
    compare("global re-read", 40, 200, re_read(AccessKind::Read));
    compare(
        "global, read-only cache",
        40,
        200,
        re_read(AccessKind::ReadOnly),
    );
    compare("global load and store, fresh", 64, 128, || {
        let first = simt::position().block_idx.x as usize * 64 * THREADS as usize;
        for step in 0..64 {
            let index = first + step * THREADS as usize + simt::position().thread_idx.x as usize;
            words.store(index, words.load(AccessKind::Read, index) + 1);
        }
    });
}

/// All threads add to one word, and to words of a histogram.
fn atomics(words: Words) {
    for (name, bins) in [
        ("atomic adds to one word", 1),
        ("atomic adds to 256 words", 256),
    ] {
        compare(name, 40, 200, || {
            let own = index();
            for step in 0..200 {
                black_box(words.add((own * 31 + step * 17) % bins));
            }
        });
    }
    compare("atomic load, atomic add", 40, 200, || {
        for _ in 0..100 {
            let word = words.announce(AccessKind::AtomicRead, 0);
            // SAFETY: as in `Words::load`.
            black_box(unsafe { simt::atomic_update_u32(word, |old| old) });
            black_box(words.add(0));
        }
    });
}

fn shared_memory() {
    compare("shared store, barrier, load", 10, 256, || {
        let words = simt::static_shared(1, 1024, 16).cast::<u32>();
        let access = |kind, index: usize| {
            // SAFETY: the view is of shared memory.
            unsafe { simt::access(Space::Shared, kind, words.addr(), 1024, index * 4, 4, 4) };
            words.wrapping_add(index)
        };
        let own = simt::position().thread_idx.x as usize;
        for _ in 0..2 {
            // SAFETY: the index is in bounds; the threads of a block run one after the other.
            unsafe { *access(AccessKind::Write, own) = 1 };
            simt::block_barrier(BarrierId(0), None);
            for step in 0..127 {
                // SAFETY: as above.
                black_box(unsafe { *access(AccessKind::Read, (own + step) % 256) });
            }
            simt::block_barrier(BarrierId(0), None);
        }
    });
}

/// As in a tiled product: 16 columns of a tile of 64 rows and 16 rows of one of 64 columns are stored
/// in vectors, and each thread loads what its 4 x 4 outputs need.
fn shared_tiles() {
    const BYTES: usize = 8192;
    const ELEMENTS: usize = BYTES / 4;
    compare("shared tiles of a product", 10, 8 * (2 + 128), || {
        let words = simt::static_shared(2, BYTES, 16).cast::<u32>();
        let access = |kind, index: usize, bytes: usize| {
            // SAFETY: the view is of shared memory.
            unsafe {
                simt::access(
                    Space::Shared,
                    kind,
                    words.addr(),
                    BYTES,
                    index * 4,
                    bytes,
                    bytes,
                )
            };
            words.wrapping_add(index)
        };
        let load = |index| {
            // SAFETY: the index is in bounds; the threads of a block run one after the other.
            black_box(unsafe { *access(AccessKind::Read, index, 4) });
        };
        let own = simt::position().thread_idx.x as usize;
        let (row, column) = (own / 16, own % 16);
        for _ in 0..8 {
            for half in 0..2 {
                let vector = access(AccessKind::Write, own * 4 + half * ELEMENTS / 2, 16);
                // SAFETY: as above; four elements from a multiple of four on are in bounds.
                unsafe { vector.cast::<[u32; 4]>().write([1; 4]) };
            }
            simt::block_barrier(BarrierId(0), None);
            for k in 0..16 {
                (0..4).for_each(|i| load((row * 4 + i) * 16 + k));
                (0..4).for_each(|i| load(ELEMENTS / 2 + k * 64 + column + 16 * i));
            }
            simt::block_barrier(BarrierId(0), None);
        }
    });
}

/// What the checks remember of words that each one thread loads and stores.
fn memory(words: Words) {
    if !is_chosen("memory") {
        return;
    }
    let most = |checks| {
        most_allocated(|| {
            seconds(WORDS as u32 / THREADS, THREADS, checks, || {
                words.store(index(), words.load(AccessKind::Read, index()) + 1);
            });
        })
    };
    // The first launch of all makes what the later ones use again.
    let [_, plain, checked] = [false, false, true].map(most);
    println!(
        "memory of the checks: {:.2} bytes for each byte",
        (checked - plain) as f64 / (WORDS * 4) as f64
    );
}

fn fences(words: Words) {
    if !is_chosen("fence") {
        return;
    }
    for blocks in [256, 1024, 4096, 16384] {
        let run = |checks| {
            seconds(blocks, 32, checks, || {
                if simt::position().thread_idx.x == 0 {
                    simt::fence(MemoryScope::Device);
                    black_box(words.add(0));
                    simt::fence(MemoryScope::Device);
                }
            })
        };
        println!(
            "fence, ticket, fence: {blocks:5} blocks {:8.1} ms {:8.1} ms",
            run(false) * 1e3,
            run(true) * 1e3
        );
    }
}

fn main() {
    let data = vec![[1_u32; 64]; WORDS / 64];
    let address = data.as_ptr().expose_provenance();
    // SAFETY: the words live as long as the launches. Launches alone access them.
    unsafe { simt::register_allocation(address, WORDS * 4, Contents::Initialised) }
        .expect("memory");
    println!("millions a second                   plain   checks");
    global_memory(Words(address));
    atomics(Words(address));
    shared_memory();
    shared_tiles();
    fences(Words(address));
    memory(Words(address));
    simt::forget_allocation(address, WORDS * 4);
}
