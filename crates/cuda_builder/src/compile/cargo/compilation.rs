//! The kernel crate, compiled to bitcode for one architecture.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::artifact::{Artifact, LocalPackage};
use super::command::{cargo_command, compile_failed, rustc_flags};
use super::command::{remapped_paths, with_device_profile};
use super::core_library::CoreLibrary;
use super::messages::Messages;
use crate::arch::{Arch, CFG_VALUES};
use crate::builder::Debugging;
use crate::checked_in::LinkedPackage;
use crate::compile::files::{create_folder, write_if_changed};
use crate::compile::process::start;
use crate::compile::toolchain::{TARGET, Toolchain};
use crate::error::BuildError;

/// The result of compiling the kernel crate.
pub(crate) struct CompiledCrates {
    /// The library name of the kernel crate.
    pub(crate) crate_name: String,
    /// The library of the kernel crate.
    pub(crate) kernels: PathBuf,
    /// The libraries of its dependencies, including `core`, in an order that does not depend on the machine.
    pub(crate) dependencies: Vec<PathBuf>,
    /// The compiled packages that are not from a registry, including the kernel crate.
    pub(crate) local_packages: Vec<LocalPackage>,
    /// The packages from registries whose libraries are among the dependencies.
    pub(crate) linked_packages: Vec<LinkedPackage>,
    /// The compiler's warnings, one line each.
    pub(crate) warnings: Vec<String>,
}

/// One run of the inner cargo.
///
/// All architectures share one target folder, and with it the host crates: the procedural macros and their
/// dependencies, which take longer than the kernels. Cargo names a crate's files by its flags, so that each
/// architecture finds its own. It does not do so for flags that remap paths; those are in an argument file.
pub(crate) struct Compilation<'a> {
    pub(crate) toolchain: &'a Toolchain,
    pub(crate) core: &'a CoreLibrary,
    /// The folder with the kernel crate's `Cargo.toml`.
    pub(crate) kernel_crate: &'a Path,
    /// The root of the kernel crate's workspace.
    pub(crate) workspace: &'a Path,
    pub(crate) arch: Arch,
    pub(crate) debugging: Debugging,
    pub(crate) target_dir: &'a Path,
}

impl Compilation<'_> {
    /// Compiles the kernel crate and its dependencies to unoptimised bitcode.
    pub(crate) fn run(&self) -> Result<CompiledCrates, BuildError> {
        let output = start(&mut self.command()?)?;
        let messages = Messages::parse(&String::from_utf8_lossy(&output.stdout));
        if !output.status.success() {
            return Err(compile_failed(
                self.kernel_crate,
                self.arch,
                &messages,
                &output.stderr,
            ));
        }
        self.collect(&messages)
    }

    fn command(&self) -> Result<Command, BuildError> {
        let mut command = cargo_command(self.toolchain, self.kernel_crate);
        command
            .args(["rustc", "--lib", "--crate-type", "rlib", "--release"])
            .args(["--quiet", "--message-format", "json"])
            .args(["--target", TARGET])
            .arg("--manifest-path")
            .arg(self.kernel_crate.join("Cargo.toml"))
            .arg("--target-dir")
            .arg(self.target_dir);
        with_device_profile(&mut command);
        // Unlike RUSTFLAGS, this form allows spaces in a flag.
        let flags = self.rustc_flags()?.join("\u{1f}");
        command.env("CARGO_ENCODED_RUSTFLAGS", flags);
        Ok(command)
    }

    fn rustc_flags(&self) -> Result<Vec<String>, BuildError> {
        let mut flags = rustc_flags(self.debugging);
        flags.push(format!("-Ctarget-cpu={}", self.arch));
        for value in self.arch.cfg_values() {
            flags.push(format!("--cfg=cuda_arch_at_least=\"{value}\""));
        }
        let values = CFG_VALUES.map(|value| format!("\"{value}\"")).join(", ");
        flags.push(format!(
            "--check-cfg=cfg(cuda_arch_at_least, values({values}))"
        ));
        flags.push("--check-cfg=cfg(cuda_panic_locations)".to_owned());
        if self.debugging.panic_locations {
            flags.push("--cfg=cuda_panic_locations".to_owned());
        }
        flags.push(format!("--sysroot={}", self.core.sysroot.display()));
        flags.push(format!("@{}", self.file_of_remapped_paths()?.display()));
        Ok(flags)
    }

    /// The file is named by its content, because cargo compiles again when the name changes.
    fn file_of_remapped_paths(&self) -> Result<PathBuf, BuildError> {
        let text = remapped_paths(self.toolchain, Some(self.workspace)).join("\n");
        let hash = source_hash::sha256(text.as_bytes());
        let path = self.target_dir.join(format!("remapped-{}", &hash[..16]));
        create_folder(self.target_dir)?;
        write_if_changed(&path, &text)?;
        Ok(path)
    }

    fn collect(&self, messages: &Messages) -> Result<CompiledCrates, BuildError> {
        let manifest = self.kernel_crate.join("Cargo.toml");
        let mut kernels = None;
        let mut dependencies: Vec<_> = (self.core.libraries.iter().cloned())
            .map(|(name, version, library)| ((name, version), library))
            .collect();
        for artifact in &messages.artifacts {
            match artifact.device_library() {
                Some(library) if artifact.manifest == manifest => {
                    kernels = Some((artifact.name.clone(), library));
                }
                Some(library) => dependencies.push((artifact.sort_key(), library)),
                None => {}
            }
        }
        dependencies.sort();
        let (crate_name, kernels) = kernels.ok_or_else(|| not_a_library(self.kernel_crate))?;
        Ok(CompiledCrates {
            crate_name,
            kernels,
            dependencies: dependencies.into_iter().map(|(_, path)| path).collect(),
            local_packages: local_packages(&messages.artifacts),
            linked_packages: messages
                .artifacts
                .iter()
                .filter(|artifact| artifact.device_library().is_some())
                .filter_map(Artifact::linked_package)
                .collect(),
            warnings: messages.warnings(),
        })
    }
}

fn local_packages(artifacts: &[Artifact]) -> Vec<LocalPackage> {
    let mut packages: Vec<LocalPackage> = artifacts
        .iter()
        .filter(|artifact| artifact.is_local && artifact.is_library)
        .map(Artifact::local_package)
        .collect();
    packages.sort();
    packages.dedup();
    packages
}

fn not_a_library(kernel_crate: &Path) -> BuildError {
    BuildError::NotAKernelCrate {
        path: kernel_crate.to_owned(),
        reason: "cargo built no library from it".to_owned(),
    }
}
