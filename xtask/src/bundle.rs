//! `cargo xtask bundle`: tests, benchmarks and examples as programs, in a folder that runs on a
//! GPU machine without Rust.

use crate::workspace::{Result, workspace_root};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

const RUN_SCRIPT: &str = include_str!("bundle/run.sh");

/// The script's name, which identifies a folder as a bundle.
const RUN_SCRIPT_NAME: &str = "run.sh";

/// Tests that cannot run without Rust, and why.
const LEFT_OUT: [(&str, &str); 3] = [
    ("tilewright.compile_fail", "it needs cargo and the sources"),
    ("tilewright.ptx", "it reads the checked-in PTX"),
    (
        "tilewright-cuda-std-macros.cuda_std_macros.unit",
        "it needs the compiler's own libraries",
    ),
];

/// Builds optimised and small programs with default features, since the folder is copied to other
/// machines. The profile's name is also its folder below target/, so it must not be `bundle`.
const CARGO_ARGUMENTS: [&str; 7] = [
    "build",
    "--profile=portable",
    "--config=profile.portable.inherits='release'",
    "--config=profile.portable.strip=true",
    "--config=profile.portable.debug=false",
    "--config=profile.portable.lto='off'",
    "--message-format=json-render-diagnostics",
];

/// The targets of all programs, or of the benchmarks.
const EVERYTHING: &[&str] = &["--workspace", "--all-targets"];
const BENCHES: &[&str] = &["--package=tilewright-benches", "--benches"];

/// The bundle's folder for the benchmarks' C++ rivals, and its environment variable.
const RIVALS: &str = "rivals";
const RIVALS_VARIABLE: &str = "TILEWRIGHT_RIVALS";

/// Runs the command with the rest of its arguments.
pub fn run(mut arguments: lexopt::Parser) -> Result {
    use lexopt::Arg::{Long, Value};
    use lexopt::ValueExt as _;
    let (mut folder, mut architecture, mut targets) = (None, None, EVERYTHING);
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("benches") => targets = BENCHES,
            Long("rivals") => architecture = Some(arguments.value()?.string()?),
            Value(path) if folder.is_none() => folder = Some(PathBuf::from(path)),
            argument => return Err(argument.unexpected().into()),
        }
    }
    let folder = folder.unwrap_or_else(|| target_folder().join("bundle"));
    let programs = build(targets)?;
    empty(&folder)?;
    for program in &programs {
        program.copy_into(&folder)?;
    }
    for package in programs
        .iter()
        .map(|program| &program.package)
        .collect::<BTreeSet<_>>()
    {
        package.copy_fixtures(&folder)?;
    }
    write_scripts(&folder)?;
    if let Some(architecture) = architecture {
        compile_rivals(&folder, &architecture)?;
    }
    println!(
        "{}: {} programs, {:.1} MB",
        folder.display(),
        programs.len(),
        megabytes(&folder)?
    );
    println!(
        "There: ./{RUN_SCRIPT_NAME} test | bench | compare | products | groups | calls | sanitize"
    );
    Ok(())
}

/// A package of the workspace.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Package {
    name: String,
    folder: PathBuf,
}

/// A program that cargo built.
#[derive(Debug)]
struct Program {
    package: Package,
    /// The bundle's folder for this kind: `tests`, `benches`, `examples` or `programs`.
    kind: &'static str,
    name: String,
    executable: PathBuf,
}

impl Program {
    /// The program in one of cargo's messages, if it belongs in the bundle.
    fn of_message(message: &Value) -> Option<Self> {
        if message["reason"] != "compiler-artifact" {
            return None;
        }
        let executable = PathBuf::from(message["executable"].as_str()?);
        let folder = Path::new(message["manifest_path"].as_str()?)
            .parent()?
            .to_owned();
        let package = Package {
            name: package_name(message["package_id"].as_str()?, &folder)?,
            folder,
        };
        let target = message["target"]["name"].as_str()?;
        let is_test = message["profile"]["test"] == true;
        let (kind, name) = match message["target"]["kind"][0].as_str()? {
            "bench" => ("benches", target.to_owned()),
            "example" if !is_test => ("examples", target.to_owned()),
            "bin" if !is_test => ("programs", target.to_owned()),
            "test" => ("tests", format!("{}.{target}", package.name)),
            _ if is_test => ("tests", format!("{}.{target}.unit", package.name)),
            _ => return None,
        };
        Some(Self {
            package,
            kind,
            name,
            executable,
        })
    }

    fn is_left_out(&self) -> bool {
        self.kind == "tests" && LEFT_OUT.iter().any(|(name, _)| *name == self.name)
    }

    fn copy_into(&self, folder: &Path) -> Result {
        let folder = folder.join(self.kind);
        fs::create_dir_all(&folder)?;
        fs::copy(&self.executable, folder.join(&self.name))?;
        Ok(())
    }
}

impl Package {
    /// Copies the files that its tests may read to the folder in which the script runs them.
    fn copy_fixtures(&self, folder: &Path) -> Result {
        let destination = folder.join("packages").join(&self.name);
        fs::create_dir_all(&destination)?;
        let tests = self.folder.join("tests");
        if tests.is_dir() {
            copy_data(&tests, &destination.join("tests"))?;
        }
        Ok(())
    }
}

/// The name in a package id, such as `path+file:///home/me/crate#name@0.1.0`. If the folder has the
/// package's name, the id omits it.
fn package_name(id: &str, folder: &Path) -> Option<String> {
    let (_, fragment) = id.rsplit_once('#')?;
    match fragment.split_once('@') {
        Some((name, _)) => Some(name.to_owned()),
        None => Some(folder.file_name()?.to_str()?.to_owned()),
    }
}

