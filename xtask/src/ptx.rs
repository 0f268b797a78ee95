//! `cargo xtask ptx`: the checked-in PTX, built from the kernels.

use crate::{Result, workspace_root};
use cuda_builder::{Arch, Build, CudaBuilder, checked_in};
use lexopt::Arg::Long;
use std::fs;
use std::path::Path;

/// Everything that the modules are built from, relative to the root.
const SOURCES: [&str; 4] = [
    "kernels",
    "crates/cuda_std/src",
    "crates/cuda_std_macros/src",
    "crates/cuda_builder/src",
];

/// The architectures that are built: for each, what the kernels can do differs.
const ARCHITECTURES: [Arch; 2] = [Arch::Sm75, Arch::Sm80];

/// Where the checked-in modules lie.
pub fn folder() -> std::path::PathBuf {
    workspace_root().join("ptx")
}

pub fn run(mut arguments: lexopt::Parser) -> Result {
    let mut check = false;
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("check") => check = true,
            _ => return Err(argument.unexpected().into()),
        }
    }
    if check { check_drift() } else { rebuild() }
}

fn rebuild() -> Result {
    let build = build_into(&folder())?;
    checked_in::write_manifest(&folder(), &workspace_root(), &SOURCES, &build)?;
    for module in &build.modules {
        println!(
            "{}: {} kernels",
            module.path.display(),
            module.kernels.len()
        );
    }
    Ok(())
}

/// Builds the modules anew elsewhere and compares them with the checked-in ones, byte by byte.
fn check_drift() -> Result {
    checked_in::verify(&folder(), &workspace_root())
        .map_err(|error| format!("{error}; run `cargo xtask ptx` and commit ptx/"))?;
    let fresh = workspace_root().join("target/ptx-check");
    let build = build_into(&fresh)?;
    checked_in::write_manifest(&fresh, &workspace_root(), &SOURCES, &build)?;
    for entry in fs::read_dir(&fresh)? {
        let name = entry?.file_name();
        if fs::read(fresh.join(&name))? != fs::read(folder().join(&name)).unwrap_or_default() {
            let name = name.display();
            return Err(format!(
                "ptx/{name} differs from what {} makes of the kernels; run `cargo xtask ptx` and commit ptx/",
                build.toolchain,
            )
            .into());
        }
    }
    println!("ptx/ is what {} makes of the kernels", build.toolchain);
    Ok(())
}

fn build_into(folder: &Path) -> Result<Build> {
    let _ = fs::remove_dir_all(folder);
    let mut builder = CudaBuilder::new(workspace_root().join("kernels"))
        .target_dir(workspace_root().join("target/cuda_builder"))
        .copy_to(folder);
    for arch in ARCHITECTURES {
        builder = builder.arch(arch);
    }
    Ok(builder.build()?)
}
