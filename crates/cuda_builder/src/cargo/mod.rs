//! The inner cargo, which compiles the kernel crate to bitcode.

mod artifact;
mod core_library;
mod messages;

pub use artifact::LinkedPackage;
pub(crate) use artifact::LocalPackage;
pub(crate) use core_library::CoreLibrary;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use artifact::Artifact;
use messages::Messages;
use sha2::{Digest, Sha256};

use crate::arch::{Arch, CFG_VALUES};
use crate::error::BuildError;
use crate::process::{clean_environment, run_for_output, start};
use crate::toolchain::{TARGET, Toolchain};

/// Settings of the outer build's `release` profile that must not reach the kernels, and those
/// that the pipeline relies on.
const PROFILE: [&str; 9] = [
    "profile.release.panic=\"abort\"",
    "profile.release.opt-level=3",
    // One object per crate: items stay in the order of the source.
    "profile.release.codegen-units=1",
    "profile.release.lto=\"off\"",
    "profile.release.incremental=false",
    "profile.release.debug=0",
    "profile.release.strip=\"none\"",
    "profile.release.overflow-checks=false",
    "profile.release.debug-assertions=false",
];

/// The flags of every crate for the GPU. Optimisation waits until the builder has rewritten the
/// IR: LLVM would move barriers that are not marked convergent yet.
///
/// Of the passes that rustc has itself, one must not run: jump threading copies calls into the
/// branches around them, and two copies of a shuffle or a barrier in two branches no longer meet.
const RUSTC_FLAGS: [&str; 4] = [
    "-Cno-prepopulate-passes",
    "-Zmir-enable-passes=-JumpThreading",
    "-Cpanic=abort",
    "-Csymbol-mangling-version=v0",
];

/// What compiling the kernel crate gave.
pub(crate) struct CompiledCrates {
    /// The library name of the kernel crate.
    pub(crate) crate_name: String,
    /// The library of the kernel crate.
    pub(crate) kernels: PathBuf,
    /// The libraries of its dependencies, `core` included, in an order that does not depend on
    /// the machine.
    pub(crate) dependencies: Vec<PathBuf>,
    /// The packages outside the registry that were compiled, the kernel crate among them.
    pub(crate) local_packages: Vec<LocalPackage>,
    /// The packages of registries whose libraries are among the dependencies.
    pub(crate) linked_packages: Vec<LinkedPackage>,
    /// What the compiler warned of, a line each.
    pub(crate) warnings: Vec<String>,
}

/// One run of the inner cargo.
///
/// All architectures share one target folder, and with it what runs on the host: the procedural
/// macros and what they are made of, which take longer than the kernels. cargo names the files of a
/// crate by its flags, so that an architecture finds its own. It does not do so where the flags
/// remap paths; those are in a file of arguments.
pub(crate) struct Compilation<'a> {
    pub(crate) toolchain: &'a Toolchain,
    pub(crate) core: &'a CoreLibrary,
    /// The folder with the kernel crate's `Cargo.toml`.
    pub(crate) kernel_crate: &'a Path,
    /// The root of the workspace that the kernel crate belongs to.
    pub(crate) workspace: &'a Path,
    pub(crate) arch: Arch,
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
        // This form, unlike RUSTFLAGS, lets a flag contain spaces.
        let flags = self.rustc_flags()?.join("\u{1f}");
        command.env("CARGO_ENCODED_RUSTFLAGS", flags);
        Ok(command)
    }

    fn rustc_flags(&self) -> Result<Vec<String>, BuildError> {
        let mut flags: Vec<String> = RUSTC_FLAGS.map(str::to_owned).into();
        flags.push(format!("-Ctarget-cpu={}", self.arch));
        for value in self.arch.cfg_values() {
            flags.push(format!("--cfg=cuda_arch_at_least=\"{value}\""));
        }
        let values = CFG_VALUES.map(|value| format!("\"{value}\"")).join(", ");
        flags.push(format!(
            "--check-cfg=cfg(cuda_arch_at_least, values({values}))"
        ));
        flags.push(format!("--sysroot={}", self.core.sysroot.display()));
        flags.push(format!("@{}", self.file_of_remapped_paths()?.display()));
        Ok(flags)
    }

    /// The file is named by its content: cargo compiles anew where the name changes.
    fn file_of_remapped_paths(&self) -> Result<PathBuf, BuildError> {
        let text = remapped_paths(self.toolchain, Some(self.workspace)).join("\n");
        let hash = Sha256::digest(text.as_bytes());
        let name: String = hash[..8].iter().map(|byte| format!("{byte:02x}")).collect();
        let path = self.target_dir.join(format!("remapped-{name}"));
        if !path.exists() {
            fs::create_dir_all(self.target_dir)
                .map_err(BuildError::io("create", self.target_dir))?;
            fs::write(&path, text).map_err(BuildError::io("write", &path))?;
        }
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

/// The compiler's errors, or what cargo itself said.
fn compile_failed(package: &Path, arch: Arch, messages: &Messages, stderr: &[u8]) -> BuildError {
    let errors = messages.errors();
    BuildError::CompileFailed {
        kernel_crate: package.to_owned(),
        arch,
        diagnostics: if errors.is_empty() {
            String::from_utf8_lossy(stderr).into_owned()
        } else {
            errors
        },
    }
}

fn with_device_profile(command: &mut Command) {
    for setting in PROFILE {
        command.args(["--config", setting]);
    }
}

/// Keeps this machine's folders out of panic messages and symbol names.
fn remapped_paths(toolchain: &Toolchain, workspace: Option<&Path>) -> Vec<String> {
    let sources = toolchain.sysroot.join("lib/rustlib/src/rust");
    let workspace = workspace.map(|folder| (folder.to_owned(), "/workspace"));
    let cargo_home = cargo_home().map(|folder| (folder, "/cargo"));
    let remapped = workspace
        .into_iter()
        .chain([(sources, "/rust")])
        .chain(cargo_home);
    remapped
        .map(|(from, to)| format!("--remap-path-prefix={}={to}", from.display()))
        .collect()
}

fn not_a_library(kernel_crate: &Path) -> BuildError {
    BuildError::NotAKernelCrate {
        path: kernel_crate.to_owned(),
        reason: "cargo built no library from it".to_owned(),
    }
}

/// The root of the workspace that the kernel crate belongs to, which may be its own folder.
pub(crate) fn workspace_root(
    toolchain: &Toolchain,
    kernel_crate: &Path,
) -> Result<PathBuf, BuildError> {
    let mut command = cargo_command(toolchain, kernel_crate);
    command.args(["locate-project", "--workspace", "--message-format", "plain"]);
    let manifest = run_for_output(&mut command)?;
    let root = Path::new(manifest.trim_end()).parent();
    Ok(root.unwrap_or(kernel_crate).to_owned())
}

fn cargo_command(toolchain: &Toolchain, folder: &Path) -> Command {
    let mut command = Command::new(&toolchain.cargo);
    clean_environment(&mut command);
    command
        .current_dir(folder)
        .env("RUSTC", &toolchain.rustc)
        // The GPU target's ABI and `-Zbuild-std` are unstable; this is what lets a stable
        // compiler accept them.
        .env("RUSTC_BOOTSTRAP", "1");
    command
}

fn cargo_home() -> Option<PathBuf> {
    let default = || env::home_dir().map(|home| home.join(".cargo"));
    env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(default)
}
