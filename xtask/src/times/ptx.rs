//! Build times of PTX.

use super::waiting::{Line, median_after_edits, timed, with_kernel};
use crate::workspace::Result;
use cuda_builder::{Arch, CudaBuilder};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// The kernels to build: those of the example crate.
const KERNELS: &str = "examples/custom_kernel/kernels/lib.rs";

/// The device toolchain, and the times of its builds.
pub fn builds(root: &Path) -> Result<(String, [Line; 3])> {
    let folder = TempDir::new()?;
    let source = fs::read_to_string(root.join(KERNELS))?;
    write_crate(folder.path(), root, &source)?;
    let builder = CudaBuilder::new(folder.path())
        .target_dir(folder.path().join("out"))
        .arch(Arch::Sm75)
        .arch(Arch::Sm80)
        .arch(Arch::Sm90a);
    let (build, from_nothing) = timed(|| Ok(builder.build()?))?;
    let (_, unchanged) = timed(|| Ok(builder.build()?))?;
    let edited = median_after_edits(
        |number| {
            Ok(fs::write(
                folder.path().join("lib.rs"),
                with_kernel(&source, number),
            )?)
        },
        || builder.build().map(drop).map_err(Into::into),
    )?;
    let lines = [
        ("from nothing", from_nothing),
        ("nothing has changed", unchanged),
        ("a kernel was added", edited),
    ];
    Ok((build.toolchain.to_string(), lines))
}

/// Writes a kernel crate outside the workspace.
fn write_crate(folder: &Path, root: &Path, source: &str) -> Result {
    let library = root.join("crates/cuda_std");
    let manifest = format!(
        "[package]\nname = \"kernels\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
         [lib]\npath = \"lib.rs\"\n\n[workspace]\n\n\
         [dependencies]\ntilewright-cuda-std = {{ path = {library:?} }}\n"
    );
    fs::write(folder.join("Cargo.toml"), manifest)?;
    fs::write(folder.join("lib.rs"), source)?;
    Ok(())
}
