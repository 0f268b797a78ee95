//! Programs as processes: what they print, how they fail, and what becomes of their files where
//! output fails.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A program, which cargo builds next to the tests: an example, or a binary of the package.
pub fn program(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let file = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    let folders = test.ancestors().skip(1).take(2);
    let places = folders.flat_map(|folder| [folder.join("examples"), folder.to_owned()]);
    let mut programs = places.map(|folder| folder.join(&file));
    programs
        .find(|program| program.exists())
        .unwrap_or_else(|| panic!("the program {name} is not built: cargo build --examples --bins"))
}

/// Runs a program in `folder`.
pub fn run(name: &str, folder: &Path, arguments: &[&str]) -> Output {
    Command::new(program(name))
        .args(arguments)
        .env_remove("TILEWRIGHT_DEVICE")
        .current_dir(folder)
        .output()
        .unwrap()
}

/// What a run that must succeed prints.
#[track_caller]
pub fn succeed(name: &str, folder: &Path, arguments: &[&str]) -> String {
    let output = run(name, folder, arguments);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{name} {arguments:?}: {stderr}");
    assert_eq!(stderr, "");
    String::from_utf8(output.stdout).unwrap()
}

/// Fails unless the run ends with exit code 1 and one line that has all `parts`.
#[track_caller]
pub fn fail(name: &str, folder: &Path, arguments: &[&str], parts: &[&str]) {
    assert_failed(&run(name, folder, arguments), parts);
}

/// Fails unless a run ended with exit code 1 and one line that has all `parts`.
#[track_caller]
pub fn assert_failed(output: &Output, parts: &[&str]) {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{}: {stderr}", output.status);
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
    assert!(stderr.starts_with("error: "), "{stderr}");
    for part in parts {
        assert!(stderr.contains(part), "{part} is missing in: {stderr}");
    }
    assert_eq!(output.stdout, b"");
}

/// Runs a program behind a line of shell that sets limits.
#[cfg(unix)]
pub fn run_limited(limits: &str, folder: &Path, name: &str, arguments: &[&str]) -> Output {
    Command::new("sh")
        .args(["-c", &format!("{limits}; exec \"$@\""), "sh"])
        .arg(program(name))
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap()
}

/// A standard output that is gone or full.
#[cfg(unix)]
pub mod broken_output {
    use super::{Command, Path, program};
    use std::process::Stdio;

    /// What a program is run with: its name and its arguments, with spaces between.
    pub type Run<'a> = (&'a str, &'a str);

    /// Each run into a closed pipe ends with exit code 1 and not a word.
    pub fn closed_ends_quietly(folder: &Path, runs: &[Run<'_>]) {
        for run in runs {
            let (reader, writer) = std::io::pipe().unwrap();
            drop(reader);
            let failures = failures(folder, *run, writer.into());
            assert!(failures.is_empty(), "{run:?}: {failures:?}");
        }
    }

    /// Each run onto a full disk ends with exit code 1 and one line.
    #[cfg(target_os = "linux")]
    pub fn full_ends_with_one_line(folder: &Path, runs: &[Run<'_>]) {
        for run in runs {
            let full = std::fs::File::options()
                .write(true)
                .open("/dev/full")
                .unwrap();
            let failures = failures(folder, *run, full.into());
            let [failure] = &failures[..] else {
                panic!("{run:?}: {failures:?}");
            };
            let expected = "error: standard output cannot be written";
            assert!(failure.starts_with(expected), "{run:?}: {failure}");
        }
    }

    /// What the run writes to stderr.
    fn failures(folder: &Path, (name, arguments): Run<'_>, stdout: Stdio) -> Vec<String> {
        let output = Command::new(program(name))
            .args(arguments.split(' '))
            .current_dir(folder)
            .stdout(stdout)
            .output()
            .unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(
            output.status.code(),
            Some(1),
            "{name} {arguments}: {stderr}"
        );
        stderr.lines().map(str::to_owned).collect()
    }
}
