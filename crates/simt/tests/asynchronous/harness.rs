//! Launches, memory and tiles for the tests.

use bytemuck::Pod;
use simt::{
    AccessKind, BarrierId, Contents, Defect, DefectKind, Dim3, Launch, Options, Report, Space,
    Swizzle, TensorMap, TensorMapFields,
};
use std::marker::PhantomData;

/// Schedules under which a correct kernel must be correct. They are fixed, whatever `TILEWRIGHT_SEEDS` says: these are
/// tests of the simulator, not of a kernel.
pub const SEEDS: u64 = 64;

/// Dynamic shared memory of each block.
pub const SHARED_BYTES: usize = 96 * 1024;

/// Options under which a run is exactly repeatable.
pub fn serial(seed: u64) -> Options {
    Options {
        seed,
        parallel_blocks: false,
        yield_limit: 1 << 16,
        ..Options::default()
    }
}

/// Runs `body` in clusters of `cluster` blocks.
pub fn launch(
    options: &Options,
    shape: (u32, u32, u32),
    body: &(dyn Fn() + Sync),
) -> Result<Report, Box<Defect>> {
    launch_with(options, shape, SHARED_BYTES, body)
}

/// [`launch`] with this much dynamic shared memory.
pub fn launch_with(
    options: &Options,
    (blocks, cluster, threads): (u32, u32, u32),
    dynamic_shared_bytes: usize,
    body: &(dyn Fn() + Sync),
) -> Result<Report, Box<Defect>> {
    let launch = Launch {
        cluster: Dim3::from(cluster),
        dynamic_shared_bytes,
        ..Launch::new("asynchronous", blocks, threads, options)
    };
    crate::borrowed::run(&launch, body)
}

/// A cache line: buffers are aligned to it, as bulk copies require.
#[repr(C, align(128))]
#[derive(Clone, Copy)]
struct Line([u8; 128]);

/// Registered global memory.
pub struct Buffer<T> {
    lines: Box<[Line]>,
    count: usize,
    element: PhantomData<T>,
}

impl<T: Pod> Buffer<T> {
    pub fn new(values: Vec<T>, contents: Contents) -> Self {
        let bytes = size_of_val(&*values);
        let mut lines = vec![Line([0; 128]); bytes.div_ceil(128)].into_boxed_slice();
        for (line, part) in lines
            .iter_mut()
            .zip(bytemuck::cast_slice(&values).chunks(128))
        {
            line.0[..part.len()].copy_from_slice(part);
        }
        // SAFETY: the buffer outlives the launches that are given it. They alone access it.
        unsafe { simt::register_allocation(lines.as_ptr().addr(), bytes, contents) }.unwrap();
        Self {
            lines,
            count: values.len(),
            element: PhantomData,
        }
    }

    pub fn of(values: Vec<T>) -> Self {
        Self::new(values, Contents::Initialised)
    }

    pub fn empty(count: usize) -> Self {
        Self::new(vec![T::zeroed(); count], Contents::Uninitialised)
    }

    pub fn values(&self) -> &[T] {
        // SAFETY: the lines have this many elements, and are aligned for them. No launch runs.
        unsafe { std::slice::from_raw_parts(self.pointer(), self.count) }
    }

    pub fn pointer(&self) -> *mut T {
        self.lines.as_ptr().cast_mut().cast()
    }

    pub fn bytes(&self) -> usize {
        self.count * size_of::<T>()
    }

    /// A map of rows of `columns` elements, and boxes of `of_box` columns and rows.
    pub fn map(&self, columns: usize, of_box: (u32, u32), swizzle: Swizzle) -> TensorMap {
        let rows = self.count / columns;
        let address = self.pointer().expose_provenance() as u64;
        TensorMap::new(TensorMapFields {
            address,
            element_bytes: size_of::<T>() as u32,
            rank: 2,
            sizes: [columns as u64, rows as u64, 0, 0, 0],
            strides: [(columns * size_of::<T>()) as u64, 0, 0, 0],
            box_sizes: [of_box.0, of_box.1, 0, 0, 0],
            swizzle,
            view_start: address,
            view_bytes: self.bytes() as u64,
        })
    }

    /// Stores an element, as a thread of a kernel.
    #[track_caller]
    pub fn set(&self, index: usize, value: T) {
        self.announce(AccessKind::Write, index);
        // SAFETY: the access is within the buffer, and the simulator checks conflicts.
        unsafe { simt::store_relaxed(self.pointer().add(index), value) };
    }

