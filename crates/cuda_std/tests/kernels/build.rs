//! With the feature `cuda`, builds this crate's own kernels for the GPU if there is one or the PTX is requested. The
//! build takes longer than the simulator tests of these kernels.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    #[cfg(feature = "cuda")]
    cuda::build();
}

#[cfg(feature = "cuda")]
mod cuda {
    use cuda_builder::{Arch, CudaBuilder};
    use std::path::{Path, PathBuf};
    use std::{env, fs, process};

    /// The variable that requests the PTX.
    const VARIABLE: &str = "TILEWRIGHT_TEST_PTX";

    /// The device file of the Linux driver. Without it, there is no GPU to test on.
    const DRIVER: &str = "/dev/nvidiactl";

    /// Writes `images.rs` to `OUT_DIR`: an array of (architecture, PTX), which is empty if no test needs it or the
    /// device toolchain is missing.
    pub fn build() {
        let crate_folder = env::var("CARGO_MANIFEST_DIR").expect("cargo names the crate's folder");
        let images = PathBuf::from(env::var("OUT_DIR").expect("cargo names a folder for output"))
            .join("images.rs");
        println!("cargo::rerun-if-env-changed={VARIABLE}");
        if env::var_os(VARIABLE).is_none() && !Path::new(DRIVER).exists() {
            return fs::write(images, "&[]").expect("OUT_DIR can be written");
        }
        let built = CudaBuilder::new(crate_folder)
            .arch(Arch::Sm75)
            .arch(Arch::Sm80)
            .arch(Arch::Sm90a)
            .panic_locations(true)
            .build();
        match built {
            Ok(build) => copy(&build.rust_file, &images),
            Err(error) if error.is_missing_toolchain() => {
                println!(
                    "cargo::warning=cuda_std is not tested on the GPU: {}",
                    one_line(&error)
                );
                fs::write(images, "&[]").expect("OUT_DIR can be written");
            }
            Err(error) => {
                eprintln!("error: {error}");
                process::exit(1);
            }
        }
    }

    fn copy(from: &Path, to: &Path) {
        fs::copy(from, to).expect("OUT_DIR can be written");
    }

    fn one_line(error: &cuda_builder::BuildError) -> String {
        error.to_string().replace('\n', " ")
    }
}
