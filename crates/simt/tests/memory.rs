//! Shared memory, asynchronous copies, atomics.

mod borrowed;
mod common;

use common::{block_x, launch, launch_with, serial, sync, thread_x};
use simt::{AccessKind, DefectKind, Launch, Options, Space};
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Memory that all threads of a launch may access through the simulator.
struct Shareable<T>(UnsafeCell<T>);

// SAFETY: the tests access the inside only through `simt`, atomically, while a
// launch runs.
unsafe impl<T> Sync for Shareable<T> {}

impl<T> Shareable<T> {
    fn new(value: T) -> Self {
        Self(UnsafeCell::new(value))
    }

    fn pointer(&self) -> *mut T {
        self.0.get()
    }
}

#[test]
fn static_shared_memory_is_poisoned_in_every_block() {
    let key_a = 1;
    let key_b = 2;
    launch(50, 64, || {
        let a = simt::static_shared(key_a, 64 * 4, 16).cast::<f32>();
        let b = simt::static_shared(key_b, 100, 128);
        assert!(a.addr() % 16 == 0 && b.addr().is_multiple_of(128));
        let index = thread_x() as usize;
        // SAFETY: the array has 64 elements, and each thread has its own one.
        let element = unsafe { &mut *a.add(index) };
        assert!(element.is_nan());
        *element = index as f32;
        sync();
        // SAFETY: all elements have been written, and no thread writes any more.
        let other = unsafe { *a.add(63 - index) };
        assert_eq!(other, (63 - index) as f32);
        // SAFETY: the array has 100 bytes and is never written.
        assert!((0..100).all(|byte| unsafe { *b.add(byte) } == 0xff));
        assert_eq!(a.cast(), simt::static_shared(key_a, 64 * 4, 16));
    })
    .unwrap();
}

#[test]
fn dynamic_shared_memory_is_poisoned_and_aligned() {
    let options = Options::default();
    let launch = Launch {
        dynamic_shared_bytes: 100_000,
        ..Launch::new("dynamic", 20, 32, &options)
    };
    crate::borrowed::run(&launch, &|| {
        let (start, bytes) = simt::dynamic_shared();
        let fixed = simt::static_shared(0, 1000, 8);
        assert_eq!((start.addr() % 128, bytes), (0, 100_000));
        assert!(fixed.addr() >= start.addr() + bytes);
        for byte in (thread_x() as usize..bytes).step_by(32) {
            // SAFETY: within the memory. Each thread has its own bytes.
            unsafe {
                assert_eq!(*start.add(byte), 0xff);
                *start.add(byte) = 1;
            }
        }
    })
    .unwrap();
}

#[test]
fn shared_memory_limits() {
    let kind = |dynamic: usize, bytes: usize, align: usize| {
        let options = Options::default();
        let launch = Launch {
            dynamic_shared_bytes: dynamic,
            ..Launch::new("limits", 1, 1, &options)
        };
        crate::borrowed::run(&launch, &|| {
            simt::static_shared(0, bytes, align);
        })
        .map(|_| ())
        .map_err(|found| found.kind)
    };
    assert_eq!(kind(0, 48 * 1024, 1024), Ok(()));
    assert_eq!(kind(179 * 1024, 48 * 1024, 16), Ok(()));
    assert_eq!(
        kind(180 * 1024, 48 * 1024, 16),
        Err(DefectKind::LaunchLimit)
    );
    assert_eq!(kind(0, 48 * 1024 + 1, 1), Err(DefectKind::LaunchLimit));
    assert_eq!(kind(0, 4, 3), Err(DefectKind::InvalidArgument));
}

/// 16 bytes of shared memory for each of 32 threads.
fn own_words() -> *mut [u32; 4] {
    let array = simt::static_shared(9, 32 * 16, 16).cast::<[u32; 4]>();
    // SAFETY: the array has 32 elements, and blocks here have 32 threads.
    unsafe { array.add(thread_x() as usize) }
}

/// The value of the poison in shared memory.
const POISON: [u32; 4] = [u32::MAX; 4];