    /// Loads an element, as a thread of a kernel.
    #[track_caller]
    pub fn get(&self, index: usize) -> T {
        self.announce(AccessKind::Read, index);
        // SAFETY: as above.
        unsafe { simt::load_relaxed(self.pointer().add(index)) }
    }

    #[track_caller]
    fn announce(&self, kind: AccessKind, index: usize) {
        let size = size_of::<T>();
        let (start, bytes) = (self.pointer().addr(), self.bytes());
        // SAFETY: the buffer outlives the launch, which alone accesses it.
        unsafe { simt::access(Space::Global, kind, start, bytes, index * size, size, size) };
    }
}

impl<T> Drop for Buffer<T> {
    fn drop(&mut self) {
        let bytes = self.count * size_of::<T>();
        simt::forget_allocation(self.lines.as_ptr().addr(), bytes);
    }
}

/// The address of a byte in the block's dynamic shared memory.
#[track_caller]
pub fn shared(offset: usize) -> *mut u8 {
    let (start, bytes) = simt::dynamic_shared();
    assert!(offset <= bytes);
    // SAFETY: it is within the allocation.
    unsafe { start.add(offset) }
}

#[track_caller]
fn announce<T>(kind: AccessKind, pointer: *mut T) {
    let size = size_of::<T>();
    // SAFETY: the view is of shared memory.
    unsafe { simt::access(Space::Shared, kind, pointer.addr(), size, 0, size, size) };
}

/// Loads from shared memory.
#[track_caller]
pub fn load<T: Pod>(pointer: *mut u8) -> T {
    announce(AccessKind::Read, pointer.cast::<T>());
    // SAFETY: the simulator has checked the address; the threads of a cluster share a host thread.
    unsafe { pointer.cast::<T>().read() }
}

/// Stores to shared memory.
#[track_caller]
pub fn store<T: Pod>(pointer: *mut u8, value: T) {
    announce(AccessKind::Write, pointer.cast::<T>());
    // SAFETY: as above.
    unsafe { pointer.cast::<T>().write(value) }
}

/// The running thread's number in its block.
pub fn me() -> u32 {
    simt::position().thread_idx.x
}

/// The calling thread's number at the start of shared memory.
#[track_caller]
pub fn own_word() -> *mut u8 {
    shared(4 * me() as usize)
}

/// A line of shared memory that the threads have written, and a bulk store reads.
#[track_caller]
pub fn write_line() {
    store(own_word(), me());
    simt::fence_proxy_async();
    sync();
}

/// Waits for the block.
#[track_caller]
pub fn sync() {
    simt::block_barrier(BarrierId(0), None);
}

/// Thread 0 initialises mbarriers from byte `offset` on, each for the given number of arrivals, and the cluster sees
/// them.
#[track_caller]
pub fn barriers(offset: usize, arrivals: &[u32]) {
    if me() == 0 {
        for (index, arrivals) in arrivals.iter().enumerate() {
            simt::mbarrier_init(shared(offset + 8 * index).addr(), *arrivals);
        }
        simt::fence_mbarrier_init();
    }
    simt::cluster_barrier();
}

/// The offset of the tests' mbarriers.
pub const BARRIERS: usize = 90 * 1024;

/// The address of an mbarrier.
#[track_caller]
pub fn barrier(index: usize) -> usize {
    shared(BARRIERS + 8 * index).addr()
}

/// The address of a byte of the dynamic shared memory of a block of the cluster.
#[track_caller]
pub fn shared_of(rank: u32, offset: usize) -> *mut u8 {
    std::ptr::with_exposed_provenance_mut(simt::map_shared(shared(offset).addr(), rank))
}

/// Elements of a row of a tile, and rows of one.
pub const TILE: usize = 64;
pub const TILE_BYTES: usize = 2 * TILE * TILE;

/// The arguments of each kernel with a defect, and of its twin.
pub struct Memory {
    /// Two tiles of zeros in bf16.
    _tiles: Buffer<u16>,
    /// Their map, with the 128-byte swizzle.
    pub map: TensorMap,
    /// Words that may be read and written.
    pub words: Buffer<u32>,
}

