//! Summed costs of requests.

use std::ops::AddAssign;

/// Bytes that the L2 cache transfers at once.
pub const SECTOR_BYTES: u64 = 32;

/// Bytes of a cache line: four sectors.
pub const LINE_BYTES: u64 = 128;

/// Requests of global memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct GlobalTally {
    /// Requests.
    pub requests: u64,
    /// Sectors of [`SECTOR_BYTES`] that each request touches, over all requests.
    pub sectors: u64,
    /// Lines of [`LINE_BYTES`] that each request touches, over all requests.
    pub lines: u64,
    /// Bytes that lanes requested; a byte that several lanes request counts several times.
    pub bytes_asked: u64,
    /// Bytes that warps requested; a byte that several lanes request counts once.
    pub bytes_distinct: u64,
}

impl GlobalTally {
    /// Requested bytes as a fraction of the touched sectors, from 0 to 1; none without a request.
    #[must_use]
    pub fn sector_efficiency(&self) -> Option<f64> {
        ratio(self.bytes_distinct, self.sectors * SECTOR_BYTES)
    }

    /// Requested bytes as a fraction of the touched cache lines, from 0 to 1; none without a request.
    #[must_use]
    pub fn line_efficiency(&self) -> Option<f64> {
        ratio(self.bytes_distinct, self.lines * LINE_BYTES)
    }
}

/// Requests of shared memory, whose 32 banks are 4 bytes wide.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct SharedTally {
    /// Requests.
    pub requests: u64,
    /// Passes through shared memory; in each, a bank serves one word.
    pub wavefronts: u64,
    /// Passes that the same requests would take without bank conflicts.
    pub ideal_wavefronts: u64,
    /// Bytes that lanes requested.
    pub bytes_asked: u64,
}

impl SharedTally {
    /// Passes due to bank conflicts.
    #[must_use]
    pub const fn conflicts(&self) -> u64 {
        self.wavefronts - self.ideal_wavefronts
    }

    /// Passes divided by the passes without conflicts: 1 without conflicts, n for n-way conflicts.
    ///
    /// None without a request.
    #[must_use]
    pub fn conflict_ways(&self) -> Option<f64> {
        ratio(self.wavefronts, self.ideal_wavefronts)
    }
}

/// Work of the engine of bulk copies.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct AsynchronousTally {
    /// Bytes that bulk copies have read from global memory.
    pub bulk_bytes_read: u64,
    /// Bytes that bulk copies have written to shared memory: whole boxes, in each block.
    pub bulk_bytes_loaded: u64,
    /// Bytes among these that multicasts have written to blocks after the first one.
    pub multicast_bytes: u64,
    /// Bytes that bulk stores have written to global memory.
    pub bulk_bytes_stored: u64,
}

/// The summed cost of some requests.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Tally {
    /// Requests: instructions, counted once for each warp.
    pub requests: u64,
    /// Lanes that took part, over all requests.
    pub lanes: u64,
    /// Lanes of the requests' warps that had not exited, over all requests.
    pub lanes_of_warps: u64,
    /// Floating-point operations in f32; a fused multiply-add is two.
    pub flops_f32: u64,
    /// Floating-point operations in f64; a fused multiply-add is two.
    pub flops_f64: u64,
    /// Operations on tensor cores; a multiplication and an addition are two.
    pub tensor_operations: u64,
    /// The requests that touch global memory.
    pub global: GlobalTally,
    /// The requests that touch shared memory.
    pub shared: SharedTally,
    /// The requests that run beside the threads.
    pub asynchronous: AsynchronousTally,
}

impl Tally {
    /// Lanes that took part as a fraction of those that could have, from 0 to 1; none without a request.
    #[must_use]
    pub fn branch_efficiency(&self) -> Option<f64> {
        ratio(self.lanes, self.lanes_of_warps)
    }

    /// Floating-point operations per byte between global memory and the multiprocessors.
    ///
    /// Bytes count in whole sectors. None if none moved.
    #[must_use]
    pub fn arithmetic_intensity(&self) -> Option<f64> {
        let flops = self.flops_f32 + self.flops_f64;
        ratio(flops, self.global.sectors * SECTOR_BYTES)
    }
}

fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole != 0).then(|| part as f64 / whole as f64)
}

/// Adds field by field.
macro_rules! add_fields {
    ($tally:ty: $($field:ident),*) => {
        impl AddAssign for $tally {
            fn add_assign(&mut self, other: Self) {
                $(self.$field += other.$field;)*
            }
        }
    };
}
add_fields!(GlobalTally: requests, sectors, lines, bytes_asked, bytes_distinct);
add_fields!(SharedTally: requests, wavefronts, ideal_wavefronts, bytes_asked);
add_fields!(
    AsynchronousTally: bulk_bytes_read,
    bulk_bytes_loaded,
    multicast_bytes,
    bulk_bytes_stored
);
add_fields!(
    Tally: requests,
    lanes,
    lanes_of_warps,
    flops_f32,
    flops_f64,
    tensor_operations,
    global,
    shared,
    asynchronous
);