/// Compiles the benchmarks' C++ rivals, so that the GPU machine needs neither nvcc nor newer headers.
fn compile_rivals(folder: &Path, architecture: &str) -> Result {
    let status = Command::new(folder.join("benches/compare"))
        .args(["--compile-rivals", architecture])
        .env(RIVALS_VARIABLE, folder.join(RIVALS))
        .status()?;
    match status.success() {
        true => Ok(()),
        false => Err("the rivals do not compile".into()),
    }
}

/// Builds the targets, and finds the programs among cargo's messages.
fn build(targets: &[&str]) -> Result<Vec<Program>> {
    let output = cargo()
        .args(CARGO_ARGUMENTS)
        .args(targets)
        .env("TILEWRIGHT_TEST_PTX", "1")
        .current_dir(workspace_root())
        .stderr(Stdio::inherit())
        .output()?;
    if !output.status.success() {
        return Err("the build failed".into());
    }
    let mut programs = Vec::new();
    for line in String::from_utf8(output.stdout)?.lines() {
        // Output of build scripts or linkers may be between the messages.
        let message: Value = serde_json::from_str(line).unwrap_or_default();
        programs.extend(Program::of_message(&message));
    }
    programs.retain(|program| !program.is_left_out());
    Ok(programs)
}

fn cargo() -> Command {
    Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

fn target_folder() -> PathBuf {
    let named = env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    named.unwrap_or_else(|| workspace_root().join("target"))
}

/// Creates the folder, or empties it if it holds an earlier bundle. Nothing else is deleted.
fn empty(folder: &Path) -> Result {
    let is_free = !folder.exists() || fs::read_dir(folder)?.next().is_none();
    if !is_free && !folder.join(RUN_SCRIPT_NAME).is_file() {
        let folder = folder.display();
        return Err(format!("{folder} is not empty, and not a bundle: name another folder").into());
    }
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)?;
    Ok(())
}

/// Copies a folder without its Rust sources.
fn copy_data(from: &Path, to: &Path) -> Result {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (source, destination) = (entry.path(), to.join(entry.file_name()));
        if entry.file_type()?.is_dir() {
            copy_data(&source, &destination)?;
        } else if source.extension().is_none_or(|extension| extension != "rs") {
            fs::create_dir_all(to)?;
            fs::copy(&source, &destination)?;
        }
    }
    Ok(())
}

fn write_scripts(folder: &Path) -> Result {
    let script = folder.join(RUN_SCRIPT_NAME);
    fs::write(&script, RUN_SCRIPT)?;
    make_executable(&script)?;
    let left_out = LEFT_OUT.map(|(name, reason)| format!("{name}: {reason}\n"));
    fs::write(folder.join("left-out"), left_out.concat())?;
    fs::write(folder.join("commit"), commit().unwrap_or_default())?;
    Ok(())
}

#[cfg(unix)]
fn make_executable(path: &Path) -> Result {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))?;
    Ok(())
}

#[cfg(not(unix))]
fn make_executable(_path: &Path) -> Result {
    Ok(())
}

/// The built commit, marked if files differ from it; `None` if git fails.
fn commit() -> Option<String> {
    let git = Command::new("git")
        .args([
            "describe",
            "--always",
            "--dirty",
            "--abbrev=12",
            "--exclude=*",
        ])
        .current_dir(workspace_root())
        .output()
        .ok()?;
    git.status
        .success()
        .then(|| String::from_utf8_lossy(&git.stdout).into_owned())
}

fn megabytes(folder: &Path) -> Result<f64> {
    Ok(bytes(folder)? as f64 * 1e-6)
}

fn bytes(path: &Path) -> Result<u64> {
    if !path.is_dir() {
        return Ok(path.metadata()?.len());
    }
    let mut total = 0;
    for entry in fs::read_dir(path)? {
        total += bytes(&entry?.path())?;
    }
    Ok(total)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn program(kind: &str, is_test: bool, id: &str) -> Option<Program> {
        Program::of_message(&json!({
            "reason": "compiler-artifact",
            "package_id": id,
            "manifest_path": "/w/crates/simt/Cargo.toml",
            "target": {"name": "memory", "kind": [kind]},
            "profile": {"test": is_test},
            "executable": "/w/target/portable/deps/memory-0123",
        }))
    }

    #[test]
    fn programs_are_sorted_by_kind() {
        let named = |kind, is_test| {
            let program = program(
                kind,
                is_test,
                "path+file:///w/crates/simt#tilewright-simt@0.1.0",
            );
            program.map(|program| format!("{}/{}", program.kind, program.name))
        };
        assert_eq!(named("test", true).unwrap(), "tests/tilewright-simt.memory");
        assert_eq!(
            named("lib", true).unwrap(),
            "tests/tilewright-simt.memory.unit"
        );
        assert_eq!(named("bench", true).unwrap(), "benches/memory");
        assert_eq!(named("example", false).unwrap(), "examples/memory");
        assert_eq!(named("bin", false).unwrap(), "programs/memory");
    }

    #[test]
    fn packages_are_named_after_their_folder_where_the_id_has_no_name() {
        let program = program("test", true, "path+file:///w/crates/simt#0.1.0").unwrap();
        assert_eq!(program.package.name, "simt");
        assert_eq!(program.package.folder, Path::new("/w/crates/simt"));
    }

    #[test]
    fn a_folder_of_something_else_is_not_emptied() {
        let folder = env::temp_dir().join(format!("bundle-test-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("thesis.txt"), "years of work").unwrap();
        assert!(empty(&folder).is_err());
        fs::write(folder.join(RUN_SCRIPT_NAME), "").unwrap();
        assert!(empty(&folder).is_ok());
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
        fs::remove_dir(&folder).unwrap();
    }
}
