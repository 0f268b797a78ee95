//! Views that outlive their buffer.

use crate::harness::{ELEMENTS, SEEDS};
use cuda_std::prelude::*;
use simt::{Contents, Defect, DefectKind, Launch, Options};
use std::ptr;

/// The kernel's access of its view.
type Kernel = fn(GlobalMut<u32>);

/// Runs the kernel on a buffer that has been freed, or on one that has not.
fn run(seed: u64, is_freed: bool, kernel: Kernel) -> Result<(), Box<Defect>> {
    let mut words = vec![1_u32; ELEMENTS];
    let (address, bytes) = (words.as_mut_ptr().expose_provenance(), 4 * ELEMENTS);
    // SAFETY: the words outlive the launch. Nothing else accesses them.
    unsafe { simt::register_allocation(address, bytes, Contents::Initialised) }.unwrap();
    if is_freed {
        simt::mark_freed(address, bytes);
    }
    let options = Options {
        seed,
        ..Options::default()
    };
    let launch = Launch::new("freed", 2, 64, &options);
    let of_thread = || {
        let words = ptr::with_exposed_provenance_mut(address);
        // SAFETY: the words outlive the launch. Nothing else touches them.
        kernel(unsafe { GlobalMut::from_raw_parts(words, ELEMENTS) });
    };
    let result = crate::borrowed::run(&launch, &of_thread).map(|_| ());
    simt::forget_allocation(address, bytes);
    result
}

fn twins(kernel: Kernel) -> Box<Defect> {
    let mut last = None;
    for seed in 0..SEEDS {
        run(seed, false, kernel).expect("the buffer is there");
        let defect = run(seed, true, kernel).expect_err("the buffer is not there");
        assert_eq!(defect.kind, DefectKind::UseAfterFree, "{defect}");
        last = Some(defect);
    }
    last.expect("there are seeds")
}

#[test]
fn a_read_of_a_freed_buffer() {
    let found = twins(|words| {
        // SAFETY: within the elements. No thread writes.
        let _ = unsafe { words.load(thread::index_1d() as usize) };
    });
    let message = &found.message;
    assert!(message.contains("which has been freed"), "{found}");
    assert!(message.contains("buffer of 4096 bytes"), "{found}");
}

#[test]
fn a_write_to_a_freed_buffer() {
    twins(|words| {
        // SAFETY: within the elements. Each thread has its own.
        unsafe { words.store(thread::index_1d() as usize, 2) };
    });
}
