//! Rivals in C++, compiled by nvcc when a benchmark starts, or in advance for a machine without nvcc.
//!
//! `TILEWRIGHT_RIVALS` is a folder for the libraries: `compare --compile-rivals sm_90` fills it, without a GPU.
//! `TILEWRIGHT_CCCL` is a folder with newer CCCL headers than nvcc's own, such as `nvidia/cu13/include/cccl` from
//! `pip install nvidia-cuda-cccl`.

use crate::common::Result;
use libloading::Library;
use std::env;
use std::ffi::{CStr, OsString, c_char, c_int, c_void};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::ptr;
use tempfile::TempDir;
use tilewright::Device;

/// The environment variable for the folder of CCCL's headers, which contains a folder `cub`.
pub const HEADERS: &str = "TILEWRIGHT_CCCL";

/// The environment variable for the folder of compiled libraries.
const LIBRARIES: &str = "TILEWRIGHT_RIVALS";

/// A source to compile into a library.
pub struct Source {
    /// Such as `cub-f32`.
    pub name: String,
    pub text: &'static str,
    /// Additional options for nvcc.
    pub options: Vec<String>,
}

impl Source {
    /// The library's file name for an architecture, such as `sm_90`. It depends on the source and the options.
    fn file_name(&self, architecture: &str) -> String {
        let mut hasher = DefaultHasher::new();
        (self.text, &self.options, architecture).hash(&mut hasher);
        format!("{}-{:016x}.so", self.name, hasher.finish())
    }
}

/// Compiles `sources` for an architecture into the folder `TILEWRIGHT_RIVALS`.
///
/// # Errors
/// The variable is not set, or the missing tool or library, in one line.
pub fn compile_for_later(sources: &[Source], architecture: &str) -> Result {
    let folder = env::var_os(LIBRARIES).map(PathBuf::from);
    let folder = folder.ok_or_else(|| format!("{LIBRARIES} names no folder"))?;
    std::fs::create_dir_all(&folder)?;
    for library in compile(sources, architecture, &folder)? {
        println!("{}", library.display());
    }
    Ok(())
}

/// The libraries of `sources` for `device`, from `TILEWRIGHT_RIVALS` or compiled now.
///
/// # Errors
/// The missing tool or library, in one line.
pub fn libraries(device: &Device, sources: &[Source]) -> Result<Vec<&'static Library>> {
    let architecture = architecture(device)?;
    let kept = env::var_os(LIBRARIES).map(|folder| {
        let folder = PathBuf::from(folder);
        let paths = sources
            .iter()
            .map(|it| folder.join(it.file_name(&architecture)));
        paths.collect::<Vec<_>>()
    });
    if let Some(paths) = kept.filter(|paths| paths.iter().all(|path| path.is_file())) {
        return load(device, &paths);
    }
    let folder = TempDir::new()?;
    load(device, &compile(sources, &architecture, folder.path())?)
}

fn load(device: &Device, paths: &[PathBuf]) -> Result<Vec<&'static Library>> {
    let load = |path: &PathBuf| {
        // SAFETY: loading only registers the library's kernels with CUDA.
        let library = unsafe { Library::new(path)? };
        // CUDA's libraries cannot be unloaded safely, and the functions must stay valid.
        Ok(&*Box::leak(Box::new(library)))
    };
    device.with_current(|| paths.iter().map(load).collect())?
}

/// Compiles all sources in parallel: each takes some seconds of one core.
fn compile(sources: &[Source], architecture: &str, folder: &Path) -> Result<Vec<PathBuf>> {
    let nvcc = find_nvcc().ok_or("no nvcc in the PATH or /usr/local/cuda/bin")?;
    let texts = TempDir::new()?;
    let start = |source: &Source| {
        let text = texts.path().join(format!("{}.cu", source.name));
        std::fs::write(&text, source.text)?;
        let library = folder.join(source.file_name(architecture));
        let compiler = start_compiler(&nvcc, architecture, &source.options, &text, &library);
        compiler.map(|compiler| (compiler, library))
    };
    let compilers: Vec<_> = sources.iter().map(start).collect();
    // Waits for every compiler, even after a failure: none may outlive the folder.
    let finished: Vec<_> = compilers
        .into_iter()
        .map(|started| started.and_then(|(compiler, library)| finish(compiler, library)))
        .collect();
    finished.into_iter().collect()
}

fn start_compiler(
    nvcc: &Path,
    architecture: &str,
    options: &[String],
    source: &Path,
    library: &Path,
) -> Result<Child> {
    let headers = env::var_os(HEADERS).map(|folder| [OsString::from("-I"), folder]);
    let child = Command::new(nvcc)
        .args([
            "-O3",
            "-std=c++17",
            "-shared",
            "-Xcompiler",
            "-fPIC",
            "-Xlinker",
            "-s",
        ])
        .arg(format!("-arch={architecture}"))
        // Before those of the toolkit.
        .args(headers.iter().flatten())
        .args(options)
        .arg("-o")
        .args([library, source])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()?;
    Ok(child)
}

fn finish(compiler: Child, library: PathBuf) -> Result<PathBuf> {
    let output = compiler.wait_with_output()?;
    if output.status.success() {
        return Ok(library);
    }
    let log = String::from_utf8_lossy(&output.stderr);
    let start: Vec<&str> = log.lines().take(5).collect();
    Err(format!("nvcc failed ({}): {}", output.status, start.join("\n")).into())
}

fn find_nvcc() -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let usual = PathBuf::from("/usr/local/cuda/bin");
    let mut candidates = env::split_paths(&path)
        .chain([usual])
        .map(|folder| folder.join("nvcc"));
    candidates.find(|candidate| candidate.is_file())
}

/// The device's architecture in nvcc's notation, such as `sm_90`.
fn architecture(device: &Device) -> Result<String> {
    let capability = device.properties().compute_capability;
    let (major, minor) = capability.ok_or("the device has no compute capability")?;
    Ok(format!("sm_{major}{minor}"))
}

/// The texts of a library's errors.
pub type ErrorText = unsafe extern "C" fn(c_int) -> *const c_char;

/// Converts CUB's error code, with the library's text.
pub fn error_of(error: c_int, text: ErrorText) -> Result {
    if error == 0 {
        return Ok(());
    }
    // SAFETY: the function takes any number and returns a static string.
    let text = unsafe { CStr::from_ptr(text(error)) };
    Err(format!("CUB says {} ({error})", text.to_string_lossy()).into())
}

/// CUB's version, from the library's function `version`.
pub fn version_of(library: &Library) -> Result<c_int> {
    // SAFETY: each source has the function with this type, and it only returns a number.
    unsafe {
        let version: unsafe extern "C" fn() -> c_int = *library.get(c"version")?;
        Ok(version())
    }
}

/// 300001 is 3.0.1: `CUB_VERSION` is major * 100000 + minor * 100 + patch.
pub fn version_text(version: c_int) -> String {
    let (major, minor, patch) = (version / 100_000, version / 100 % 1000, version % 100);
    format!("{major}.{minor}.{patch}")
}

/// An address on the device as a pointer.
pub fn pointer(address: u64) -> *mut c_void {
    ptr::with_exposed_provenance_mut(address as usize)
}
