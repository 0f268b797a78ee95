//! Finds the PTX of the kernels: the checked-in `ptx/` where it was compiled from the sources that
//! are here, as in every published package; otherwise the kernels are compiled.
//!
//! A package has no sources of kernels to compare with. The library does it when it is compiled:
//! `host/kernels.rs` holds what is written here against the crates that it is compiled with.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    #[cfg(feature = "cuda")]
    if let Err(error) = cuda::write_images() {
        // One clear message instead of a panic's.
        println!(
            "cargo:warning=tilewright: {}",
            error.to_string().replace('\n', " ")
        );
        eprintln!("error: {error}");
        std::process::exit(1);
    }
}

#[cfg(feature = "cuda")]
mod cuda {
    use cuda_builder::{Arch, CudaBuilder, checked_in};
    use std::error::Error;
    use std::path::{Path, PathBuf};
    use std::{env, fs};

    /// Writes two files for the library to include: a constant for each kernel with an array of
    /// (architecture, PTX), and an array of (source, hash of the source that the PTX was compiled
    /// from).
    pub fn write_images() -> Result<(), Box<dyn Error>> {
        let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
        let output = PathBuf::from(env::var("OUT_DIR")?);
        let (images, sources) = images_and_sources(&root)?;
        fs::write(output.join("images.rs"), images)?;
        fs::write(output.join("sources.rs"), sources)?;
        Ok(())
    }

    fn images_and_sources(root: &Path) -> Result<(String, String), Box<dyn Error>> {
        let ptx = &root.join("ptx");
        println!("cargo:rerun-if-changed={}", ptx.display());
        let checked_in = || -> Result<_, Box<dyn Error>> {
            let images = checked_in::rust_constants(ptx)?;
            Ok((images, checked_in::sources_expression(ptx)?))
        };
        let kernels = root.join("kernels");
        let is_published_package = !kernels.join("Cargo.toml").exists();
        if is_published_package {
            return checked_in();
        }
        for source in checked_in::sources(ptx)? {
            println!("cargo:rerun-if-changed={}", root.join(source).display());
        }
        println!(
            "cargo:rerun-if-changed={}",
            root.join("Cargo.lock").display()
        );
        let Err(stale) = checked_in::verify(ptx, root) else {
            return checked_in();
        };
        let build = CudaBuilder::new(kernels)
            .arch(Arch::Sm75)
            .arch(Arch::Sm80)
            .one_module_per_kernel()
            .build();
        match build {
            Ok(build) => Ok((
                fs::read_to_string(build.rust_file)?,
                checked_in::current_sources_expression(ptx, root)?,
            )),
            Err(error) if error.is_missing_toolchain() => Err(format!("{stale}\n{error}").into()),
            Err(error) => Err(error.into()),
        }
    }
}
