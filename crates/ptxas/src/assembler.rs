//! The program `ptxas`.

use crate::Result;
use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The variable that names the program.
const VARIABLE: &str = "PTXAS";

/// An installed `ptxas`.
#[derive(Clone, Debug)]
pub struct Assembler {
    path: PathBuf,
}

impl Assembler {
    /// The program that the variable `PTXAS` names; none where the variable is not set.
    ///
    /// # Errors
    /// The variable names no file.
    pub fn named() -> Result<Option<Self>> {
        let Some(path) = env::var_os(VARIABLE).map(PathBuf::from) else {
            return Ok(None);
        };
        match path.is_file() {
            true => Ok(Some(Self { path })),
            false => Err(format!(
                "{VARIABLE} names {}, which is no file",
                path.display()
            )),
        }
    }

    /// The program that the variable `PTXAS` names, or that of the `PATH`, or that which CUDA
    /// installs.
    ///
    /// # Errors
    /// There is none.
    pub fn find() -> Result<Self> {
        if let Some(named) = Self::named()? {
            return Ok(named);
        }
        let search = env::var_os("PATH").unwrap_or_default();
        let on_path = env::split_paths(&search).map(|folder| folder.join("ptxas"));
        let installed = PathBuf::from("/usr/local/cuda/bin/ptxas");
        let path = on_path.chain([installed]).find(|path| path.is_file());
        path.map(|path| Self { path }).ok_or_else(|| {
            "ptxas was not found in the variable PTXAS, the PATH or /usr/local/cuda/bin; it comes \
             with the CUDA toolkit and with the Python package nvidia-cuda-nvcc"
                .to_owned()
        })
    }

    /// A program that lies beside it, such as `nvdisasm`; none where it is not there.
    #[must_use]
    pub fn sibling(&self, name: &str) -> Option<PathBuf> {
        Some(self.path.with_file_name(name)).filter(|path| path.is_file())
    }

    /// Its version, such as `13.0.88`.
    ///
    /// # Errors
    /// The program fails, or prints no version.
    pub fn version(&self) -> Result<String> {
        let printed = output(Command::new(&self.path).arg("--version"))?.stdout;
        let printed = String::from_utf8_lossy(&printed);
        let version = version_in(&printed);
        version.ok_or_else(|| format!("{}: no version", self.path.display()))
    }

    /// Assembles a module for a GPU such as `sm_90`, into the file `machine_code` if there is one,
    /// and returns what `ptxas --verbose` prints.
    ///
    /// # Errors
    /// The module cannot be assembled.
    pub fn assemble(
        &self,
        module: &Path,
        gpu: &str,
        machine_code: Option<&Path>,
    ) -> Result<String> {
        let nowhere = Path::new(if cfg!(windows) { "NUL" } else { "/dev/null" });
        let mut command = Command::new(&self.path);
        command
            .arg("--verbose")
            .arg(format!("--gpu-name={gpu}"))
            .arg(module)
            .arg("--output-file")
            .arg(machine_code.unwrap_or(nowhere));
        let log = output(&mut command)?.stderr;
        Ok(String::from_utf8_lossy(&log).into_owned())
    }
}

/// What a program printed.
///
/// # Errors
/// The program cannot be started or fails; the error has what it printed.
pub fn output(command: &mut Command) -> Result<Output> {
    let output = command
        .output()
        .map_err(|error| format!("{command:?}: {error}"))?;
    if output.status.success() {
        return Ok(output);
    }
    let log = String::from_utf8_lossy(&output.stderr);
    Err(format!("{command:?} fails:\n{log}"))
}

/// The version in `Cuda compilation tools, release 13.0, V13.0.88`.
fn version_in(printed: &str) -> Option<String> {
    let (_, version) = printed.split_once(", V")?;
    Some(version.split_whitespace().next()?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::version_in;

    #[test]
    fn the_version_is_read() {
        let printed = "ptxas: NVIDIA (R) Ptx optimizing assembler\n\
                       Cuda compilation tools, release 13.0, V13.0.88\nBuild cuda_13.0\n";
        assert_eq!(version_in(printed).as_deref(), Some("13.0.88"));
        assert_eq!(version_in("ptxas"), None);
    }
}
