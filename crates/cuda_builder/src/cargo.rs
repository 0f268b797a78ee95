//! The inner cargo, which compiles the kernel crate to bitcode.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

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
}

/// A package whose sources may be edited.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LocalPackage {
    pub(crate) manifest: PathBuf,
    pub(crate) source_folder: PathBuf,
}

/// A package of a registry that was compiled into a module.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct LinkedPackage {
    /// The package's name.
    pub name: String,
    /// The version that the workspace's `Cargo.lock` names.
    pub version: String,
}

/// One run of the inner cargo.
pub(crate) struct Compilation<'a> {
    pub(crate) toolchain: &'a Toolchain,
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
        let mut command = self.command();
        let output = start(&mut command)?;
        if !output.status.success() {
            return Err(BuildError::CompileFailed {
                kernel_crate: self.kernel_crate.to_owned(),
                arch: self.arch,
                diagnostics: String::from_utf8_lossy(&output.stderr).into_owned(),
            });
        }
        self.collect(&String::from_utf8_lossy(&output.stdout))
    }

    fn command(&self) -> Command {
        let mut command = cargo_command(self.toolchain, self.kernel_crate);
        command
            .args(["rustc", "--lib", "--crate-type", "rlib", "--release"])
            .args(["--message-format", "json-render-diagnostics"])
            // rustup has no `core` for this target, and this one gets the flags of the kernels.
            .args(["--target", TARGET, "-Zbuild-std=core"])
            .arg("--manifest-path")
            .arg(self.kernel_crate.join("Cargo.toml"))
            .arg("--target-dir")
            .arg(self.target_dir);
        for setting in PROFILE {
            command.args(["--config", setting]);
        }
        // This form, unlike RUSTFLAGS, lets a flag contain spaces.
        let flags = self.rustc_flags().join("\u{1f}");
        command.env("CARGO_ENCODED_RUSTFLAGS", flags);
        command
    }

    fn rustc_flags(&self) -> Vec<String> {
        let mut flags: Vec<String> = RUSTC_FLAGS.map(str::to_owned).into();
        flags.push(format!("-Ctarget-cpu={}", self.arch));
        for value in self.arch.cfg_values() {
            flags.push(format!("--cfg=cuda_arch_at_least=\"{value}\""));
        }
        let values = CFG_VALUES.map(|value| format!("\"{value}\"")).join(", ");
        flags.push(format!(
            "--check-cfg=cfg(cuda_arch_at_least, values({values}))"
        ));
        flags.extend(self.remapped_paths());
        flags
    }

    /// Keeps this machine's folders out of panic messages and symbol names.
    fn remapped_paths(&self) -> Vec<String> {
        let sources = self.toolchain.sysroot.join("lib/rustlib/src/rust");
        let mut remapped = vec![
            (self.workspace.to_owned(), "/workspace"),
            (sources, "/rust"),
        ];
        if let Some(cargo_home) = cargo_home() {
            remapped.push((cargo_home, "/cargo"));
        }
        remapped
            .into_iter()
            .map(|(from, to)| format!("--remap-path-prefix={}={to}", from.display()))
            .collect()
    }

    /// Reads cargo's JSON messages, one per line.
    fn collect(&self, messages: &str) -> Result<CompiledCrates, BuildError> {
        let artifacts: Vec<Artifact> = messages
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .filter_map(|message: Value| Artifact::from_message(&message))
            .collect();
        let manifest = self.kernel_crate.join("Cargo.toml");
        let mut kernels = None;
        let mut dependencies = Vec::new();
        for artifact in &artifacts {
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
            local_packages: self.local_packages(&artifacts),
            linked_packages: artifacts
                .iter()
                .filter(|artifact| artifact.device_library().is_some())
                .filter_map(Artifact::linked_package)
                .collect(),
        })
    }

    fn local_packages(&self, artifacts: &[Artifact]) -> Vec<LocalPackage> {
        let rust_sources = self.toolchain.sysroot.join("lib/rustlib");
        let mut packages: Vec<LocalPackage> = artifacts
            .iter()
            .filter(|artifact| artifact.is_local && artifact.is_library)
            .filter(|artifact| !artifact.manifest.starts_with(&rust_sources))
            .map(Artifact::local_package)
            .collect();
        packages.sort();
        packages.dedup();
        packages
    }
}

/// One library or program that cargo reports.
struct Artifact {
    package_id: String,
    manifest: PathBuf,
    name: String,
    source: PathBuf,
    files: Vec<PathBuf>,
    is_local: bool,
    is_library: bool,
}

impl Artifact {
    fn from_message(message: &Value) -> Option<Artifact> {
        if message["reason"] != "compiler-artifact" {
            return None;
        }
        let target = &message["target"];
        let package_id = message["package_id"].as_str()?.to_owned();
        let kinds = target["kind"].as_array()?;
        Some(Artifact {
            is_local: package_id.starts_with("path+"),
            is_library: !kinds.iter().any(|kind| kind == "custom-build"),
            manifest: message["manifest_path"].as_str()?.into(),
            name: target["name"].as_str()?.replace('-', "_"),
            source: target["src_path"].as_str()?.into(),
            files: message["filenames"]
                .as_array()?
                .iter()
                .filter_map(Value::as_str)
                .map(PathBuf::from)
                .collect(),
            package_id,
        })
    }

    /// The `.rlib` with the crate's bitcode; `None` for what runs on the host, such as a
    /// procedural macro and its dependencies.
    fn device_library(&self) -> Option<PathBuf> {
        let for_device = |file: &&PathBuf| file.components().any(|part| part.as_os_str() == TARGET);
        self.files
            .iter()
            .filter(for_device)
            .find(|file| file.extension() == Some(OsStr::new("rlib")))
            .cloned()
    }

    /// Orders crates by name and version: the rest of a package id is a path or an address.
    fn sort_key(&self) -> (String, String) {
        let version = self.package_id.rsplit(['#', '@']).next().unwrap_or("");
        (self.name.clone(), version.to_owned())
    }

    /// The package, which a registry's id names as `<registry>#<name>@<version>`.
    fn linked_package(&self) -> Option<LinkedPackage> {
        let (_, package) = self.package_id.split_once('#')?;
        let (name, version) = package.split_once('@')?;
        (!self.is_local).then(|| LinkedPackage {
            name: name.to_owned(),
            version: version.to_owned(),
        })
    }

    fn local_package(&self) -> LocalPackage {
        LocalPackage {
            manifest: self.manifest.clone(),
            source_folder: self.source.parent().unwrap_or(Path::new("/")).to_owned(),
        }
    }
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
