//! `cargo xtask ptx`: the checked-in PTX, built from the kernels.

mod instructions;

use crate::ptxas;
use crate::workspace::{Result, workspace_root};
use cuda_builder::{Arch, Build, CudaBuilder, checked_in};
use lexopt::Arg::Long;
use source_hash::sha256;
use std::collections::HashSet;
use std::fs;
use std::path::PathBuf;
use tilewright_ptxas::{FOLDERS, unpacked};

/// A kernel crate, and the folder of its checked-in PTX, relative to the root.
struct KernelCrate {
    /// The library's name.
    name: &'static str,
    sources: &'static str,
    ptx: &'static str,
    /// The architectures that are built, which differ in features that the kernels use.
    architectures: &'static [Arch],
    /// The architectures built only for kernels that state them.
    stated: &'static [Arch],
    one_module_per_kernel: bool,
}

/// The kernel crates, as in `build.rs`.
const CRATES: [KernelCrate; 3] = [
    KernelCrate {
        name: "tilewright_kernels",
        sources: "kernels",
        ptx: FOLDERS[0],
        architectures: &[Arch::Sm75, Arch::Sm80],
        stated: &[Arch::Sm90a],
        one_module_per_kernel: true,
    },
    KernelCrate {
        name: "tilewright_ladder_kernels",
        sources: "ladder/kernels",
        ptx: FOLDERS[1],
        architectures: &[Arch::Sm75, Arch::Sm80],
        stated: &[],
        one_module_per_kernel: false,
    },
    KernelCrate {
        name: "tilewright_ladder_tensor_kernels",
        sources: "ladder/tensor_kernels",
        ptx: FOLDERS[2],
        architectures: &[Arch::Sm90a],
        stated: &[],
        one_module_per_kernel: false,
    },
];

/// The sources of all modules besides their own, relative to the root. The library compares the
/// hashes of packaged sources (neither the builder's nor `Cargo.toml`, which cargo rewrites) with
/// the crates that it is compiled with: see `host/kernels.rs`.
const SHARED_SOURCES: [&str; 5] = [
    "crates/cuda_std/Cargo.toml",
    "crates/cuda_std/src",
    "crates/cuda_std_macros/src",
    "crates/cuda_builder/src/builder.rs",
    "crates/cuda_builder/src/compile",
];

/// The table in each folder of what the kernels' code consists of, for reviews.
const INSTRUCTIONS: &str = "instructions.txt";

pub fn run(mut arguments: lexopt::Parser) -> Result {
    let mut check = false;
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("check") => check = true,
            _ => return Err(argument.unexpected().into()),
        }
    }
    for kernels in &CRATES {
        if check {
            kernels.check_drift()?;
        } else {
            kernels.rebuild()?;
        }
    }
    if !check && !ptxas::table_is_of_the_ptx()? {
        println!("the PTX is another than before: run `cargo xtask ptxas --write`, too");
    }
    Ok(())
}

impl KernelCrate {
    /// The folder of the checked-in modules.
    fn folder(&self) -> PathBuf {
        workspace_root().join(self.ptx)
    }

    fn rebuild(&self) -> Result {
        let build = self.build()?;
        let manifest = format!("{}/Cargo.toml", self.sources);
        let mut sources = vec![self.sources, &manifest];
        sources.extend(SHARED_SOURCES);
        checked_in::write(&self.folder(), &workspace_root(), &sources, &build)?;
        fs::write(
            self.folder().join(INSTRUCTIONS),
            instructions::table(&build)?,
        )?;
        for arch in self.architectures.iter().chain(self.stated).copied() {
            let modules = || build.modules.iter().filter(|module| module.arch == arch);
            println!(
                "{} for {arch}: {} kernels in {} modules",
                self.name,
                modules().map(|module| module.kernels.len()).sum::<usize>(),
                modules().count()
            );
        }
        Ok(())
    }

    /// Rebuilds the modules and compares them with the checked-in ones byte by byte.
    fn check_drift(&self) -> Result {
        let advice = "run `cargo xtask ptx` and commit ptx/";
        checked_in::verify(&self.folder(), &workspace_root())
            .map_err(|error| format!("{error}; {advice}"))?;
        let files = unpacked(&workspace_root(), self.ptx)?;
        let build = self.build()?;
        let differs = |what: &str| {
            let toolchain = &build.toolchain;
            format!(
                "{}: {what} differs from what {toolchain} makes of the kernels; {advice}",
                self.ptx
            )
        };
        if files.len() != build.modules.len() {
            return Err(differs("the number of modules").into());
        }
        let manifest = fs::read_to_string(self.folder().join("MANIFEST"))?;
        let lines: HashSet<&str> = manifest.lines().collect();
        for module in &build.modules {
            let file = format!("{}.{}.ptx", module.name, module.arch);
            let ptx = fs::read(&module.path)?;
            let checked_in = files.iter().find(|it| it.ends_with(&file));
            if checked_in.map(fs::read).transpose()?.unwrap_or_default() != ptx {
                return Err(differs(&file).into());
            }
            let (length, hash) = (ptx.len(), sha256(&ptx));
            let line = format!("module {} {} {length} {hash}", module.arch, module.name);
            if !lines.contains(line.as_str()) {
                return Err(differs(&format!("the manifest's line of {file}")).into());
            }
        }
        let table = fs::read_to_string(self.folder().join(INSTRUCTIONS))?;
        if table != instructions::table(&build)? {
            return Err(differs(INSTRUCTIONS).into());
        }
        println!(
            "{} is what {} makes of the kernels",
            self.ptx, build.toolchain
        );
        Ok(())
    }

    fn build(&self) -> Result<Build> {
        let folder = workspace_root().join("target/cuda_builder");
        let mut builder = CudaBuilder::new(workspace_root().join(self.sources))
            .target_dir(folder.join(self.name))
            .core_dir(folder.join("core"));
        for arch in self.architectures.iter().copied() {
            builder = builder.arch(arch);
        }
        for arch in self.stated.iter().copied() {
            builder = builder.arch_where_stated(arch);
        }
        if self.one_module_per_kernel {
            builder = builder.one_module_per_kernel();
        }
        Ok(builder.build()?)
    }
}