#[test]
fn async_copies_are_invisible_before_their_wait() {
    let source: Vec<[u32; 4]> = (0..64).map(|i| [i, i + 1, i + 2, i + 3]).collect();
    #[repr(align(16))]
    struct Aligned([[u32; 4]; 64]);
    let source = Aligned(source.try_into().unwrap());
    let report = launch(4, 32, || {
        let first = simt::static_shared(1, 512, 16).cast::<[u32; 4]>();
        let second = own_words();
        let index = thread_x() as usize;
        // SAFETY: each thread has its own element in both arrays, and the source has 64 elements.
        unsafe {
            let first = first.add(index);
            simt::async_copy(first.cast(), (&raw const source.0[index]).cast(), 16, 16);
            simt::async_commit();
            simt::async_copy(
                second.cast(),
                (&raw const source.0[index + 32]).cast(),
                16,
                16,
            );
            simt::async_commit();
            assert_eq!((*first, *second), (POISON, POISON));
            simt::async_wait(2);
            assert_eq!((*first, *second), (POISON, POISON));
            simt::async_wait(1);
            assert_eq!((*first, *second), (source.0[index], POISON));
            simt::async_wait(0);
            assert_eq!((*first, *second), (source.0[index], source.0[index + 32]));
        }
    })
    .unwrap();
    assert_eq!(report.async_copies, 4 * 32 * 2);
}

#[test]
fn async_copies_read_their_source_at_the_wait() {
    let source = Shareable::new(0_u32);
    launch(1, 1, || {
        let destination = own_words().cast::<u32>();
        // SAFETY: one thread, and both addresses hold a word.
        unsafe {
            simt::async_copy(destination.cast(), source.pointer().cast(), 4, 4);
            simt::store_relaxed(source.pointer(), 5);
            // Not committed: no wait performs it.
            simt::async_wait(0);
            assert_eq!(*destination, u32::MAX);
            simt::async_commit();
            simt::async_wait(0);
            assert_eq!(*destination, 5);
        }
    })
    .unwrap();
}

#[test]
fn async_copies_fill_with_zeros() {
    #[repr(align(16))]
    struct Aligned([u8; 16]);
    let source = Aligned(std::array::from_fn(|byte| byte as u8 + 1));
    for present in 0..=16 {
        launch(1, 1, || {
            let destination = own_words().cast::<[u8; 16]>();
            // SAFETY: 16 bytes on both sides.
            let copied = unsafe {
                simt::async_copy(
                    destination.cast(),
                    (&raw const source.0).cast(),
                    16,
                    present,
                );
                simt::async_commit();
                simt::async_wait(0);
                *destination
            };
            for (byte, value) in copied.into_iter().enumerate() {
                assert_eq!(value, if byte < present { byte as u8 + 1 } else { 0 });
            }
        })
        .unwrap();
    }
}

#[test]
fn async_copies_are_checked() {
    let source = [0_u32; 8];
    let kind = |shift: usize, bytes: usize, present: usize| {
        launch(1, 1, || {
            let destination = own_words().cast::<u8>();
            // SAFETY: the copy is refused, or stays within 16 bytes.
            unsafe {
                simt::async_copy(
                    destination.add(shift),
                    source.as_ptr().cast(),
                    bytes,
                    present,
                );
            }
            simt::async_commit();
            simt::async_wait(0);
        })
        .map(|_| ())
        .map_err(|found| found.kind)
    };
    assert_eq!(kind(4, 4, 4), Ok(()));
    assert_eq!(kind(2, 4, 4), Err(DefectKind::Misaligned));
    assert_eq!(kind(0, 12, 12), Err(DefectKind::InvalidArgument));
    assert_eq!(kind(0, 4, 5), Err(DefectKind::InvalidArgument));
}

#[test]
fn atomics_of_all_blocks_are_counted_exactly() {
    let words = Shareable::new((0_u64, 0_u32));
    let pointer = words.pointer();
    // SAFETY: each pointer is that of an aligned field, which all threads access through the simulator.
    let update = || unsafe {
        simt::atomic_update_u64(&raw mut (*words.pointer()).0, |old| old + 3);
        simt::atomic_update_u32(&raw mut (*words.pointer()).1, |old| old + 1);
    };
    launch(300, 256, update).unwrap();
    let threads = 300_u32 * 256;
    // SAFETY: the launch is over.
    let (sum, count) = unsafe { *pointer };
    assert_eq!((sum, count), (3 * u64::from(threads), threads));
}

#[test]
fn an_atomic_update_returns_the_word_before_it() {
    let (tickets, sum) = (Shareable::new(0_u32), Shareable::new(0_u64));
    // SAFETY: aligned words, used through the simulator only.
    let draw = || unsafe {
        let ticket = simt::atomic_update_u32(tickets.pointer(), |old| old + 1);
        simt::atomic_update_u64(sum.pointer(), |old| old + u64::from(ticket));
    };
    launch(100, 64, draw).unwrap();
    // SAFETY: the launch is over.
    assert_eq!(unsafe { *sum.pointer() }, 6400 * 6399 / 2);
}

