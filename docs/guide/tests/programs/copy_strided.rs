use tilewright::cuda_std::prelude::*;
use tilewright::{Device, LaunchConfig, ModuleSource};

/// Copies every 32nd element.
#[kernel]
pub fn copy_strided(x: Global<f32>, y: GlobalMut<f32>) {
    let i = thread::unique_index();
    if let (Some(x), Some(y)) = (x.get(32 * i.get()), y.own(i)) {
        y.set(x);
    }
}

// SAFETY: there is no PTX that could differ from the kernel: this program uses the simulator.
static KERNELS: ModuleSource = unsafe { ModuleSource::new("strided", &[]) };

/// The table of counters of one launch.
pub fn costs() -> tilewright::Result<String> {
    let device = Device::simulator();
    let x = device.zeros::<f32>(1 << 25)?;
    let mut y = device.zeros::<f32>(1 << 20)?;
    let module = device.load(&KERNELS)?;
    let config = LaunchConfig::for_elements(y.len(), 256);

    let ((), report) =
        device.with_report(|| module.launch(copy_strided, config, (&x, &mut y)))?;
    Ok(tilewright_report::table(&report))
}

fn main() -> tilewright::Result<()> {
    print!("{}", costs()?);
    Ok(())
}
