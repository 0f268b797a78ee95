//! Parameters whose types differ between the host and the GPU: the entry's compilation refuses what the host could
//! give no value of.

mod common;

use common::{core_dir, has_toolchain};
use cuda_builder::{Arch, BuildError, CudaBuilder};
use std::fs;
use std::path::Path;

const LIBRARY: &str = "\
#![no_std]
use cuda_std::prelude::*;

#[cfg(target_arch = \"nvptx64\")]
#[allow(non_camel_case_types)]
type u64 = &'static core::sync::atomic::AtomicU32;

/// On the host, where the macro looks, a number.
#[kernel]
pub fn store(address: u64) {
    #[cfg(target_arch = \"nvptx64\")]
    address.store(1, core::sync::atomic::Ordering::Relaxed);
    #[cfg(not(target_arch = \"nvptx64\"))]
    let _ = address;
}

#[derive(Clone, Copy, bytemuck::NoUninit)]
#[repr(C)]
pub struct Switch {
    #[cfg(target_arch = \"nvptx64\")]
    on: bool,
    #[cfg(not(target_arch = \"nvptx64\"))]
    on: u8,
}
#[cfg(not(target_arch = \"nvptx64\"))]
// SAFETY: it is a number.
unsafe impl bytemuck::Zeroable for Switch {}
#[cfg(not(target_arch = \"nvptx64\"))]
// SAFETY: it is a number.
unsafe impl bytemuck::AnyBitPattern for Switch {}

/// On the host, any byte.
#[kernel]
pub fn switch(switch: Switch, y: GlobalMut<u32>) {
    if let Some(y) = y.own(thread::unique_index()) {
        y.set(switch.on as u32);
    }
}
";

#[test]
#[ignore = "slow: cargo test -- --ignored"]
fn an_entry_takes_no_type_that_the_host_cannot_give() {
    if !has_toolchain() {
        return;
    }
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let package = Path::new(env!("CARGO_TARGET_TMPDIR")).join("aliases");
    let manifest = format!(
        "[package]\nname = \"aliases\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
         [dependencies]\nbytemuck = {{ version = \"1\", default-features = false, features = [\"derive\"] }}\n\
         tilewright-cuda-std = {{ path = {:?} }}\n",
        crates.join("cuda_std")
    );
    fs::create_dir_all(package.join("src")).unwrap();
    fs::write(package.join("Cargo.toml"), manifest).unwrap();
    fs::write(package.join("src/lib.rs"), LIBRARY).unwrap();
    // The versions that this workspace has, so that nothing is downloaded.
    fs::copy(crates.join("../Cargo.lock"), package.join("Cargo.lock")).unwrap();
    let builder = CudaBuilder::new(&package)
        .target_dir(package.join("out"))
        .core_dir(core_dir());
    let error = builder.arch(Arch::Sm80).build().unwrap_err();
    assert!(matches!(error, BuildError::CompileFailed { .. }), "{error}");
    let text = error.to_string();
    for expected in [
        "error[E0277]: `&'static ",
        "is not a scalar",
        "`Switch` cannot be a kernel parameter: not all bytes are valid values of it",
    ] {
        assert!(
            text.contains(expected),
            "`{expected}` is missing in:\n{text}"
        );
    }
}
