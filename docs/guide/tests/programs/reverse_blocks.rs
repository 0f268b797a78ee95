use tilewright::cuda_std::prelude::*;
use tilewright::{Device, LaunchConfig, ModuleSource};

/// Reverses the elements of each block, through shared memory.
#[kernel(max_threads = 128)]
pub fn reverse_blocks(x: Global<f32>, y: GlobalMut<f32>) {
    let tile = shared_array![f32; 128];
    let (i, rank) = (thread::unique_index(), thread::rank_in_block() as usize);
    let last = thread::block_size() as usize - 1;
    // SAFETY: `rank <= last < 128`. Each thread stores its own element, and the barrier separates
    // stores from loads.
    let mirrored = unsafe {
        tile.store(rank, x.get(i.get()).unwrap_or(0.0));
        // thread::sync_threads();
        tile.load(last - rank)
    };
    if let Some(y) = y.own(i) {
        y.set(mirrored);
    }
}

// SAFETY: there is no PTX that could differ from the kernel.
static KERNELS: ModuleSource = unsafe { ModuleSource::new("my_kernels", &[]) };

fn main() -> tilewright::Result<()> {
    let device = Device::simulator();
    let x = device.upload(&Vec::from_iter((0..128).map(|i| i as f32)))?;
    let mut y = device.zeros(128)?;
    device.load(&KERNELS)?.launch(reverse_blocks, LaunchConfig::new(1, 128), (&x, &mut y))?;
    assert_eq!(y.to_vec()?[..3], [127.0, 126.0, 125.0]);
    Ok(())
}
