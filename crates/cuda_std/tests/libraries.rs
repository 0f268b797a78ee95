//! What a library with kernels must not contain, and what the compiler says of it on a host. Unlike
//! the cases of `compile_fail.rs`, which are programs, these are libraries.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// Checks a library of its own with the files `(name, content)`.
fn check(name: &str, files: &[(&str, &str)]) -> Output {
    let cuda_std = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("libraries");
    let package = folder.join(name);
    let manifest = format!(
        "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
         [dependencies]\ntilewright-cuda-std = {{ path = {cuda_std:?} }}\n"
    );
    fs::create_dir_all(package.join("src")).unwrap();
    fs::write(package.join("Cargo.toml"), manifest).unwrap();
    // The versions that this workspace has, so that nothing is downloaded.
    fs::copy(
        cuda_std.join("../../Cargo.lock"),
        package.join("Cargo.lock"),
    )
    .unwrap();
    for (name, content) in files {
        fs::write(package.join("src").join(name), content).unwrap();
    }
    Command::new(env!("CARGO"))
        .args(["check", "--quiet", "--all-targets", "--color=never"])
        .current_dir(&package)
        .env("CARGO_TARGET_DIR", folder.join("target"))
        .output()
        .unwrap()
}

#[track_caller]
fn assert_refused(output: &Output, messages: &[&str]) {
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "{text}");
    for message in messages {
        assert!(text.contains(message), "`{message}` is missing in:\n{text}");
    }
}

const ROOT: &str = "\
#![no_std]
extern crate alloc;
mod helper;
use cuda_std::prelude::*;

#[kernel]
pub fn scale(y: GlobalMut<f32>) {
    println!(\"a thread\");
    if let Some(y) = y.own(thread::unique_index()) {
        y.set(helper::scaled(y.get()).exp());
    }
}

#[kernel]
pub fn count() {
    static mut LAUNCHES: u32 = 0;
}
";

const HELPER: &str = "\
pub static mut COUNT: u32 = 0;

pub fn scaled(x: f32) -> f32 {
    f32::powi(x, 2)
}
";

#[test]
#[ignore = "slow: cargo test -- --ignored"]
fn what_a_gpu_does_not_have_is_an_error_with_its_place() {
    let output = check("host_code", &[("lib.rs", ROOT), ("helper.rs", HELPER)]);
    assert_refused(
        &output,
        &[
            "error: this library does not compile for the GPU",
            "src/lib.rs:2:1: `extern crate alloc`: a GPU has no heap",
            "src/helper.rs:1:5: a `static mut` is one variable for all threads",
            "src/helper.rs:4:10: `powi` is a method of the standard library",
            "error: `println!`: a GPU has no output of its own: `gpu_println!` prints on both \
             machines\n --> src/lib.rs:8:5",
            "write `cuda_std::math::exp(x)`\n  --> src/lib.rs:10:39",
            "or `shared_array!` for the threads of a block\n  --> src/lib.rs:16:5",
        ],
    );
}

#[test]
#[ignore = "slow: cargo test -- --ignored"]
fn a_shared_array_of_generic_length_says_what_to_write() {
    let root = "\
#![no_std]
use cuda_std::prelude::*;

pub fn sum<const LEN: usize>() -> f32 {
    let tile = shared_array![f32; LEN];
    tile.len() as f32
}

#[kernel]
pub fn sum_256(y: GlobalMut<f32>) {
    if let Some(y) = y.own(thread::unique_index()) {
        y.set(sum::<256>());
    }
}
";
    let output = check("generic_length", &[("lib.rs", root)]);
    assert_refused(
        &output,
        &[
            "src/lib.rs:5:35: `shared_array!` with the generic `LEN`: shared memory is a static",
            "declare the array in each kernel, and pass it to this function as a parameter \
             `&SharedArray<..>`",
        ],
    );
}

#[test]
#[ignore = "slow: cargo test -- --ignored"]
fn a_library_with_kernels_is_no_std() {
    let root = "use cuda_std::prelude::*;\n\n#[kernel]\npub fn nothing() {}\n";
    let output = check("with_std", &[("lib.rs", root)]);
    assert_refused(
        &output,
        &["src/lib.rs:1:1", "write `#![no_std]` in its first line"],
    );
}

#[test]
#[ignore = "slow: cargo test -- --ignored"]
fn a_library_has_one_kernel_of_a_name() {
    let module = "{ use cuda_std::prelude::*; #[kernel] pub fn scale() {} }";
    let root = format!("#![no_std]\npub mod a {module}\npub mod b {module}\n");
    let output = check("one_name", &[("lib.rs", &root)]);
    let message =
        "error[E0428]: the name `__rename_one_kernel_scale_because_ptx_entries_have_no_paths`";
    assert_refused(&output, &[message]);
}

#[test]
#[ignore = "slow: cargo test -- --ignored"]
fn what_is_for_hosts_alone_may_use_the_standard_library() {
    let root = "\
#![no_std]
#[cfg(test)]
extern crate std;
use cuda_std::prelude::*;

struct Dual(f32);

impl Dual {
    fn exp(&self) -> f32 {
        self.0
    }
}

/// Stores a value.
#[kernel]
pub fn store(y: GlobalMut<f32>) {
    if let Some(y) = y.own(thread::unique_index()) {
        y.set(Dual(1.0).exp());
    }
}

#[cfg(test)]
mod tests {
    #[cuda_std::kernel]
    fn store() {}

    #[test]
    fn reference() {
        std::println!(\"{}\", 1.0_f32.exp());
        let _ = store;
    }
}
";
    let output = check("host_only", &[("lib.rs", root)]);
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.is_empty(), "{text}");
}
