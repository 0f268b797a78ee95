//! Launches, kernel by kernel.

use super::variant::Variant;
use super::workload::{MAX_BLOCK_THREADS, OPERATION, Workload};
use crate::kernels::KERNELS;
use cuda_std::kernel::Kernel;
use tilewright::{Buffer, Device, ErrorKind, LaunchArgs, LaunchConfig, Module, Result};
use tilewright_ladder_kernels::prefetch as kernels;
use tilewright_ladder_kernels::prefetch::{Parameters, WithKernel};

/// A launch of a kernel, without its buffers.
pub(super) struct Launch {
    module: Module,
    config: LaunchConfig,
    distance: u32,
    rounds: u32,
    workload: Workload,
    /// The pitches of threads and of slots in shared memory, if there are slots.
    pitches: (u32, u32),
}

impl Launch {
    pub(super) fn new(
        device: &Device,
        variant: Variant,
        distance: u32,
        workload: Workload,
        elements: usize,
    ) -> Result<Self> {
        // The launch rejects larger blocks, whatever the size of the slots.
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

    pub(super) fn run(
        &self,
        variant: Variant,
        x: &Buffer<f64>,
        sums: &mut Buffer<f64>,
    ) -> Result<()> {
        let (distance, is_synced) = (self.distance, self.workload.is_synced);
        let (rounds, generations) = (self.rounds, self.workload.generations);
        let (threads, slots) = self.pitches;
        let plain = (rounds, generations, x, &mut *sums);
        let launched = match variant {
            Variant::Baseline => {
                use kernels::baseline::{prefetch_none, prefetch_none_synced};
                let found = self.with(plain);
                Some(match is_synced {
                    false => found.launch(prefetch_none),
                    true => found.launch(prefetch_none_synced),
                })
            }
            Variant::L2 => {
                use kernels::l2::{prefetch_l2, prefetch_l2_synced};
                let found = self.with((distance, rounds, generations, x, sums));
                Some(match is_synced {
                    false => found.launch(prefetch_l2),
                    true => found.launch(prefetch_l2_synced),
                })
            }
            Variant::SharedRolling(_) => {
                use kernels::shared_rolling::{
                    prefetch_shared_rolling, prefetch_shared_rolling_synced,
                };
                let found = self.with((distance, rounds, generations, threads, slots, x, sums));
                Some(match is_synced {
                    false => found.launch(prefetch_shared_rolling),
                    true => found.launch(prefetch_shared_rolling_synced),
                })
            }
            Variant::ScalarBatch => {
                kernels::scalar_batch::with_scalar_batch(distance, is_synced, self.with(plain))
            }
            Variant::ScalarRolling => {
                kernels::scalar_rolling::with_scalar_rolling(distance, is_synced, self.with(plain))
            }
            Variant::SharedBatch(_) => kernels::shared_batch::with_shared_batch(
                distance,
                is_synced,
                self.with((rounds, generations, threads, slots, x, sums)),
            ),
            Variant::SharedRollingAsync(_) => {
                kernels::shared_rolling_async::with_shared_rolling_async(
                    distance,
                    is_synced,
                    self.with((rounds, generations, threads, slots, x, sums)),
                )
            }
        };
        launched.expect("`launch` has compared the distance with those that there are")
    }

    /// The launch with its arguments, without its kernel.
    const fn with<A>(&self, arguments: A) -> Prepared<'_, A> {
        Prepared {
            launch: self,
            arguments,
        }
    }
}

/// A launch that lacks only its kernel: one of this ladder, for the launch's variant and distance.
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
        // SAFETY: all kernels of the ladder have the same requirements. `x` is not empty, and the
        // variant has the distance: `launch` has checked both. Kernels with slots get pitches and
        // memory from `Layout::slots` for the variant, the distance and the block.
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

/// The number of rounds in which the workload's threads cover all elements, one each per round.
fn rounds(elements: usize, workload: Workload) -> Result<u32> {
    let rounds = elements.div_ceil(workload.threads().max(1));
    // Kernels continue to a multiple of their batch, and fetch ahead.
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
