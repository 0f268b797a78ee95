//! The parts that an edit of a kernel recompiles.

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use common::{Workspace, core_dir, has_toolchain};
use cuda_builder::Arch;

/// The compiled libraries in `folder`, for the GPU and for the host, each with the time when it was written.
fn libraries(folder: &Path, found: &mut BTreeMap<PathBuf, SystemTime>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            libraries(&path, found);
        } else if path.extension().is_some_and(|it| it == "rlib") {
            let written = fs::metadata(&path).unwrap().modified().unwrap();
            found.insert(path, written);
        }
    }
}

/// All libraries except the kernels' own.
fn dependencies(workspace: &Workspace) -> BTreeMap<PathBuf, SystemTime> {
    let mut found = BTreeMap::new();
    libraries(&workspace.root().join("out"), &mut found);
    found.retain(|path, _| !path.to_string_lossy().contains("libfixture_kernels"));
    found
}

fn count(libraries: &BTreeMap<PathBuf, SystemTime>, folder: &str, name: &str) -> usize {
    let is_there = |path: &&PathBuf| {
        let file = path.file_name().unwrap().to_string_lossy();
        path.to_string_lossy().contains(folder) && file.starts_with(name)
    };
    libraries.keys().filter(is_there).count()
}

#[test]
#[ignore = "slow: cargo test -- --ignored"]
fn an_edit_compiles_the_kernels_alone() {
    if !has_toolchain() {
        return;
    }
    let workspace = Workspace::new("edited");
    // Otherwise, files of a builder with other flags would be counted.
    let out = workspace.root().join("out");
    if out.exists() {
        fs::remove_dir_all(out).unwrap();
    }
    let builder = workspace
        .builder("kernels")
        .arch(Arch::Sm75)
        .arch(Arch::Sm80);
    let build = || builder.build().unwrap_or_else(|error| panic!("{error}"));
    let before = build();
    let compiled = dependencies(&workspace);
    assert_eq!(count(&compiled, "out", "libcore-"), 0, "{compiled:?}");
    // One for all architectures, in the folder of each toolchain and each set of flags.
    let mut core = BTreeMap::new();
    libraries(&core_dir(), &mut core);
    let folders = fs::read_dir(core_dir()).unwrap().count();
    assert_eq!(count(&core, "sysroot", "libcore-"), folders, "{core:?}");
    let of_each_architecture = count(&compiled, "deps", "libfixture_device-");
    assert_eq!(of_each_architecture, 2, "{compiled:?}");

    let source = workspace.root().join("kernels/lib.rs");
    let kernels = fs::read_to_string(&source).unwrap();
    let added = "#[unsafe(no_mangle)] pub extern \"ptx-kernel\" fn added() {}\n";
    fs::write(&source, kernels + added).unwrap();
    let after = build();
    assert_eq!(dependencies(&workspace), compiled);
    for (before, after) in before.modules.iter().zip(&after.modules) {
        assert!(!before.kernels.contains(&"added".to_owned()), "{before:?}");
        assert!(after.kernels.contains(&"added".to_owned()), "{after:?}");
    }
}
