//! Runs a kernel and its twin. Accesses of the memory here are safe functions, because the simulator ends a launch that
//! breaks a rule.

use cuda_std::Pod;
use cuda_std::pipeline::Pipeline;
use cuda_std::prelude::*;
use simt::{Contents, Defect, DefectKind, Launch, Options, Report};

/// Fixed, whatever `TILEWRIGHT_SEEDS` says: what is found under some seed must be found under one of these.
pub const SEEDS: u64 = 32;
pub const ELEMENTS: usize = 1024;

/// The kernel with the defect gets `false`, its twin `true`.
type Kernel = fn(&Memory, bool);

/// Fails unless the kernel has a defect of this kind under each seed, with blocks one by one and in parallel, and its
/// twin has none. Returns the defect under seed 0.
#[track_caller]
pub fn twins(kind: DefectKind, blocks: u32, threads: u32, kernel: Kernel) -> Box<Defect> {
    twins_of(crate::borrowed::run, kind, blocks, threads, kernel)
}

/// [`twins`] in cooperative launches.
#[track_caller]
pub fn grid_twins(kind: DefectKind, blocks: u32, threads: u32, kernel: Kernel) -> Box<Defect> {
    twins_of(
        crate::borrowed::run_cooperative,
        kind,
        blocks,
        threads,
        kernel,
    )
}

/// [`twins`] in one cluster.
#[track_caller]
pub fn cluster_twins(kind: DefectKind, blocks: u32, threads: u32, kernel: Kernel) -> Box<Defect> {
    twins_of(run_in_cluster, kind, blocks, threads, kernel)
}

/// Runs a launch of one cluster.
pub fn run_in_cluster(
    launch: &Launch<'_>,
    kernel: &(dyn Fn() + Sync),
) -> Result<Report, Box<Defect>> {
    let cluster = launch.grid;
    crate::borrowed::run(&Launch { cluster, ..*launch }, kernel)
}

