//! Finds the PTX of the kernels: compiled from `kernels/` and `kernels/ladder/` where a device
//! toolchain is there, otherwise the checked-in `ptx/`. Without the feature `cuda` there is nothing to do.

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

    /// The kernel crates, each with its folder, the folder of its checked-in PTX, and the file in
    /// `OUT_DIR` that the library includes.
    const CRATES: [(&str, &str, &str); 2] = [
        ("kernels", "ptx", "images.rs"),
        ("kernels/ladder", "ptx/ladder", "ladder_images.rs"),
    ];

    /// Writes a file for each kernel crate: an array of (architecture, PTX).
    pub fn write_images() -> Result<(), Box<dyn Error>> {
        let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
        let output = PathBuf::from(env::var("OUT_DIR")?);
        for (sources, ptx, images) in CRATES {
            let ptx = root.join(ptx);
            let expression = match build_from_sources(&root, sources, &ptx)? {
                Some(expression) => expression,
                None => checked_in::rust_expression(&ptx)?,
            };
            fs::write(output.join(images), expression)?;
        }
        Ok(())
    }

    /// The images built here, or `None` where the checked-in ones are to be used: there are no
    /// sources (in a published package), or no device toolchain and the checked-in ones fit.
    fn build_from_sources(
        root: &Path,
        sources: &str,
        ptx: &Path,
    ) -> Result<Option<String>, Box<dyn Error>> {
        println!("cargo:rerun-if-changed={}", ptx.display());
        let sources = root.join(sources);
        if !sources.join("Cargo.toml").exists() {
            return Ok(None);
        }
        let built = CudaBuilder::new(sources)
            .arch(Arch::Sm75)
            .arch(Arch::Sm80)
            .build();
        match built {
            Ok(build) => Ok(Some(fs::read_to_string(build.rust_file)?)),
            Err(error) if error.is_missing_toolchain() => {
                checked_in::verify(ptx, root).map_err(|stale| format!("{stale}\n{error}"))?;
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }
}
