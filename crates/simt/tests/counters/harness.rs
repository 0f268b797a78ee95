//! The memory of the tests' kernels, and counted launches.

use crate::common::launch_with;
use simt::{AccessKind, Counts, Options, Space};

/// 32-bit words in device memory, aligned to a line like a buffer's.
#[repr(align(256))]
pub struct Words(pub [u32; 4096]);

pub static MEMORY: Words = Words([0; 4096]);

/// A kernel's view of [`MEMORY`].
#[derive(Clone, Copy)]
pub struct View;

impl View {
    #[track_caller]
    fn access(self, kind: AccessKind, index: u32, words: usize) {
        let base = MEMORY.0.as_ptr().addr();
        let bytes = size_of_val(&MEMORY.0);
        let offset = index as usize * 4;
        // SAFETY: the memory is not registered.
        unsafe { simt::access(Space::Global, kind, base, bytes, offset, 4 * words, 4) };
    }

    #[track_caller]
    pub fn load(self, index: u32) {
        self.access(AccessKind::Read, index, 1);
    }

    #[track_caller]
    pub fn store(self, index: u32) {
        self.access(AccessKind::Write, index, 1);
    }
}

/// The costs of a launch of `body`.
pub fn counted(warp_width: u32, blocks: u32, threads: u32, body: impl Fn() + Sync) -> Counts {
    let options = Options {
        warp_width,
        ..Options::default()
    };
    counted_with(&options, blocks, threads, body)
}

/// [`counted`] with options, except those of counters and checks.
pub fn counted_with(
    options: &Options,
    blocks: u32,
    threads: u32,
    body: impl Fn() + Sync,
) -> Counts {
    let options = Options {
        counters: true,
        // The kernels are access patterns, and read memory that was never written.
        checks: false,
        ..options.clone()
    };
    let report = launch_with(&options, blocks, threads, body).expect("no defect");
    *report.counts.expect("the launch was counted")
}
