//! `cargo xtask packages`: packs the crates as for publication, and builds a user's program on
//! them, outside the repository.
//!
//! The archives are those that `cargo publish` would upload, which also checks for existing
//! versions and unpublished dependencies. The packages replace the registry's through
//! `[patch.crates-io]`.

mod contents;

use crate::workspace::{Result, workspace_root};
use std::collections::BTreeSet;
use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;
use tilewright_ptxas::output;

/// The folder within `package` where cargo leaves archives that it does not upload.
const DRY_RUN_ARCHIVES: &str = "tmp-crate";

/// The user's program: its kernel, and the library's, on the simulator.
const PROGRAM: &str = include_str!("packages/stranger.rs");

/// The kernels of products with vectors, and two of their parameters with the same type.
const VECTOR_KERNELS: &str = "matvec/mod.rs";
const SWAPPED: [&str; 2] = [
    "row_scale: Global<$finish>",
    "column_scale: Global<$finish>",
];

/// Maximum crates of a dependent with default features, itself included.
const MOST_CRATES: usize = 27;

/// The most bytes of an archive: half of what crates.io takes, so that there is space for more kernels.
const MOST_ARCHIVE_BYTES: u64 = 5 << 20;

/// The error of a library whose kernels differ from its PTX.
const MISMATCH: &str = "the PTX in this version of tilewright was compiled from other sources \
                        than the package tilewright-kernels";

pub fn run(mut arguments: lexopt::Parser) -> Result {
    if let Some(argument) = arguments.next()? {
        return Err(argument.unexpected().into());
    }
    let target = workspace_root().join("target/packages");
    let archives = pack(&target)?;
    check_sizes(&archives)?;
    let elsewhere = tempfile::tempdir()?;
    let packages = unpack(&archives, elsewhere.path())?;
    contents::check(&packages)?;
    contents::check_rust_version()?;
    println!("each package has its licences, its page and its Rust version");
    let stranger = Stranger::new(&elsewhere, &packages, &target.join("stranger"))?;

    let crates = stranger.crates()?.len();
    if crates > MOST_CRATES {
        return Err(format!("a dependent has {crates} crates, more than {MOST_CRATES}").into());
    }
    println!("a dependent with the default features has {crates} crates");
    stranger.succeed(&["run", "--features", "report"])?;
    println!("a program on the packages runs; their PTX and kernels fit together");
    swap_parameters(&packages)?;
    stranger.fail_with(&["build"], MISMATCH)?;
    println!("PTX and kernels that do not fit together do not compile");
    Ok(())
}

/// Publishes the workspace without uploading, and returns the archives.
fn pack(target: &Path) -> Result<Vec<PathBuf>> {
    let archives = target.join("package");
    // Archives of an earlier version would be found, too.
    if archives.exists() {
        fs::remove_dir_all(&archives)?;
    }
    let mut command = cargo(&workspace_root());
    // The user's program compiles all of them, so cargo need not.
    command
        .args(["publish", "--dry-run", "--workspace"])
        .args(["--allow-dirty", "--no-verify"])
        .arg("--target-dir")
        .arg(target);
    output(&mut command)?;
    let mut found = Vec::new();
    for entry in fs::read_dir(archives.join(DRY_RUN_ARCHIVES))? {
        let path = entry?.path();
        if path
            .extension()
            .is_some_and(|extension| extension == "crate")
        {
            found.push(path);
        }
    }
    if found.is_empty() {
        return Err(format!("cargo left no archives in {}", archives.display()).into());
    }
    found.sort();
    Ok(found)
}

/// Checks the sizes of the archives. The compressed PTX is most of the largest one.
fn check_sizes(archives: &[PathBuf]) -> Result {
    for archive in archives {
        let bytes = fs::metadata(archive)?.len();
        if bytes > MOST_ARCHIVE_BYTES {
            return Err(format!(
                "{} has {bytes} bytes, more than {MOST_ARCHIVE_BYTES}",
                archive.display()
            )
            .into());
        }
        println!(
            "{:9} bytes {}",
            bytes,
            archive.file_name().unwrap_or_default().to_string_lossy()
        );
    }
    Ok(())
}

