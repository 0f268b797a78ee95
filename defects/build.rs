//! With the feature `cuda`, builds the kernels' PTX, one module each.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    #[cfg(feature = "cuda")]
    cuda::build();
}

#[cfg(feature = "cuda")]
mod cuda {
    use cuda_builder::{Arch, CudaBuilder};
    use std::path::PathBuf;
    use std::{env, fs};

    /// Writes `images.rs` to `OUT_DIR`, with a constant for each kernel.
    pub fn build() {
        let output = PathBuf::from(env::var("OUT_DIR").expect("cargo names a folder for output"));
        let build = CudaBuilder::new("kernels")
            .arch(Arch::Sm90a)
            .one_module_per_kernel()
            .build_or_exit();
        fs::copy(build.rust_file, output.join("images.rs")).expect("OUT_DIR can be written");
    }
}
