//! Kernels that run as their PTX.

use super::bodies::{KernelBodies, KernelCall, SymbolCall};
use crate::locks::lock;
use crate::module_source::ModuleId;
use cuda_std::kernel::Architecture;
use ptx::Kernels;
use std::collections::HashMap;
use std::error::Error;
use std::sync::{Arc, Mutex};

/// A module's PTX, by architecture.
type Images = &'static [(&'static str, &'static str)];

/// The kernels and the static arrays of each module, as a GPU has them.
#[derive(Default)]
struct Modules(Mutex<HashMap<ModuleId, Arc<Kernels>>>);

impl Modules {
    fn of(&self, module: ModuleId) -> Arc<Kernels> {
        let mut modules = lock(&self.0);
        Arc::clone(modules.entry(module).or_default())
    }
}

/// The image of the newest architecture.
fn newest(images: Images) -> Option<&'static str> {
    let (_, text) = images
        .iter()
        .max_by_key(|(architecture, _)| Architecture::parse(architecture))?;
    Some(text)
}

impl KernelBodies {
    /// Runs each kernel as its PTX, from its module's image for the newest architecture. A kernel without PTX, as in a
    /// program without the feature `cuda`, runs as its function.
    ///
    /// The library's kernels and the program's own run with the bits of their functions, and the simulator checks the
    /// compiler's output: a barrier that it moved, for example. They take several times as long. If some PTX cannot be
    /// run, the launch fails, and its report names the line. Each device has its own static arrays.
    ///
    /// ```
    /// use tilewright::{Device, KernelBodies, SimulatorOptions};
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let options = SimulatorOptions::default().with_bodies(KernelBodies::of_ptx());
    /// let device = Device::simulator_with(options);
    /// assert_eq!(device.reduce_sum(&device.upload(&[0.5_f32; 100])?)?, 50.0);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn of_ptx() -> Self {
        let modules = Arc::new(Modules::default());
        let of_symbols = Arc::clone(&modules);
        let choose = move |call: &KernelCall<'_>| {
            let image = newest(call.images)?;
            Some(body(&modules.of(call.id), call, image).unwrap_or_else(|it| failing(&*it)))
        };
        // SAFETY: a module's images are compiled from its kernels.
        let bodies = unsafe { Self::new(choose) };
        let find = move |call: &SymbolCall| {
            let image = newest(call.images)?;
            let kernels = of_symbols.of(call.id);
            // If the PTX cannot be read, launches report it.
            let found = kernels.variable(call.module, call.name, || Some(image));
            let (address, bytes) = found.ok().flatten()?;
            (bytes >= call.bytes).then_some(address)
        };
        // SAFETY: the variable is as long as the array, and lives as long as the kernels, which these bodies keep.
        unsafe { bodies.with_symbols(find) }.renewed_by(Self::of_ptx)
    }
}

/// The kernel of a call.
fn body(
    kernels: &Kernels,
    call: &KernelCall<'_>,
    image: &'static str,
) -> Result<simt::Body, Box<dyn Error>> {
    let kernel = kernels.get(call.module, call.name, || Some(image))?;
    // SAFETY: the parameters are those of the kernel, which the image was compiled from, and a simulator refuses memory
    // that is not its own.
    Ok(unsafe { kernel.body(&call.parameters) }?)
}

/// A body whose threads fail with this error.
fn failing(error: &dyn Error) -> simt::Body {
    let message = error.to_string();
    simt::Body::new(move || panic!("{message}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_image_has_the_largest_number() {
        let newest_of = |images: Images| newest(images).unwrap_or("none");
        assert_eq!(newest_of(&[("sm_90a", "90a"), ("sm_100", "100")]), "100");
        assert_eq!(newest_of(&[("sm_120a", "120a"), ("sm_75", "75")]), "120a");
        assert_eq!(newest_of(&[("sm_90a", "90a"), ("sm_90", "90")]), "90a");
        assert_eq!(newest_of(&[]), "none");
    }
}
