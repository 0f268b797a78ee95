//! Kernels with one mistake each, twins without it, what the simulator reports, and what other tools were
//! seen to report: mistakes in the use of Hopper's asynchronous machine (`docs/defects.md`), and those of
//! public bug histories (`docs/public_defects.md`).

#[macro_use]
mod modules;
#[cfg(test)]
mod opencl;
pub mod page;
mod public_table;
mod table;

pub use public_table::PUBLIC;
pub use simt::{Defect, DefectKind};
pub use table::MISTAKES;

use cuda_std::global::{Global, GlobalMut};
use cuda_std::grid_constant::GridConstant;
use cuda_std::kernel::Kernel;
use half::bf16;
use tilewright::{Device, ErrorKind, LaunchConfig, ModuleSource, Result, SimulatorOptions};
use tilewright_defect_kernels::public::ELEMENTS;
use tilewright_defect_kernels::{TILE, TileMap, WORDS};

/// A mistake: a kernel that makes it, and its twin.
#[derive(Clone, Copy, Debug)]
pub struct Mistake {
    /// The name of the kernel.
    pub name: &'static str,
    /// What is wrong, as a table has it.
    pub text: &'static str,
    /// What the simulator reports, which may depend on the schedule.
    pub kinds: &'static [DefectKind],
    /// Words of the report under some schedule.
    pub words: &'static str,
    /// Where it comes from: a thread of GitHub, a paper, a benchmark; empty where it was made up.
    pub source: &'static str,
    /// Blocks, of one cluster where there are clusters, and threads of each.
    shape: (u32, u32),
    shared_bytes: u32,
    launch: Launch,
}

/// Launches the kernel, or its twin, and waits.
type Launch = fn(&Device, bool, LaunchConfig) -> Result<()>;

impl Mistake {
    /// The mistake of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        all().find(|mistake| mistake.name == name)
    }

    /// Launches the kernel, or its twin, and waits for it. On a GPU the kernel may hang, and leave the
    /// device unusable for the process.
    ///
    /// # Errors
    /// [`ErrorKind::KernelDefect`] on the simulator; on a GPU what the driver reports.
    pub fn launch(&self, device: &Device, is_twin: bool) -> Result<()> {
        let (blocks, threads) = self.shape;
        let config = LaunchConfig::new(blocks, threads).with_dynamic_shared(self.shared_bytes);
        (self.launch)(device, is_twin, config)
    }

    /// What the simulator finds in the kernel, or in its twin, under this schedule.
    ///
    /// # Errors
    /// What does not come from the kernel.
    pub fn simulate(&self, seed: u64, is_twin: bool) -> Result<Option<Box<Defect>>> {
        self.simulate_blocks(seed, false, is_twin)
    }

    /// The same with blocks one by one or in parallel.
    ///
    /// # Errors
    /// What does not come from the kernel.
    pub fn simulate_blocks(
        &self,
        seed: u64,
        in_parallel: bool,
        is_twin: bool,
    ) -> Result<Option<Box<Defect>>> {
        let options = SimulatorOptions::default()
            .with_seed(seed)
            .with_finding_limit(1)
            .with_parallel_blocks(in_parallel);
        match self.launch(&Device::simulator_with(options), is_twin) {
            Ok(()) => Ok(None),
            Err(error) => match error.kind() {
                ErrorKind::KernelDefect(defect) => Ok(Some(defect.clone())),
                _ => Err(error),
            },
        }
    }

    /// The first report with the [`words`](Self::words), among some schedules.
    ///
    /// # Errors
    /// As for [`simulate`](Self::simulate).
    pub fn report(&self) -> Result<Option<Box<Defect>>> {
        for seed in 0..SCHEDULES {
            let found = self.simulate(seed, false)?;
            let found = found.filter(|defect| defect.to_string().contains(self.words));
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }
}

/// All mistakes.
pub fn all() -> impl Iterator<Item = &'static Mistake> {
    MISTAKES.iter().chain(PUBLIC)
}

/// Schedules under one of which a mistake must be found. They are fixed, whatever `TILEWRIGHT_SEEDS` says: the
/// page has the first report among them.
pub const SCHEDULES: u64 = 32;

/// # Errors
/// As for [`Mistake::launch`].
fn launch<K>(
    device: &Device,
    source: &'static ModuleSource,
    kernel: K,
    config: LaunchConfig,
) -> Result<()>
where
    K: for<'launch> Kernel<
        Params<'launch> = (
            GridConstant<'launch, TileMap>,
            Global<'launch, u32>,
            GlobalMut<'launch, u32>,
        ),
    >,
{
    let tiles = device.matrix_zeros::<bf16>((TILE, TILE))?;
    let words = device.upload(&[0_u32; WORDS])?;
    let mut out = device.zeros::<u32>(WORDS)?;
    let map = tiles.tensor_map()?;
    let module = device.load(source)?;
    // SAFETY: (1) the views and the memory have the sizes that the kernels name. A kernel with a mistake
    // breaks a rule, which is what it is launched for: the simulator reports it, and on a GPU the process
    // does nothing else.
    unsafe { module.launch_unsafe(kernel, config, (&map, &words, &mut out)) }?;
    device.synchronize()
}

/// # Errors
/// As for [`Mistake::launch`].
fn launch_public<K>(
    device: &Device,
    source: &'static ModuleSource,
    kernel: K,
    config: LaunchConfig,
) -> Result<()>
where
    K: for<'launch> Kernel<
        Params<'launch> = (
            Global<'launch, u32>,
            GlobalMut<'launch, u32>,
            GlobalMut<'launch, u32>,
        ),
    >,
{
    let input = device.upload(&[1_u32; ELEMENTS])?;
    let mut data = device.zeros::<u32>(ELEMENTS)?;
    let mut out = device.uninit::<u32>(ELEMENTS)?;
    let module = device.load(source)?;
    // SAFETY: (1) the views and the memory have the sizes that the kernels name. A kernel with a mistake
    // breaks a rule, which is what it is launched for: the simulator reports it, and on a GPU the process
    // does nothing else.
    unsafe { module.launch_unsafe(kernel, config, (&input, &mut data, &mut out)) }?;
    device.synchronize()
}
