//! With the feature `cuda`, compiles the crate `kernels` to PTX.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    #[cfg(feature = "cuda")]
    build_kernels();
}

/// Tells the crate where its PTX is: `env!("KERNEL_IMAGES")` is a file for `include!`.
#[cfg(feature = "cuda")]
fn build_kernels() {
    use cuda_builder::{Arch, CudaBuilder};

    let build = CudaBuilder::new("kernels")
        .arch(Arch::Sm75)
        .arch(Arch::Sm80)
        .arch_where_stated(Arch::Sm90a)
        .build_or_exit();
    println!(
        "cargo::rustc-env=KERNEL_IMAGES={}",
        build.rust_file.display()
    );
}
