//! Memory for the kernels of each table, and their launch.

use cuda_std::global::{Global, GlobalMut};
use cuda_std::grid_constant::GridConstant;
use cuda_std::kernel::Kernel;
use half::bf16;
use tilewright::{Device, LaunchConfig, ModuleSource, Result};
use tilewright_defect_kernels::public::ELEMENTS;
use tilewright_defect_kernels::{TILE, TileMap, WORDS};

/// # Errors
/// As for [`Mistake::launch`](crate::Mistake::launch).
pub(crate) fn launch<K>(
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
    // SAFETY: the views and the shared memory have the kernels' sizes. A kernel with a mistake breaks a rule on
    // purpose: the simulator reports it, and on a GPU the process does nothing else.
    unsafe { module.launch_unsafe(kernel, config, (&map, &words, &mut out)) }?;
    device.synchronize()
}

/// # Errors
/// As for [`Mistake::launch`](crate::Mistake::launch).
pub(crate) fn launch_public<K>(
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
    // SAFETY: the views and the shared memory have the kernels' sizes. A kernel with a mistake breaks a rule on
    // purpose: the simulator reports it, and on a GPU the process does nothing else.
    unsafe { module.launch_unsafe(kernel, config, (&input, &mut data, &mut out)) }?;
    device.synchronize()
}
