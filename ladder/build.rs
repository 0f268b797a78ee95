//! Finds the PTX of the steps: the checked-in `ptx/` where it was compiled from the sources that are
//! here; otherwise the kernels are compiled.

use cuda_builder::{Arch, CudaBuilder, checked_in};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let root = folder.parent().ok_or("the workspace is the folder above")?;
    let images = PathBuf::from(env::var("OUT_DIR")?).join("images.rs");
    fs::write(images, images_expression(&folder.join("ptx"), root)?)?;
    Ok(())
}

/// An array of (architecture, PTX).
fn images_expression(ptx: &Path, root: &Path) -> Result<String, Box<dyn Error>> {
    let watched = checked_in::sources(ptx)?;
    let watched = watched.iter().map(|source| root.join(source));
    for path in watched.chain([ptx.to_owned(), root.join("Cargo.lock")]) {
        println!("cargo:rerun-if-changed={}", path.display());
    }
    if checked_in::verify(ptx, root).is_ok() {
        return Ok(checked_in::rust_expression(ptx)?);
    }
    let build = CudaBuilder::new("kernels")
        .arch(Arch::Sm75)
        .arch(Arch::Sm80)
        .build()?;
    Ok(fs::read_to_string(build.rust_file)?)
}
