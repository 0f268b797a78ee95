//! A kernel must not keep a view for a later one, when the buffer may be gone: it does not compile.

use cuda_std::prelude::*;
use std::cell::Cell;
use tilewright::{Device, LaunchConfig, ModuleSource, Result};

thread_local! {
    static KEPT: Cell<Option<GlobalMut<'static, f32>>> = const { Cell::new(None) };
}

#[kernel]
pub fn keep(x: GlobalMut<f32>) {
    KEPT.set(Some(x));
}

#[kernel]
pub fn use_kept() {
    if let Some(x) = KEPT.get().and_then(|x| x.own(thread::unique_index())) {
        x.set(1.0);
    }
}

static MODULE: ModuleSource = unsafe { ModuleSource::new("kept", &[]) };

fn main() -> Result<()> {
    let device = Device::simulator();
    let module = device.load(&MODULE)?;
    let mut x = device.upload(&[0.0_f32; 4096])?;
    module.launch(keep, LaunchConfig::new(1, 1), (&mut x,))?;
    drop(x);
    module.launch(use_kept, LaunchConfig::new(16, 256), ())
}