/// How a kernel is launched.
pub type Run = fn(&Launch<'_>, &(dyn Fn() + Sync)) -> Result<Report, Box<Defect>>;

#[track_caller]
fn twins_of(
    launch: Run,
    kind: DefectKind,
    blocks: u32,
    threads: u32,
    kernel: Kernel,
) -> Box<Defect> {
    let mut first = None;
    for options in schedules() {
        let (seed, parallel_blocks) = (options.seed, options.parallel_blocks);
        let run = |right| run(launch, &options, (blocks, threads), kernel, right);
        if let Err(defect) = run(true) {
            panic!("the right kernel has a defect under seed {seed}:\n{defect}");
        }
        let Err(defect) = run(false) else {
            panic!("not found under seed {seed}, parallel_blocks: {parallel_blocks}");
        };
        assert_eq!(defect.kind, kind, "{defect}");
        first.get_or_insert(defect);
    }
    first.expect("there are seeds")
}

/// Each seed, with blocks one by one and in parallel.
pub fn schedules() -> impl Iterator<Item = Options> {
    let of_seed = |seed| {
        [false, true].map(|parallel_blocks| Options {
            seed,
            parallel_blocks,
            ..Options::default()
        })
    };
    (0..SEEDS).flat_map(of_seed)
}

fn run(
    launch: Run,
    options: &Options,
    (blocks, threads): (u32, u32),
    kernel: Kernel,
    right: bool,
) -> Result<(), Box<Defect>> {
    let kernel = |memory: &Memory| kernel(memory, right);
    run_and_read(launch, options, (blocks, threads), &kernel).map(|_| ())
}

/// Runs a kernel, and returns the final `counters`.
pub fn run_and_read(
    launch: Run,
    options: &Options,
    (blocks, threads): (u32, u32),
    kernel: &(dyn Fn(&Memory) + Sync),
) -> Result<Vec<u32>, Box<Defect>> {
    let of_kernel = Launch::new("seeded", blocks, threads, options);
    let buffers = [
        Buffer::new(1, Contents::Initialised),
        Buffer::new(u32::MAX, Contents::Uninitialised),
        Buffer::new(0, Contents::Initialised),
    ];
    let of_thread = || {
        let [input, output, counters] = buffers.each_ref().map(Buffer::view);
        let memory = Memory {
            input,
            output,
            counters,
        };
        kernel(&memory);
    };
    launch(&of_kernel, &of_thread).map(|_| buffers[2].0.concat())
}

/// The number of consecutive yields of a block that is a deadlock here.
const YIELDS: u64 = 1 << 16;

/// Fails unless the kernel has a defect of this kind, or wrong `counters`, under some of the seeds, with blocks on one
/// host thread and on several, and its twin is correct under each. With one host thread, a seed finds the same again.
#[track_caller]
pub fn found_in_some_schedules(
    kind: Option<DefectKind>,
    (blocks, threads): (u32, u32),
    kernel: Kernel,
    is_right: fn(&[u32]) -> bool,
) {
    for parallel_blocks in [false, true] {
        let options = |seed| Options {
            seed,
            parallel_blocks,
            // Waiting for another host thread may take long.
            yield_limit: if blocks == 1 { YIELDS } else { 1 << 26 },
            ..Options::default()
        };
        let run = |seed, right| {
            let kernel = |memory: &Memory| kernel(memory, right);
            run_and_read(
                crate::borrowed::run,
                &options(seed),
                (blocks, threads),
                &kernel,
            )
        };
        for seed in 0..SEEDS {
            match run(seed, true) {
                Ok(counters) => assert!(is_right(&counters), "seed {seed}: {counters:?}"),
                Err(defect) => panic!("the right kernel has a defect under seed {seed}:\n{defect}"),
            }
        }
        let is_found = |seed: &u64| match (run(*seed, false), kind) {
            (Ok(counters), None) => !is_right(&counters),
            (Ok(_), Some(_)) => false,
            (Err(defect), kind) => {
                assert_eq!(Some(defect.kind), kind, "under seed {seed}:\n{defect}");
                true
            }
        };
        let found: Vec<u64> = (0..SEEDS).filter(is_found).collect();
        assert!(!found.is_empty(), "parallel_blocks: {parallel_blocks}");
        if !parallel_blocks {
            let again: Vec<u64> = (0..SEEDS).filter(is_found).collect();
            assert_eq!(found, again);
        }
    }
}

/// The arguments of each kernel: three buffers of [`ELEMENTS`].
pub struct Memory<'launch> {
    /// Ones.
    pub input: Words<'launch>,
    /// Uninitialised.
    pub output: Words<'launch>,
    /// Zeros.
    pub counters: Words<'launch>,
}

/// A registered allocation, aligned as a vector access needs it.
struct Buffer(Box<[[u32; 4]]>);

impl Buffer {
    fn new(value: u32, contents: Contents) -> Self {
        let storage = vec![[value; 4]; ELEMENTS / 4].into_boxed_slice();
        // SAFETY: `run` keeps the buffer until the launch has ended. Nothing else accesses it meanwhile.
        unsafe { simt::register_allocation(storage.as_ptr().addr(), ELEMENTS * 4, contents) }
            .unwrap();
        Self(storage)
    }

    fn view(&self) -> Words<'_> {
        let base = self.0.as_ptr().cast::<u32>().cast_mut();
        // SAFETY: `run` keeps the buffer until the launch has ended. Nothing else accesses it meanwhile.
        Words(unsafe { GlobalMut::from_raw_parts(base, ELEMENTS) })
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        simt::forget_allocation(self.0.as_ptr().addr(), ELEMENTS * 4);
    }
}

/// Global memory.
#[derive(Clone, Copy)]
pub struct Words<'launch>(pub GlobalMut<'launch, u32>);

