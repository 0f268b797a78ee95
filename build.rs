//! Finds the PTX of the kernels: the checked-in `ptx/` where it was compiled from the sources that
//! are here, as in every published package; otherwise the kernels are compiled.
//!
//! A package has no sources of kernels to compare with. The library does it when it is compiled:
//! `host/kernels.rs` holds what is written here against the crates that it is compiled with.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    #[cfg(feature = "cuda")]
    if let Err(error) = cuda::write_images() {
        let remedy = "in the repository `cargo xtask ptx` builds the PTX again";
        cuda_builder::exit_with_error(&format!("{error}\n{remedy}"));
    }
}

#[cfg(feature = "cuda")]
mod cuda {
    use cuda_builder::{Arch, CudaBuilder, checked_in};
    use std::error::Error;
    use std::path::PathBuf;
    use std::{env, fs};

    /// Writes two files for the library to include: a constant for each kernel with an array of
    /// (architecture, PTX), and an array of (source, hash of the source that the PTX was compiled
    /// from).
    pub fn write_images() -> Result<(), Box<dyn Error>> {
        let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
        let output = PathBuf::from(env::var("OUT_DIR")?);
        let builder = CudaBuilder::new("kernels")
            .arch(Arch::Sm75)
            .arch(Arch::Sm80)
            .arch_where_stated(Arch::Sm90a)
            .one_module_per_kernel();
        let images = checked_in::images(&builder, &root.join("ptx"), &root)?;
        fs::write(output.join("images.rs"), images.modules)?;
        fs::write(output.join("sources.rs"), images.sources)?;
        Ok(())
    }
}
