//! The ladder of the prefetch, after NVIDIA's article "Boosting Application Performance with GPU
//! Memory Prefetching".

use super::StepInfo;
use crate::kernels::KERNELS;
use cuda_std::kernel::Kernel;
use std::ops::RangeInclusive;
use tilewright::{Buffer, Device, ErrorKind, LaunchArgs, LaunchConfig, Module, Result};
use tilewright_ladder_kernels::prefetch as kernels;
use tilewright_ladder_kernels::prefetch::{Parameters, Slots, WithKernel};

/// The name of the operation in errors.
const OPERATION: &str = "ladder::prefetch";

/// The most threads of a block that the kernels can be launched with.
pub const MAX_BLOCK_THREADS: u32 = kernels::MAX_BLOCK_THREADS;

/// The distances of the variants that prefetch.
pub const DISTANCES: RangeInclusive<u32> = 1..=kernels::MAX_DISTANCE;

/// The layout of a thread's prefetched values in shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Layout {
    /// Thread after thread: bank conflicts at every even distance.
    Unpadded,
    /// Thread after thread, with padding in between that makes the pitch odd.
    Padded,
    /// Slot after slot: neither conflicts nor padding (the article's exercise).
    Transposed,
}

impl Layout {
    /// All layouts.
    pub const ALL: [Self; 3] = [Self::Unpadded, Self::Padded, Self::Transposed];

    const fn slots(self, distance: u32, block_threads: u32) -> Slots {
        match self {
            Self::Unpadded => Slots::unpadded(distance, block_threads),
            Self::Padded => Slots::padded(distance, block_threads),
            Self::Transposed => Slots::transposed(distance, block_threads),
        }
    }
}

/// A variant of the loop, named as in the article.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Variant {
    /// No prefetch: its distance is 0.
    Baseline,
    /// To L2, by an instruction that returns nothing.
    L2,
    /// Batches into registers.
    ScalarBatch,
    /// Batches into shared memory.
    SharedBatch(Layout),
    /// One element in each round, into registers.
    ScalarRolling,
    /// One element in each round, into shared memory by way of a register.
    SharedRolling(Layout),
    /// One element in each round, into shared memory by asynchronous copies.
    SharedRollingAsync(Layout),
}

impl Variant {
    /// All variants, in the article's order.
    pub const ALL: [Self; 13] = [
        Self::Baseline,
        Self::L2,
        Self::ScalarBatch,
        Self::SharedBatch(Layout::Unpadded),
        Self::SharedBatch(Layout::Padded),
        Self::SharedBatch(Layout::Transposed),
        Self::ScalarRolling,
        Self::SharedRolling(Layout::Unpadded),
        Self::SharedRolling(Layout::Padded),
        Self::SharedRolling(Layout::Transposed),
        Self::SharedRollingAsync(Layout::Unpadded),
        Self::SharedRollingAsync(Layout::Padded),
        Self::SharedRollingAsync(Layout::Transposed),
    ];

    /// What the variant is. Kernels that are compiled for each distance have it at the end of
    /// their names; those whose threads synchronise have `_meeting` behind that.
    #[must_use]
    pub const fn info(self) -> StepInfo {
        const SHARED_BATCH: &str = "prefetch_shared_batch";
        const SHARED_ROLLING: &str = "prefetch_shared_rolling";
        const ASYNC: &str = "prefetch_shared_rolling_async";
        let (term, kernel, change) = match self {
            Self::Baseline => (
                "baseline",
                "prefetch_none",
                "each round loads its element and waits",
            ),
            Self::L2 => (
                "L2 prefetch",
                "prefetch_l2",
                "an instruction without a result brings the line into L2 some rounds ahead",
            ),
            Self::ScalarBatch => (
                "scalar batch",
                "prefetch_scalar_batch",
                "the loads of several rounds at once, into registers",
            ),
            Self::SharedBatch(Layout::Unpadded) => (
                "shared batch",
                SHARED_BATCH,
                "the loads of several rounds at once, into shared memory",
            ),
            Self::SharedBatch(Layout::Padded) => (
                "shared batch, padded",
                SHARED_BATCH,
                "an odd number of slots for each thread: no bank conflicts",
            ),
            Self::SharedBatch(Layout::Transposed) => (
                "shared batch, transposed",
                SHARED_BATCH,
                "slot after slot instead of thread after thread: no bank conflicts, no padding",
            ),
            Self::ScalarRolling => (
                "scalar rolling",
                "prefetch_scalar_rolling",
                "one load in each round, into the register that became free",
            ),
            Self::SharedRolling(Layout::Unpadded) => (
                "shared rolling",
                SHARED_ROLLING,
                "one load in each round, stored to shared memory in the same round",
            ),
            Self::SharedRolling(Layout::Padded) => (
                "shared rolling, padded",
                SHARED_ROLLING,
                "an odd number of slots for each thread: no bank conflicts",
            ),
            Self::SharedRolling(Layout::Transposed) => (
                "shared rolling, transposed",
                SHARED_ROLLING,
                "slot after slot instead of thread after thread: no bank conflicts, no padding",
            ),
            Self::SharedRollingAsync(Layout::Unpadded) => (
                "shared rolling async",
                ASYNC,
                "one asynchronous copy in each round, waited for when it is needed",
            ),
            Self::SharedRollingAsync(Layout::Padded) => (
                "shared rolling async, padded",
                ASYNC,
                "an odd number of slots for each thread: no bank conflicts",
            ),
            Self::SharedRollingAsync(Layout::Transposed) => (
                "shared rolling async, transposed",
                ASYNC,
                "slot after slot instead of thread after thread: no bank conflicts, no padding",
            ),
        };
        StepInfo {
            term,
            kernel,
            change,
        }
    }

