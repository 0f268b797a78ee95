//! Runs kernels on the simulator.

use crate::kernel::BLOCK;
use ptx::{Kernel, Module, Program};
use simt::{Contents, Launch, Options};
use std::error::Error;
use std::sync::atomic::{AtomicU64, Ordering};

/// The words that a kernel of `steps` instructions stores: those of the first instruction for all threads, and then
/// those of the next.
pub fn outputs(
    module: &Module,
    name: &str,
    words: &[u64],
    threads: usize,
    steps: usize,
) -> Result<Vec<u64>, Box<dyn Error>> {
    let kernel = Kernel::new(Program::new(module, name)?)?;
    let input = Words::new(words.to_vec())?;
    let output = Words::new(vec![0; threads * steps])?;
    let options = Options {
        registered_memory_only: true,
        ..Options::default()
    };
    let launch = Launch::new(
        name,
        threads.div_ceil(BLOCK) as u32,
        threads.min(BLOCK) as u32,
        &options,
    );
    let arguments: [&[u8]; 3] = [
        &input.address().to_le_bytes(),
        &output.address().to_le_bytes(),
        &(threads as u32).to_le_bytes(),
    ];
    // SAFETY: the words outlive the launch, which refuses other memory; there are no textures.
    let body = unsafe { kernel.body(&arguments)? };
    simt::run(&launch, &body)?;
    let stored = output.0.iter().map(|word| word.load(Ordering::Relaxed));
    Ok(stored.collect())
}

/// Words in global memory of the simulator.
struct Words(Box<[AtomicU64]>);

impl Words {
    fn new(words: Vec<u64>) -> Result<Self, Box<dyn Error>> {
        let words = Self(words.into_iter().map(AtomicU64::new).collect());
        // SAFETY: the words live until `drop`, which forgets them first, and are accessed as atomic words.
        unsafe {
            simt::register_allocation(
                words.address(),
                size_of_val(&*words.0),
                Contents::Initialised,
            )?
        };
        Ok(words)
    }

    fn address(&self) -> usize {
        self.0.as_ptr().expose_provenance()
    }
}

impl Drop for Words {
    fn drop(&mut self) {
        simt::forget_allocation(self.address(), size_of_val(&*self.0));
    }
}
