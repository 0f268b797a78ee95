//! Kernels with one mistake each, and a twin without it, which the simulator and other tools must distinguish. Those
//! in [`public`] are from public bug histories. The others are mistakes with Hopper's asynchronous instructions.
//!
//! The latter all have the same parameters and the same layout of shared memory. `RIGHT` is false in the kernel with
//! the mistake and true in its twin.
#![no_std]
#![cfg_attr(target_arch = "nvptx64", feature(abi_ptx))]

pub mod barriers;
pub mod clusters;
pub mod copies;
pub mod products;
pub mod public;
pub mod registers;

use cuda_std::mbarrier::{Ring, Slot};
use cuda_std::prelude::*;
use cuda_std::shared::{Allotment, SharedSlice, SwizzledTile, SwizzledTiles};
use cuda_std::tma::{self, TensorMap};
use half::bf16;

/// Elements of the kernels' views of words.
pub const WORDS: usize = 1024;

/// Threads per block, unless a kernel states otherwise.
pub const THREADS: u32 = 128;

/// Rows and columns of a tile.
pub const TILE: usize = 64;

/// Dynamic shared memory per block, in bytes.
pub const SHARED_BYTES: u32 =
    2 * Tile::BYTES + (Ring::<2>::BYTES + Ring::<1>::BYTES + WORDS * size_of::<u32>()) as u32;

/// The word of dynamic shared memory at which the rings begin.
const RINGS: usize = 2 * Tile::BYTES as usize / size_of::<u32>();

/// The word at which [`Parts::words`] begin.
const PARTS_WORDS: usize = RINGS + (Ring::<2>::BYTES + Ring::<1>::BYTES) / size_of::<u32>();

/// Words that a block copies at a time, one per thread, and their size in bytes.
const LINE: usize = THREADS as usize;
const LINE_BYTES: u32 = (LINE * size_of::<u32>()) as u32;

/// The tensor map of the tiles in global memory.
pub type TileMap = TensorMap<bf16, TILE, TILE>;

type Tile<'a> = SwizzledTile<'a, bf16, TILE, TILE>;

/// The parameters of each kernel.
#[derive(Clone, Copy)]
struct Memory<'a> {
    /// A tile of zeros.
    tiles: GridConstant<'a, TileMap>,
    /// [`WORDS`] words to read.
    source: Global<'a, u32>,
    /// [`WORDS`] words to write.
    out: GlobalMut<'a, u32>,
}

/// The parts of a block's shared memory.
#[derive(Clone, Copy)]
struct Parts<'a> {
    tiles: SwizzledTiles<'a, bf16, TILE, TILE, 2>,
    pair: Ring<'a, 2>,
    ring: Ring<'a, 1>,
    words: SharedSlice<'a, u32>,
}

impl<'a> Parts<'a> {
    #[inline(always)]
    fn take(shared: &mut Allotment<'a>) -> Self {
        Self {
            tiles: shared.tiles(),
            pair: shared.ring(),
            ring: shared.ring(),
            words: shared.array::<u32, WORDS>().as_slice(),
        }
    }

    /// Initialises both rings for `consumers` consumers, and makes them visible to the block.
    ///
    /// # Safety
    /// 1. All threads of the block make the call, once.
    #[inline(always)]
    #[track_caller]
    unsafe fn init(self, consumers: u32) {
        // SAFETY: all threads make the call: the caller's contract. A barrier follows.
        unsafe { self.init_alone(consumers) };
        thread::sync_threads();
    }

    /// Initialises both rings for `consumers` consumers, without making them visible.
    ///
    /// # Safety
    /// 1. As for [`Ring::init`], for all threads of the block.
    #[inline(always)]
    #[track_caller]
    unsafe fn init_alone(self, consumers: u32) {
        if is_first() {
            // SAFETY: the caller's contract.
            unsafe {
                self.ring.init(1, consumers);
                self.pair.init(1, consumers);
            }
        }
    }

    /// Starts to copy line `number` of the source to the start of the words.
    ///
    /// # Safety
    /// 1. As for [`Global::bulk_load`].
    #[inline(always)]
    #[track_caller]
    unsafe fn copy_line(self, memory: Memory<'_>, slot: &Slot<'_>, number: usize) {
        let range = LINE * number..LINE * (number + 1);
        // SAFETY: the caller's contract.
        unsafe { memory.source.bulk_load(range, (self.words, 0), slot) };
    }