    /// The distances that the variant can be launched with.
    #[must_use]
    pub fn distances(self) -> Vec<u32> {
        match self {
            Self::Baseline => vec![0],
            Self::L2
            | Self::ScalarBatch
            | Self::ScalarRolling
            | Self::SharedBatch(_)
            | Self::SharedRolling(_)
            | Self::SharedRollingAsync(_) => DISTANCES.collect(),
        }
    }

    /// Where the variant keeps its values in shared memory, if it does.
    const fn slots(self, distance: u32, block_threads: u32) -> Option<Slots> {
        match self {
            Self::SharedBatch(layout)
            | Self::SharedRolling(layout)
            | Self::SharedRollingAsync(layout) => Some(layout.slots(distance, block_threads)),
            Self::Baseline | Self::L2 | Self::ScalarBatch | Self::ScalarRolling => None,
        }
    }
}

/// How much work there is for each element, and the threads that do it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Workload {
    /// Generations of Ricker's model for each element, each with an exponential function.
    pub generations: u32,
    /// Blocks of the grid.
    pub blocks: u32,
    /// Threads of a block, at most [`MAX_BLOCK_THREADS`].
    pub block_threads: u32,
    /// Whether the threads of a block synchronise at a barrier in each round.
    pub meets: bool,
}

impl Workload {
    /// Threads of the grid, each of which leaves a sum.
    #[must_use]
    pub const fn threads(self) -> usize {
        self.blocks as usize * self.block_threads as usize
    }

    /// The sums that a launch leaves, bit for bit, computed one element after the other.
    #[must_use]
    pub fn sums(self, x: &[f64]) -> Vec<f64> {
        let threads = self.threads();
        let mut sums = vec![0.0; threads];
        for (index, &element) in x.iter().enumerate() {
            sums[index % threads] += kernels::generations(element, self.generations);
        }
        sums
    }
}

/// Each thread's sum of what becomes of its elements of `x`: element i belongs to thread i modulo
/// [`Workload::threads`]. The launch is not waited for.
///
/// ```
/// use tilewright::Device;
/// use tilewright_ladder::prefetch::{self, Variant, Workload};
///
/// # fn main() -> tilewright::Result<()> {
/// let device = Device::simulator();
/// let workload = Workload { generations: 1, blocks: 2, block_threads: 64, meets: true };
/// let elements: Vec<f64> = (0..1000).map(|i| f64::from(i) / 1000.0).collect();
/// let x = device.upload(&elements)?;
/// let mut sums = device.zeros(workload.threads())?;
/// prefetch::launch(&device, Variant::ScalarRolling, 4, workload, &x, &mut sums)?;
/// assert_eq!(sums.to_vec()?, workload.sums(&elements));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`ErrorKind::WrongLength`] if `sums` does not have an element for each of [`Workload::threads`];
/// [`ErrorKind::LaunchConfig`] if the variant has no such distance, or the device or the kernel does
/// not allow the workload's blocks; [`ErrorKind::TooLarge`] if a thread would have more than 2^31
/// elements; [`ErrorKind::WrongDevice`] if a buffer is of another device; and those of launches.
pub fn launch(
    device: &Device,
    variant: Variant,
    distance: u32,
    workload: Workload,
    x: &Buffer<f64>,
    sums: &mut Buffer<f64>,
) -> Result<()> {
    if sums.len() != workload.threads() {
        return Err(ErrorKind::WrongLength {
            expected: workload.threads(),
            found: sums.len(),
        }
        .during(OPERATION));
    }
    if !variant.distances().contains(&distance) {
        return Err(ErrorKind::LaunchConfig {
            kernel: variant.info().kernel,
            reason: format!(
                "there is none for distance {distance}; there is for {:?}",
                variant.distances()
            ),
        }
        .during(OPERATION));
    }
    if x.is_empty() {
        *sums = device.zeros(sums.len())?;
        return Ok(());
    }
    let launch = Launch::new(device, variant, distance, workload, x.len())?;
    launch.run(variant, x, sums)
}

/// A launch of one of the kernels, but for its buffers.
struct Launch {
    module: Module,
    config: LaunchConfig,
    distance: u32,
    rounds: u32,
    workload: Workload,
    /// The pitches of threads and of slots in shared memory, where slots are there.
    pitches: (u32, u32),
}