/// Unpacks the archives into `folder`, and returns each package's name and folder.
fn unpack(archives: &[PathBuf], folder: &Path) -> Result<Vec<(String, PathBuf)>> {
    let version = format!("-{}", env!("CARGO_PKG_VERSION"));
    let mut packages = Vec::new();
    for archive in archives {
        output(
            Command::new("tar")
                .arg("-xzf")
                .arg(archive)
                .arg("-C")
                .arg(folder),
        )?;
        let stem = archive.file_stem().unwrap_or_default().to_string_lossy();
        let name = stem
            .strip_suffix(&version)
            .ok_or_else(|| format!("{} is of another version", archive.display()))?;
        packages.push((name.to_owned(), folder.join(&*stem)));
    }
    Ok(packages)
}

/// A crate that depends on the packages.
struct Stranger {
    folder: PathBuf,
    target: PathBuf,
}

impl Stranger {
    fn new(elsewhere: &TempDir, packages: &[(String, PathBuf)], target: &Path) -> Result<Self> {
        let folder = elsewhere.path().join("stranger");
        fs::create_dir_all(folder.join("src"))?;
        fs::write(folder.join("src/main.rs"), PROGRAM)?;
        fs::write(folder.join("Cargo.toml"), manifest(packages)?)?;
        // Builds of packages in another temporary folder cannot be reused.
        if target.exists() {
            fs::remove_dir_all(target)?;
        }
        // Uses the lock file's versions, so nothing is downloaded.
        fs::copy(
            workspace_root().join("Cargo.lock"),
            folder.join("Cargo.lock"),
        )?;
        Ok(Self {
            folder,
            target: target.to_owned(),
        })
    }

    fn cargo(&self, arguments: &[&str]) -> Command {
        let mut command = cargo(&self.folder);
        command
            .args(arguments)
            .arg("--offline")
            .env("CARGO_TARGET_DIR", &self.target);
        command
    }

    /// The program's crates, itself included, without those of build scripts and tests.
    fn crates(&self) -> Result<BTreeSet<String>> {
        let arguments = ["tree", "--edges=normal", "--prefix=none", "--no-dedupe"];
        let output = output(&mut self.cargo(&arguments))?;
        let lines = String::from_utf8(output.stdout)?;
        Ok(lines.lines().map(str::to_owned).collect())
    }

    fn succeed(&self, arguments: &[&str]) -> Result {
        output(&mut self.cargo(arguments))?;
        Ok(())
    }

    fn fail_with(&self, arguments: &[&str], sentence: &str) -> Result {
        let output = self.cargo(arguments).output()?;
        let stderr = String::from_utf8_lossy(&output.stderr);
        if output.status.success() {
            return Err("the packages compile with other kernels than their PTX's".into());
        }
        if !stderr.contains(sentence) {
            return Err(format!("`{sentence}` is missing in:\n{stderr}").into());
        }
        Ok(())
    }
}

fn manifest(packages: &[(String, PathBuf)]) -> Result<String> {
    let mut text = format!(
        "[package]\nname = \"stranger\"\nversion = \"1.0.0\"\nedition = \"2024\"\n\n\
         [dependencies]\ntilewright = \"{version}\"\n\
         tilewright-report = {{ version = \"{version}\", optional = true }}\n\n\
         [features]\nreport = [\"dep:tilewright-report\"]\n\n\
         [patch.crates-io]\n",
        version = env!("CARGO_PKG_VERSION")
    );
    for (name, folder) in packages {
        writeln!(text, "{name} = {{ path = {folder:?} }}")?;
    }
    Ok(text)
}

/// Swaps the two parameters. The host's code still compiles, but with the old PTX a sum would
/// overwrite its workspace.
fn swap_parameters(packages: &[(String, PathBuf)]) -> Result {
    let (_, kernels) = packages
        .iter()
        .find(|(name, _)| name == "tilewright-kernels")
        .ok_or("there is no package tilewright-kernels")?;
    let path = kernels.join(VECTOR_KERNELS);
    let source = fs::read_to_string(&path)?;
    if !has_parameters_to_swap(&source) {
        return Err(format!("{} no longer has the parameters to swap", path.display()).into());
    }
    let [first, second] = SWAPPED;
    let swapped = source
        .replace(first, "\0")
        .replace(second, first)
        .replace('\0', second);
    Ok(fs::write(path, swapped)?)
}

fn has_parameters_to_swap(source: &str) -> bool {
    SWAPPED.iter().all(|it| source.matches(it).count() == 1)
}

fn cargo(folder: &Path) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(folder);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_of_vectors_have_the_parameters_to_swap() {
        let path = workspace_root().join("kernels").join(VECTOR_KERNELS);
        assert!(has_parameters_to_swap(&fs::read_to_string(path).unwrap()));
    }
}