    /// [`Self::copy_line`], as the only copy to the slot.
    ///
    /// # Safety
    /// 1. As for [`Global::bulk_load`].
    #[inline(always)]
    #[track_caller]
    unsafe fn fill_line(self, memory: Memory<'_>, slot: &Slot<'_>, number: usize) {
        // SAFETY: the caller's contract.
        unsafe {
            slot.expect(LINE_BYTES);
            self.copy_line(memory, slot, number);
        }
    }

    /// Starts to copy the tile of zeros to the first tile, as the only copy to the slot.
    ///
    /// # Safety
    /// 1. As for [`GridConstant::load`].
    #[inline(always)]
    #[track_caller]
    unsafe fn fill_tile(self, memory: Memory<'_>, slot: &Slot<'_>) {
        // SAFETY: the caller's contract.
        unsafe {
            slot.expect(Tile::BYTES);
            memory.tiles.load(self.tiles.get(0), slot, (0, 0));
        }
    }

    /// Each thread writes its word, for bulk copies to read.
    ///
    /// # Safety
    /// 1. All threads of the block make the call, and no copy accesses the words.
    #[inline(always)]
    #[track_caller]
    unsafe fn write_line(self) {
        // SAFETY: there is a word for each thread, which writes its own. No copy accesses the
        // words: the caller's contract.
        unsafe { self.words.store(me(), me() as u32) };
        tma::fence();
        thread::sync_threads();
    }

    /// Copies the calling thread's word to its element of line `number` of the output.
    ///
    /// # Safety
    /// 1. No copy and no other thread writes the word.
    #[inline(always)]
    #[track_caller]
    unsafe fn put_word(self, memory: Memory<'_>, number: usize) {
        // SAFETY: there is a word for each thread, and its output is its own. Nothing else writes the word: the
        // caller's contract.
        unsafe {
            memory
                .out
                .store(LINE * number + me(), self.words.load(me()))
        };
    }

    /// Starts to copy the first line of words to the first line of the output.
    ///
    /// # Safety
    /// 1. As for [`GlobalMut::bulk_store`].
    #[inline(always)]
    #[track_caller]
    unsafe fn start_store(self, memory: Memory<'_>) {
        // SAFETY: the caller's contract.
        unsafe { memory.out.bulk_store(0..LINE, (self.words, 0)) };
    }
}

/// The calling thread's rank in its block.
#[inline(always)]
fn me() -> usize {
    thread::rank_in_block() as usize
}

/// Whether the calling thread is the first one of its block.
#[inline(always)]
fn is_first() -> bool {
    me() == 0
}

/// A vote of the warp: its lanes synchronise, but no accesses are ordered.
#[inline(always)]
fn meet() {
    let _ = warp::any(LaneMask::first(32), true);
}

/// Defines two kernels with one body: `NAME NAME_OF_TWIN(memory, parts) { body }`.
macro_rules! twins {
    ($($(#[$meta:meta])* $([$($note:tt)*])? $name:ident $twin:ident($memory:ident, $parts:ident)
        { $($text:tt)* })*) => {$(
        twins! { @kernel [$(#[$meta])*] [$($($note)*)?] $name false ($memory, $parts) { $($text)* } }
        twins! { @kernel [#[doc = concat!("[`", stringify!($name), "`] without the mistake.")]]
            [$($($note)*)?] $twin true ($memory, $parts) { $($text)* } }
    )*};
    (@kernel [$(#[$meta:meta])*] [$($note:tt)*] $name:ident $right:literal
        ($memory:ident, $parts:ident) { $($text:tt)* }) => {
        $(#[$meta])*
        ///
        /// # Safety
        /// 1. The views have [`WORDS`](crate::WORDS) words, and the launch has
        ///    [`SHARED_BYTES`](crate::SHARED_BYTES).
        /// 2. A kernel with a mistake runs in the simulator or in a separate process.
        #[kernel(arch = "sm_90a", max_threads = 384, min_blocks = 1 $($note)*)]
        #[allow(unused, reason = "what one twin uses, the other one may not")]
        pub unsafe fn $name(
            tiles: GridConstant<$crate::TileMap>,
            source: Global<u32>,
            out: GlobalMut<u32>,
        ) {
            const RIGHT: bool = $right;
            let $memory = $crate::Memory { tiles, source, out };
            let mut shared = dynamic_shared_allotment!();
            let $parts = $crate::Parts::take(&mut shared);
            // SAFETY: the twin's calls meet the requirements of each function, given the views and the shared memory:
            // the caller's contract. The other kernel breaks one on purpose, and runs in the simulator or in a
            // separate process.
            unsafe { $($text)* }
        }
    };
}
use twins;
