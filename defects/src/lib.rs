//! Mistakes in the use of Hopper's asynchronous machine: kernels with one each, twins without it, what the
//! simulator reports, and what other tools were seen to report (`docs/defects.md`).

pub mod page;
mod table;

pub use simt::{Defect, DefectKind};
pub use table::MISTAKES;

use cuda_std::global::{Global, GlobalMut};
use cuda_std::grid_constant::GridConstant;
use cuda_std::kernel::Kernel;
use half::bf16;
use tilewright::{Device, ErrorKind, LaunchConfig, ModuleSource, Result, SimulatorOptions};
use tilewright_defect_kernels::{SHARED_BYTES, TILE, TileMap, WORDS};

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
    /// Blocks, of one cluster, and threads of each.
    shape: (u32, u32),
    launch: Launch,
}

/// Launches the kernel, or its twin, and waits.
type Launch = fn(&Device, bool, LaunchConfig) -> Result<()>;

impl Mistake {
    /// The mistake of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        MISTAKES.iter().find(|mistake| mistake.name == name)
    }

    /// Launches the kernel, or its twin, and waits for it. On a GPU the kernel may hang, and leave the
    /// device unusable for the process.
    ///
    /// # Errors
    /// [`ErrorKind::KernelDefect`] on the simulator; on a GPU what the driver reports.
    pub fn launch(&self, device: &Device, is_twin: bool) -> Result<()> {
        let (blocks, threads) = self.shape;
        let config = LaunchConfig::new(blocks, threads).with_dynamic_shared(SHARED_BYTES);
        (self.launch)(device, is_twin, config)
    }

    /// What the simulator finds in the kernel, or in its twin, under this schedule.
    ///
    /// # Errors
    /// What does not come from the kernel.
    pub fn simulate(&self, seed: u64, is_twin: bool) -> Result<Option<Box<Defect>>> {
        let options = SimulatorOptions::default()
            .with_seed(seed)
            .with_parallel_blocks(false);
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

/// Schedules under one of which a mistake must be found.
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