impl Launch {
    fn new(
        device: &Device,
        variant: Variant,
        distance: u32,
        workload: Workload,
        elements: usize,
    ) -> Result<Self> {
        // Larger blocks are refused by the launch, for which the slots' size does not matter.
        let block_threads = workload.block_threads.min(MAX_BLOCK_THREADS);
        let slots = variant.slots(distance, block_threads);
        let bytes = slots.map_or(0, |slots| slots.elements * size_of::<f64>() as u32);
        let config = LaunchConfig::new(workload.blocks, workload.block_threads);
        Ok(Self {
            module: device.load(&KERNELS)?,
            config: config.with_dynamic_shared(bytes),
            distance,
            rounds: rounds(elements, workload)?,
            workload,
            pitches: slots.map_or((0, 0), |slots| (slots.thread_pitch, slots.slot_pitch)),
        })
    }

    fn run(&self, variant: Variant, x: &Buffer<f64>, sums: &mut Buffer<f64>) -> Result<()> {
        let (distance, meets) = (self.distance, self.workload.meets);
        let (rounds, generations) = (self.rounds, self.workload.generations);
        let (threads, slots) = self.pitches;
        let plain = (rounds, generations, x, &mut *sums);
        let launched = match variant {
            Variant::Baseline => {
                use kernels::baseline::{prefetch_none, prefetch_none_meeting};
                let found = self.with(plain);
                Some(match meets {
                    false => found.launch(prefetch_none),
                    true => found.launch(prefetch_none_meeting),
                })
            }
            Variant::L2 => {
                use kernels::l2::{prefetch_l2, prefetch_l2_meeting};
                let found = self.with((distance, rounds, generations, x, sums));
                Some(match meets {
                    false => found.launch(prefetch_l2),
                    true => found.launch(prefetch_l2_meeting),
                })
            }
            Variant::SharedRolling(_) => {
                use kernels::shared_rolling::{
                    prefetch_shared_rolling, prefetch_shared_rolling_meeting,
                };
                let found = self.with((distance, rounds, generations, threads, slots, x, sums));
                Some(match meets {
                    false => found.launch(prefetch_shared_rolling),
                    true => found.launch(prefetch_shared_rolling_meeting),
                })
            }
            Variant::ScalarBatch => {
                kernels::scalar_batch::with_scalar_batch(distance, meets, self.with(plain))
            }
            Variant::ScalarRolling => {
                kernels::scalar_rolling::with_scalar_rolling(distance, meets, self.with(plain))
            }
            Variant::SharedBatch(_) => kernels::shared_batch::with_shared_batch(
                distance,
                meets,
                self.with((rounds, generations, threads, slots, x, sums)),
            ),
            Variant::SharedRollingAsync(_) => {
                kernels::shared_rolling_async::with_shared_rolling_async(
                    distance,
                    meets,
                    self.with((rounds, generations, threads, slots, x, sums)),
                )
            }
        };
        launched.expect("`launch` has compared the distance with those that there are")
    }

    /// The launch with its arguments, short of its kernel.
    const fn with<A>(&self, arguments: A) -> Prepared<'_, A> {
        Prepared {
            launch: self,
            arguments,
        }
    }
}

/// A launch that lacks only its kernel, which has to be one of this ladder, for the variant and
/// the distance of the launch.
struct Prepared<'a, A> {
    launch: &'a Launch,
    arguments: A,
}

impl<'a, A> Prepared<'a, A> {
    fn launch<K>(self, kernel: K) -> Result<()>
    where
        K: Kernel,
        A: LaunchArgs<K::Params<'a>>,
    {
        let Launch { module, config, .. } = self.launch;
        // SAFETY: (1) all kernels of the ladder have the same requirements: `x` is not empty, as
        // `launch` has checked, and (2) those with slots get pitches and memory from
        // `Layout::slots` for the variant, the distance and the block.
        unsafe { module.launch_unsafe(kernel, *config, self.arguments) }
    }
}

impl<'a, P: Parameters, A: LaunchArgs<P::Of<'a>>> WithKernel<P> for Prepared<'a, A> {
    type Output = Result<()>;

    fn with<K>(self, kernel: K) -> Result<()>
    where
        K: for<'launch> Kernel<Params<'launch> = P::Of<'launch>>,
    {
        self.launch(kernel)
    }
}

/// Rounds in which the workload's threads have all elements, one each.
fn rounds(elements: usize, workload: Workload) -> Result<u32> {
    let rounds = elements.div_ceil(workload.threads().max(1));
    // Kernels go on to a multiple of their batch, and fetch ahead.
    match i32::try_from(rounds) {
        Ok(rounds) => Ok(rounds.unsigned_abs()),
        Err(_) => Err(ErrorKind::TooLarge {
            what: format!(
                "the share of one of {} threads in {elements} elements",
                workload.threads()
            ),
            remedy: "launch more threads",
        }
        .during(OPERATION)),
    }
}
