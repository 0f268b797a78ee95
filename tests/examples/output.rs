//! Output that fails: files stay whole, and programs end with a code.

#![cfg(unix)]

use crate::common::programs::{broken_output, run_limited};
use crate::harness::Header;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use tempfile::TempDir;

/// Rows and columns of the factors: their product does not fit into a file of 512 bytes.
const SIZE: usize = 32;

fn folder_of_factors() -> TempDir {
    let folder = TempDir::new().unwrap();
    let shape = format!("({SIZE}, {SIZE})");
    let ones = vec![1.0_f32.to_le_bytes(); SIZE * SIZE];
    Header::new("'<f4'", &shape).write(folder.path(), "a.npy", ones);
    folder
}

/// The arguments of `matmul` that write the square of the factor.
fn product_to(file: &str) -> [&str; 6] {
    ["a.npy", "a.npy", "-o", file, "--device", "sim"]
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_full_disk_leaves_the_old_file_whole() {
    let folder = folder_of_factors();
    fs::write(folder.path().join("c.npy"), "years of work").unwrap();
    // With the signal ignored, a file that is too large is an error of `write`, as a full disk is.
    let limits = "trap '' XFSZ; ulimit -f 1";
    let output = run_limited(limits, folder.path(), "matmul", &product_to("c.npy"));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("c.npy cannot be written"), "{stderr}");
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
    let old = fs::read_to_string(folder.path().join("c.npy")).unwrap();
    assert_eq!(old, "years of work");
    assert_eq!(names(folder.path()), ["a.npy", "c.npy"]);
}

#[test]
fn a_program_killed_while_it_writes_leaves_the_old_file_whole() {
    let folder = folder_of_factors();
    fs::write(folder.path().join("c.npy"), "years of work").unwrap();
    // The signal of the limit kills it in the middle of the file.
    let limits = "ulimit -c 0; ulimit -f 1";
    let output = run_limited(limits, folder.path(), "matmul", &product_to("c.npy"));
    assert!(output.status.signal().is_some(), "{:?}", output.status);
    let old = fs::read_to_string(folder.path().join("c.npy")).unwrap();
    assert_eq!(old, "years of work");
}

#[test]
fn a_replaced_file_keeps_its_permissions_and_its_links() {
    let folder = folder_of_factors();
    let path = |name: &str| folder.path().join(name);
    let mode = |name: &str| path(name).metadata().unwrap().permissions().mode() & 0o777;
    fs::write(path("private.npy"), "").unwrap();
    fs::set_permissions(path("private.npy"), fs::Permissions::from_mode(0o600)).unwrap();
    symlink("private.npy", path("link.npy")).unwrap();
    for product in ["link.npy", "new.npy"] {
        let output = run_limited("umask 022", folder.path(), "matmul", &product_to(product));
        assert!(output.status.success());
    }
    assert!(path("link.npy").is_symlink());
    assert!(path("private.npy").metadata().unwrap().len() > 512);
    assert_eq!(mode("private.npy"), 0o600);
    assert_eq!(mode("new.npy"), 0o644);
}

#[test]
fn a_device_is_written_and_stays_one() {
    let folder = folder_of_factors();
    let output = run_limited(":", folder.path(), "matmul", &product_to("/dev/null"));
    assert!(output.status.success());
    assert!(!Path::new("/dev/null").metadata().unwrap().is_file());
    let output = run_limited(":", folder.path(), "matmul", &product_to("/dev/full"));
    assert_eq!(output.status.code(), Some(1));
}

/// The programs with their arguments: something to compute, and the help.
const RUNS: [(&str, &str); 4] = [
    ("sum", "a.npy --device sim"),
    ("sum", "--help"),
    ("matmul", "a.npy a.npy -o c.npy --device sim"),
    ("matmul", "--help"),
];

#[test]
fn a_closed_standard_output_ends_the_programs_quietly() {
    broken_output::closed_ends_quietly(folder_of_factors().path(), &RUNS);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_standard_output_ends_the_programs_with_one_line() {
    broken_output::full_ends_with_one_line(folder_of_factors().path(), &RUNS);
}
