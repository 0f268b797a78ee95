//! Finds the PTX of the steps: the checked-in `ptx/` if it was compiled from the current sources; otherwise compiles
//! the kernels.

use cuda_builder::{Arch, CudaBuilder, checked_in, exit_with_error};
use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if let Err(error) = write_images() {
        exit_with_error(&error);
    }
}

/// Writes a file for each kernel crate, for the library to include: an array of (architecture, PTX).
fn write_images() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let root = folder.parent().ok_or("the workspace is the folder above")?;
    let output = PathBuf::from(env::var("OUT_DIR")?);
    let builder = CudaBuilder::new("kernels")
        .arch(Arch::Sm75)
        .arch(Arch::Sm80);
    let images = checked_in::images(&builder, &folder.join("ptx"), root)?;
    fs::write(output.join("images.rs"), images.modules)?;
    let builder = CudaBuilder::new("tensor_kernels").arch(Arch::Sm90a);
    let images = checked_in::images(&builder, &folder.join("tensor_ptx"), root)?;
    fs::write(output.join("tensor_images.rs"), images.modules)?;
    Ok(())
}