#[test]
fn loads_and_stores_of_every_size_and_alignment() {
    let bytes = Shareable::new([0_u64; 8]);
    launch_with(&serial(0), 1, 1, || {
        let start = bytes.pointer().cast::<u8>();
        for offset in 0..16 {
            // SAFETY: 16 + 32 bytes are within the 64, and one thread runs.
            unsafe {
                let wide: [u8; 32] = std::array::from_fn(|byte| byte as u8 ^ offset as u8);
                simt::store_relaxed(start.add(offset).cast(), wide);
                assert_eq!(
                    simt::load_relaxed(start.add(offset).cast::<[u8; 32]>()),
                    wide
                );
                let odd = [1_u8, 2, offset as u8];
                simt::store_relaxed(start.add(offset).cast(), odd);
                assert_eq!(simt::load_relaxed(start.add(offset).cast::<[u8; 3]>()), odd);
                simt::store_relaxed(start.add(offset).cast(), 1.5_f64);
                assert_eq!(simt::load_relaxed(start.add(offset).cast::<f64>()), 1.5);
            }
        }
    })
    .unwrap();
}

#[test]
fn blocks_write_into_neighbouring_elements() {
    let array = Shareable::new([0_u32; 1000]);
    launch(1000, 32, || {
        if thread_x() == 0 {
            let index = block_x();
            // SAFETY: `index` is below 1000, and all blocks write atomically.
            unsafe {
                let element = array.pointer().cast::<u32>().add(index as usize);
                simt::store_relaxed(element, index * index);
            }
        }
    })
    .unwrap();
    // SAFETY: the launch is over.
    let array = unsafe { &*array.pointer() };
    assert!((0..1000).all(|index| array[index] as usize == index * index));
}

/// A view from an earlier launch must not be followed, with or without checks.
#[test]
fn shared_memory_of_an_earlier_launch_is_not_touched() {
    for checks in [true, false] {
        let options = Options {
            checks,
            ..serial(0)
        };
        let kept = AtomicUsize::new(0);
        let launch = |dynamic_shared_bytes| Launch {
            dynamic_shared_bytes,
            ..Launch::new("test_kernel", 1, 1, &options)
        };
        crate::borrowed::run(&launch(64), &|| {
            let (start, bytes) = simt::dynamic_shared();
            kept.store(start.addr(), Ordering::Relaxed);
            // SAFETY: the view is of shared memory.
            unsafe {
                simt::access(
                    Space::Shared,
                    AccessKind::Write,
                    start.addr(),
                    bytes,
                    8,
                    4,
                    4,
                )
            };
        })
        .unwrap();
        // Blocks of another shape, so that the memory of the first launch's blocks is gone.
        let defect = crate::borrowed::run(&launch(128), &|| {
            let start = match kept.load(Ordering::Relaxed) {
                // The allocator has returned the same memory.
                start if start == simt::dynamic_shared().0.addr() => 4096,
                start => start,
            };
            // SAFETY: the view is of shared memory.
            unsafe { simt::access(Space::Shared, AccessKind::Read, start, 64, 8, 4, 4) };
        })
        .unwrap_err();
        assert_eq!(defect.kind, DefectKind::OutOfBounds, "{defect}");
        assert!(defect.message.contains("earlier launch"), "{defect}");
    }
}

/// The report tells which of several buffers of one size it was.
#[test]
fn reports_name_the_buffer() {
    let words: Vec<u64> = vec![0; 8];
    let bytes = size_of_val(&words[..]);
    let address = words.as_ptr().expose_provenance();
    // SAFETY: the words outlive the launches. Nothing else accesses them.
    unsafe { simt::register_allocation(address, bytes, simt::Contents::Uninitialised) }.unwrap();
    simt::name_allocation(address + 8, "weights");
    let read = |view_bytes, offset| {
        let read = || {
            // SAFETY: the words outlive the launch, and nothing else accesses them.
            unsafe {
                simt::access(
                    Space::Global,
                    AccessKind::Read,
                    address,
                    view_bytes,
                    offset,
                    4,
                    4,
                )
            }
        };
        launch(1, 1, read).unwrap_err().to_string()
    };
    let past_view = read(bytes, bytes);
    assert!(
        past_view.contains("view of 64 bytes of buffer `weights`"),
        "{past_view}"
    );
    let past_buffer = read(bytes + 8, bytes);
    assert!(
        past_buffer.contains("begins in buffer `weights` of 64 bytes"),
        "{past_buffer}"
    );
    let unwritten = read(bytes, 12);
    let place = "byte 12 (element 3 of 4 bytes) of buffer `weights` of 64 bytes";
    assert!(unwritten.contains(place), "{unwritten}");
    simt::mark_freed(address, bytes);
    let freed = read(bytes, 12);
    assert!(freed.contains(place) && freed.contains("freed"), "{freed}");
    simt::forget_allocation(address, bytes);
}