impl Memory {
    pub fn new() -> Self {
        let tiles = Buffer::of(vec![0_u16; 2 * TILE * TILE]);
        let map = tiles.map(TILE, (TILE as u32, TILE as u32), Swizzle::B128);
        Self {
            _tiles: tiles,
            map,
            words: Buffer::of((0..1024).collect()),
        }
    }

    /// Initialises two mbarriers for one arrival each. Thread 0 then copies a tile to byte `to` of shared memory, as
    /// the first one's arrival.
    #[track_caller]
    pub fn start_tile(&self, to: usize) {
        barriers(BARRIERS, &[1, 1]);
        if me() == 0 {
            self.load_tile(to, 0);
        }
    }

    /// Copies a tile to byte `to` of shared memory, as the only arrival at an mbarrier.
    #[track_caller]
    pub fn load_tile(&self, to: usize, index: usize) {
        simt::mbarrier_arrive_expect(barrier(index), TILE_BYTES as u32);
        self.copy_tile(to, index);
    }

    /// Copies a tile, without an arrival.
    #[track_caller]
    pub fn copy_tile(&self, to: usize, index: usize) {
        // SAFETY: the buffer outlives the launch.
        unsafe { simt::tensor_load(&self.map, shared(to), barrier(index), &[0, 0], None) };
    }

    /// Copies `bytes` bytes of the words to the start of shared memory.
    #[track_caller]
    pub fn copy_words(&self, bytes: usize, index: usize, blocks: Option<u16>) {
        let source = self.words.pointer().cast_const().cast::<u8>();
        // SAFETY: the buffer outlives the launch.
        unsafe { simt::bulk_load(shared(0), source, bytes, barrier(index), blocks) };
    }

    /// Stores 128 bytes at the start of shared memory to the words, as a group.
    #[track_caller]
    pub fn store_group(&self) {
        self.store_words();
        simt::bulk_commit();
    }

    /// Stores 128 bytes at the start of shared memory to the words.
    #[track_caller]
    pub fn store_words(&self) {
        let to = self.words.pointer().cast::<u8>();
        // SAFETY: the buffer outlives the launch.
        unsafe { simt::bulk_store(to, shared(0), 128) };
    }
}

/// Schedules under at least one of which a defect must be found. They are fixed too.
const SEEDS_OF_DEFECTS: u64 = 32;

/// The kernel with the defect gets `false`, its twin `true`.
type Kernel = fn(&Memory, bool);

/// Fails unless the kernel, in blocks of a cluster, has a defect of this kind with these words under some seed and no
/// other defect under any, and its twin has none. Returns the first defect.
#[track_caller]
pub fn twins_in_cluster(
    kind: DefectKind,
    words: &[&str],
    shape: (u32, u32),
    kernel: Kernel,
) -> Box<Defect> {
    twins_of(&[kind], words, shape, kernel)
}

/// [`twins_in_cluster`], if the schedule decides which of several kinds is found.
#[track_caller]
pub fn twins_of(
    kinds: &[DefectKind],
    words: &[&str],
    (blocks, threads): (u32, u32),
    kernel: Kernel,
) -> Box<Defect> {
    let run = |seed, right| {
        let memory = Memory::new();
        let body = || kernel(&memory, right);
        launch(&serial(seed), (blocks, blocks, threads), &body)
    };
    for seed in 0..SEEDS {
        if let Err(defect) = run(seed, true) {
            panic!("the right kernel has a defect under seed {seed}:\n{defect}");
        }
    }
    let of_seed = |seed| run(seed, false).err();
    let found: Vec<Box<Defect>> = (0..SEEDS_OF_DEFECTS).filter_map(of_seed).collect();
    for defect in &found {
        assert!(kinds.contains(&defect.kind), "{defect}");
    }
    let has_words = |report: String| words.iter().all(|it| report.contains(it));
    let missing = || match found.first() {
        Some(defect) => panic!("{words:?} is not in\n{defect}"),
        None => panic!("not found"),
    };
    let first = found.iter().find(|defect| has_words(defect.to_string()));
    assert!(first.is_none_or(|defect| defect.location.is_some()));
    first.cloned().unwrap_or_else(missing)
}

/// [`twins_in_cluster`] with clusters of one block.
#[track_caller]
pub fn twins(kind: DefectKind, words: &[&str], threads: u32, kernel: Kernel) -> Box<Defect> {
    twins_in_cluster(kind, words, (1, threads), kernel)
}
