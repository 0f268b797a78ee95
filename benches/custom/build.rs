//! With the feature `custom`, compiles the crate `custom/kernels` to PTX.

fn main() {
    println!("cargo::rerun-if-changed=custom/build.rs");
    #[cfg(feature = "custom")]
    build_kernels();
}

/// Tells the benchmark where its PTX is: `env!("KERNEL_IMAGES")` is a file for `include!`.
#[cfg(feature = "custom")]
fn build_kernels() {
    use cuda_builder::{Arch, CudaBuilder};

    let build = CudaBuilder::new("custom/kernels")
        .arch(Arch::Sm80)
        .arch(Arch::Sm90a)
        .build_or_exit();
    println!(
        "cargo::rustc-env=KERNEL_IMAGES={}",
        build.rust_file.display()
    );
}