// SAFETY (of every block below): the simulator checks the index, and ends the launch. Memory that other host threads
// may access is accessed atomically.
impl<'launch> Words<'launch> {
    #[track_caller]
    pub fn get(self, index: usize) -> u32 {
        // SAFETY: as above.
        unsafe { self.0.load(index) }
    }

    #[track_caller]
    pub fn get4(self, index: usize) -> [u32; 4] {
        // SAFETY: as above.
        unsafe { self.0.load_vector(index) }
    }

    #[track_caller]
    pub fn set(self, index: usize, value: u32) {
        // SAFETY: as above.
        unsafe { self.0.store(index, value) }
    }

    #[track_caller]
    pub fn set4(self, index: usize, values: [u32; 4]) {
        // SAFETY: as above.
        unsafe { self.0.store_vector(index, values) }
    }

    #[track_caller]
    pub fn add(self, index: usize, value: u32) -> u32 {
        // SAFETY: as above.
        unsafe { self.0.atomic_add(index, value) }
    }

    #[track_caller]
    pub fn atomic_get(self, index: usize) -> u32 {
        // SAFETY: as above.
        unsafe { self.0.atomic_load(index) }
    }

    #[track_caller]
    pub fn atomic_swap(self, index: usize, value: u32) -> u32 {
        // SAFETY: as above.
        unsafe { self.0.atomic_exchange(index, value) }
    }

    #[track_caller]
    pub fn atomic_compare_exchange(self, index: usize, current: u32, new: u32) -> u32 {
        // SAFETY: as above.
        unsafe { self.0.atomic_compare_exchange(index, current, new) }
    }

    #[track_caller]
    pub fn atomic_set(self, index: usize, value: u32) {
        // SAFETY: as above.
        unsafe { self.0.atomic_store(index, value) }
    }

    /// The same memory as the source of a copy.
    pub fn source(self) -> Global<'launch, u32> {
        // SAFETY: the index: as above. Some tests write the source meanwhile; the simulator reads it atomically.
        unsafe { Global::from_raw_parts(self.0.as_mut_ptr(), ELEMENTS) }
    }
}

/// Shared memory.
#[derive(Clone, Copy)]
pub struct Shared<'block, T, const LEN: usize>(pub SharedArray<'block, T, LEN>);

// SAFETY (of every block below): the simulator checks the index, and ends the launch. The threads of a block run on one
// host thread.
impl<T: Pod, const LEN: usize> Shared<'_, T, LEN> {
    #[track_caller]
    pub fn get(self, index: usize) -> T {
        // SAFETY: as above.
        unsafe { self.0.load(index) }
    }

    #[track_caller]
    pub fn set(self, index: usize, value: T) {
        // SAFETY: as above.
        unsafe { self.0.store(index, value) }
    }

    #[track_caller]
    pub fn set4(self, index: usize, values: [T; 4]) {
        // SAFETY: as above.
        unsafe { self.0.store_vector(index, values) }
    }

    /// Starts to copy 4 elements of `source` from `from` on to `to`.
    #[track_caller]
    pub fn copy<const STAGES: usize>(
        self,
        pipeline: &mut Pipeline<STAGES>,
        to: usize,
        source: Global<'_, T>,
        from: usize,
    ) {
        // SAFETY: as above.
        unsafe { pipeline.copy::<T, 4>(self.0.as_slice(), to, source, from) }
    }
}

impl<const LEN: usize> Shared<'_, u32, LEN> {
    #[track_caller]
    pub fn add(self, index: usize, value: u32) -> u32 {
        // SAFETY: as above.
        unsafe { self.0.atomic_add(index, value) }
    }
}

/// The thread's index in its block.
pub fn me() -> usize {
    thread::thread_idx_x() as usize
}

/// The block's index.
pub fn block() -> usize {
    thread::block_idx_x() as usize
}

/// A shared array of `$len` elements.
macro_rules! shared {
    ($element:ty; $len:expr) => {
        $crate::harness::Shared(cuda_std::shared_array![$element; $len])
    };
}
pub(crate) use shared;
