//! Finds the PTX of the kernels: compiled from `kernels/` where a device toolchain is there,
//! otherwise the checked-in `ptx/`. Without the feature `cuda` there is nothing to do.

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

    /// Writes `images.rs` to `OUT_DIR`: an array of (architecture, PTX).
    pub fn write_images() -> Result<(), Box<dyn Error>> {
        let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
        let images = PathBuf::from(env::var("OUT_DIR")?).join("images.rs");
        let expression = match build_from_sources(&root)? {
            Some(expression) => expression,
            None => checked_in::rust_expression(&root.join("ptx"))?,
        };
        fs::write(images, expression)?;
        Ok(())
    }

    /// The images built here, or `None` where the checked-in ones are to be used: there are no
    /// sources (in a published package), or no device toolchain and the checked-in ones fit.
    fn build_from_sources(root: &Path) -> Result<Option<String>, Box<dyn Error>> {
        println!("cargo:rerun-if-changed={}", root.join("ptx").display());
        if !root.join("kernels/Cargo.toml").exists() {
            return Ok(None);
        }
        let built = CudaBuilder::new(root.join("kernels"))
            .arch(Arch::Sm75)
            .arch(Arch::Sm80)
            .build();
        match built {
            Ok(build) => Ok(Some(fs::read_to_string(build.rust_file)?)),
            Err(error) if error.is_missing_toolchain() => {
                checked_in::verify(&root.join("ptx"), root)
                    .map_err(|stale| format!("{stale}\n{error}"))?;
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }
}
