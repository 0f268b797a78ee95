//! `core` for the GPU, against which the kernels of every architecture are compiled.
//!
//! rustup has no `core` for this target, and this one gets the flags of the kernels. It is compiled once for a
//! toolchain, for the oldest architecture: it has no code that depends on the architecture, and
//! [`ir::for_architecture`](crate::compile::ir::for_architecture) renames the architecture in its functions. Its
//! libraries become the sysroot of the kernels' compilations. With cargo's `-Zbuild-std` each architecture would
//! compile its own `core`, which is most of the time of a first build.
//!
//! Builds share a folder: each combination of toolchain and flags has its own in it, which one process fills at a time.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::command::{cargo_command, compile_failed, rustc_flags};
use super::command::{remapped_paths, with_device_profile};
use super::messages::Messages;
use crate::arch::Arch;
use crate::builder::Debugging;
use crate::compile::files::{create_folder, locked, recreate_folder, write, write_if_changed};
use crate::compile::process::start;
use crate::compile::toolchain::{TARGET, Toolchain};
use crate::error::BuildError;

/// A crate that depends on nothing but `core`.
const EMPTY_MANIFEST: &str = "[package]\nname = \"empty\"\nversion = \"0.0.0\"\n\
                              edition = \"2024\"\n\n[lib]\npath = \"lib.rs\"\n\n[workspace]\n";
const EMPTY_LIBRARY: &str = "#![no_std]\n";

/// A library's name, version and file.
type Library = (String, String, PathBuf);

/// The compiled `core`.
pub(crate) struct CoreLibrary {
    pub(super) sysroot: PathBuf,
    pub(super) libraries: Vec<Library>,
}

impl CoreLibrary {
    /// Finds it in `folder`, or compiles it there, while other processes and threads wait.
    pub(crate) fn build(
        toolchain: &Toolchain,
        debugging: Debugging,
        folder: &Path,
    ) -> Result<CoreLibrary, BuildError> {
        let flags = flags(toolchain, debugging);
        let made_from = format!("{}\n{}\n", toolchain.fingerprint(), flags.join(" "));
        let folder = &folder.join(&source_hash::sha256(made_from.as_bytes())[..16]);
        let sysroot = folder.join("sysroot");
        // Written last, so that an interrupted build leaves none.
        let record = sysroot.join("RECORD");
        let present = || recorded_libraries(&fs::read_to_string(&record).ok()?, &sysroot);
        // A folder that is complete need not be writable.
        if let Some(libraries) = present() {
            return Ok(CoreLibrary { sysroot, libraries });
        }
        let _lock = locked(folder)?;
        // Another process may have filled it meanwhile.
        if let Some(libraries) = present() {
            return Ok(CoreLibrary { sysroot, libraries });
        }
        let libraries = copy_libraries(compile(toolchain, &flags, folder)?, &sysroot)?;
        write_if_changed(&record, &record_of(&libraries))?;
        Ok(CoreLibrary { sysroot, libraries })
    }
}

fn compile(
    toolchain: &Toolchain,
    flags: &[String],
    folder: &Path,
) -> Result<Vec<Library>, BuildError> {
    let package = folder.join("empty");
    create_folder(&package)?;
    write(&package.join("Cargo.toml"), EMPTY_MANIFEST)?;
    write(&package.join("lib.rs"), EMPTY_LIBRARY)?;
    let output = start(&mut command(
        toolchain,
        flags,
        &package,
        &folder.join("crates"),
    ))?;
    let messages = Messages::parse(&String::from_utf8_lossy(&output.stdout));
    if !output.status.success() {
        return Err(compile_failed(
            &package,
            Arch::ALL[0],
            &messages,
            &output.stderr,
        ));
    }
    let own_manifest = package.join("Cargo.toml");
    let libraries = messages
        .artifacts
        .iter()
        .filter(|it| it.manifest != own_manifest);
    let library = |(path, (name, version))| (name, version, path);
    Ok(libraries
        .filter_map(|it| Some((it.device_library()?, it.sort_key())))
        .map(library)
        .collect())
}

fn command(toolchain: &Toolchain, flags: &[String], package: &Path, target_dir: &Path) -> Command {
    let mut command = cargo_command(toolchain, package);
    command
        .args(["build", "--release", "--quiet", "--message-format", "json"])
        .args(["--target", TARGET, "-Zbuild-std=core"])
        .arg("--target-dir")
        .arg(target_dir)
        .env("CARGO_ENCODED_RUSTFLAGS", flags.join("\u{1f}"));
    with_device_profile(&mut command);
    command
}

fn flags(toolchain: &Toolchain, debugging: Debugging) -> Vec<String> {
    let mut flags = rustc_flags(debugging);
    flags.push(format!("-Ctarget-cpu={}", Arch::ALL[0]));
    flags.extend(remapped_paths(toolchain, None));
    flags
}

fn copy_libraries(built: Vec<Library>, sysroot: &Path) -> Result<Vec<Library>, BuildError> {
    recreate_folder(sysroot)?;
    let folder = libraries_of(sysroot);
    create_folder(&folder)?;
    let copy = |(name, version, path): Library| {
        let copy = folder.join(path.file_name().unwrap_or_default());
        fs::copy(&path, &copy).map_err(BuildError::io("copy", &path))?;
        Ok((name, version, copy))
    };
    built.into_iter().map(copy).collect()
}

/// The folder where rustc looks for the libraries.
fn libraries_of(sysroot: &Path) -> PathBuf {
    sysroot.join("lib/rustlib").join(TARGET).join("lib")
}

/// A line for each library: name, version, and the file's name.
fn record_of(libraries: &[Library]) -> String {
    let line = |(name, version, path): &Library| {
        let file = path.file_name().unwrap_or_default();
        format!("{name} {version} {}\n", file.to_string_lossy())
    };
    libraries.iter().map(line).collect()
}

/// Reads [`record_of`]; `None` if a file, or all of it, is missing.
fn recorded_libraries(record: &str, sysroot: &Path) -> Option<Vec<Library>> {
    let folder = libraries_of(sysroot);
    let library = |line: &str| {
        let mut words = line.splitn(3, ' ');
        let (name, version) = (words.next()?.to_owned(), words.next()?.to_owned());
        let path = folder.join(words.next()?);
        path.is_file().then_some((name, version, path))
    };
    let libraries: Option<Vec<Library>> = record.lines().map(library).collect();
    libraries.filter(|them| !them.is_empty())
}
