//! CUB's sums, compiled by nvcc when the benchmark starts.

use crate::common::Result;
use crate::common::samples::Sample;
use libloading::Library;
use std::env;
use std::ffi::{CStr, OsStr, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::ptr;
use std::rc::Rc;
use tilewright::{Buffer, Device};

const SOURCE: &str = include_str!("cub.cu");

const NO_NVCC: &str = "no nvcc in the PATH or /usr/local/cuda/bin";

/// The C names of each element type and of the type of its sum.
const TYPES: [(&str, &str, &str); 8] = [
    ("f32", "float", "float"),
    ("f64", "double", "double"),
    ("f16", "__half", "float"),
    ("bf16", "__nv_bfloat16", "float"),
    ("i32", "int32_t", "int64_t"),
    ("u32", "uint32_t", "uint64_t"),
    ("i64", "int64_t", "int64_t"),
    ("u64", "uint64_t", "uint64_t"),
];

/// Temporary memory and its size; elements, result, number of elements; stream.
type SumFunction = unsafe extern "C" fn(
    *mut c_void,
    *mut usize,
    *const c_void,
    *mut c_void,
    c_int,
    *mut c_void,
) -> c_int;

/// Result on the host, result on the device; stream.
type CopyFunction = unsafe extern "C" fn(*mut c_void, *const c_void, *mut c_void) -> c_int;

/// The functions of one library.
#[derive(Clone, Copy)]
struct Functions {
    sum: SumFunction,
    copy_to_host: CopyFunction,
    error_text: unsafe extern "C" fn(c_int) -> *const c_char,
    version: unsafe extern "C" fn() -> c_int,
}

/// CUB for all element types, in the stream of one device.
pub struct Cub {
    device: Device,
    /// In the order of `TYPES`.
    functions: Vec<Functions>,
    version: String,
}

impl Cub {
    /// Compiles CUB for `device`.
    ///
    /// # Errors
    /// The missing tool or library, in one line.
    pub fn compile(device: &Device) -> Result<Self> {
        let nvcc = find_nvcc().ok_or(NO_NVCC)?;
        let folder = tempfile::tempdir()?;
        let source = folder.path().join("cub.cu");
        std::fs::write(&source, SOURCE)?;
        let architecture = architecture(device)?;
        // At once: each compilation takes some seconds of one core.
        let compilers = TYPES.map(|(name, element, sum)| {
            let library = folder.path().join(format!("cub-{name}.so"));
            let types = [format!("-DELEMENT={element}"), format!("-DSUM={sum}")];
            let types = types.each_ref().map(OsStr::new);
            let compiler = start_compiler(&nvcc, &architecture, &types, &source, &library);
            (compiler, library)
        });
        // Wait for every compiler, also after a failure: none may outlive the folder.
        let compiled = compilers.map(|(compiler, library)| finish(compiler?, library));
        let libraries = compiled.into_iter().collect::<Result<Vec<_>>>()?;
        let functions = device.with_current(|| load_all(&libraries))??;
        // SAFETY: the function only returns a number.
        let version = unsafe { (functions[0].version)() };
        Ok(Self {
            device: device.clone(),
            functions,
            version: version_text(version),
        })
    }

    /// CUB's version.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// A function that enqueues the sum of `x` a number of times.
    pub fn sum<T: Sample>(
        &self,
        x: Rc<Buffer<T>>,
    ) -> Result<impl FnMut(u64, &mut Buffer<T::Sum>) -> Result + use<T>> {
        let mut call = Call {
            device: self.device.clone(),
            functions: self.functions_of::<T>()?,
            count: c_int::try_from(x.len())?,
            x,
            temporary: None,
            temporary_bytes: 0,
        };
        call.allocate()?;
        Ok(move |calls, result: &mut Buffer<T::Sum>| call.enqueue(calls, result))
    }

    /// A function that sums `x` and waits until the sum is on the host. Page-locked memory there
    /// makes the copy faster.
    pub fn sum_to_host<T: Sample>(
        &self,
        x: Rc<Buffer<T>>,
    ) -> Result<impl FnMut(&mut [T::Sum; 1]) -> Result + use<T>> {
        let (device, functions) = (self.device.clone(), self.functions_of::<T>()?);
        let mut result = device.zeros::<T::Sum>(1)?;
        let mut sum = self.sum(x)?;
        Ok(move |host: &mut [T::Sum; 1]| {
            sum(1, &mut result)?;
            let stream = device.raw_stream().ok_or("the device has no stream")?;
            let from = pointer(result.device_address());
            // SAFETY: both have room for a sum; the copy is complete when the call returns. The
            // device's context is current.
            let error = device.with_current(|| unsafe {
                (functions.copy_to_host)(host.as_mut_ptr().cast(), from, stream.as_ptr())
            })?;
            functions.check(error)
        })
    }

    fn functions_of<T: Sample>(&self) -> Result<Functions> {
        let number = TYPES.iter().position(|(name, ..)| *name == T::NAME);
        let number = number.ok_or_else(|| format!("there is none for {}", T::NAME))?;
        Ok(self.functions[number])
    }
}

/// The arguments of sums of one buffer.
struct Call<T: Sample> {
    device: Device,
    functions: Functions,
    x: Rc<Buffer<T>>,
    count: c_int,
    temporary: Option<Buffer<u8>>,
    temporary_bytes: usize,
}

impl<T: Sample> Call<T> {
    /// Queries the size of the temporary memory, and allocates it.
    fn allocate(&mut self) -> Result {
        let mut result = self.device.zeros::<T::Sum>(1)?;
        self.enqueue(1, &mut result)?;
        let bytes = self.temporary_bytes.max(1);
        self.temporary = Some(self.device.uninit(bytes)?);
        Ok(())
    }

    fn enqueue(&mut self, calls: u64, result: &mut Buffer<T::Sum>) -> Result {
        let stream = self.device.raw_stream().ok_or("the device has no stream")?;
        let temporary = self.temporary.as_ref().map_or(0, Buffer::device_address);
        let (temporary, x, result) = (
            pointer(temporary),
            pointer(self.x.device_address()),
            pointer(result.device_address()),
        );
        let bytes = &raw mut self.temporary_bytes;
        self.device.with_current(|| {
            for _ in 0..calls {
                // SAFETY: the library was compiled for these types. `x` has `count` elements and
                // `result` one; temporary memory is none, or as large as an earlier call said.
                // All are on the device whose context is current, and freed only after the work
                // in its stream.
                let error = unsafe {
                    (self.functions.sum)(temporary, bytes, x, result, self.count, stream.as_ptr())
                };
                self.functions.check(error)?;
            }
            Ok(())
        })?
    }
}

impl Functions {
    fn load(path: &Path) -> Result<Self> {
        // SAFETY: loading registers the library's kernels with CUDA, no more; the types are those
        // of cub.cu.
        unsafe {
            let library = Library::new(path)?;
            let functions = Self {
                sum: *library.get(c"sum")?,
                copy_to_host: *library.get(c"copy_to_host")?,
                error_text: *library.get(c"error_text")?,
                version: *library.get(c"version")?,
            };
            // CUDA's libraries cannot be unloaded safely, and the functions have to stay.
            std::mem::forget(library);
            Ok(functions)
        }
    }

    fn check(&self, error: c_int) -> Result {
        error_of(error, self.error_text)
    }
}

/// The error that CUB returned, if it is one, in the words of its library.
pub fn error_of(error: c_int, text: unsafe extern "C" fn(c_int) -> *const c_char) -> Result {
    if error == 0 {
        return Ok(());
    }
    // SAFETY: the function takes any number and returns a static string.
    let text = unsafe { CStr::from_ptr(text(error)) };
    Err(format!("CUB says {} ({error})", text.to_string_lossy()).into())
}

fn load_all(libraries: &[PathBuf]) -> Result<Vec<Functions>> {
    libraries.iter().map(|path| Functions::load(path)).collect()
}

pub fn find_nvcc() -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let usual = PathBuf::from("/usr/local/cuda/bin");
    let mut candidates = env::split_paths(&path)
        .chain([usual])
        .map(|folder| folder.join("nvcc"));
    candidates.find(|candidate| candidate.is_file())
}

/// The device's architecture in nvcc's notation, such as `sm_90`.
pub fn architecture(device: &Device) -> Result<String> {
    let capability = device.properties().compute_capability;
    let (major, minor) = capability.ok_or("the device has no compute capability")?;
    Ok(format!("sm_{major}{minor}"))
}

fn start_compiler(
    nvcc: &Path,
    architecture: &str,
    options: &[&OsStr],
    source: &Path,
    library: &Path,
) -> Result<Child> {
    let child = Command::new(nvcc)
        .args(["-O3", "-std=c++17", "-shared", "-Xcompiler", "-fPIC"])
        .arg(format!("-arch={architecture}"))
        .args(options)
        .arg("-o")
        .args([library, source])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()?;
    Ok(child)
}

/// The library of one source, compiled with these options of nvcc.
///
/// # Errors
/// The missing tool or library, in one line.
pub fn compile_library(
    device: &Device,
    source: &str,
    options: &[&OsStr],
) -> Result<&'static Library> {
    let nvcc = find_nvcc().ok_or(NO_NVCC)?;
    let folder = tempfile::tempdir()?;
    let [source_path, library] = ["rival.cu", "rival.so"].map(|name| folder.path().join(name));
    std::fs::write(&source_path, source)?;
    let architecture = architecture(device)?;
    let compiler = start_compiler(&nvcc, &architecture, options, &source_path, &library)?;
    let library = finish(compiler, library)?;
    // CUDA's libraries cannot be unloaded safely, and the functions have to stay.
    // SAFETY: loading registers the library's kernels with CUDA, no more.
    let library = device.with_current(|| unsafe { Library::new(library) })??;
    Ok(Box::leak(Box::new(library)))
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

pub fn pointer(address: u64) -> *mut c_void {
    ptr::with_exposed_provenance_mut(address as usize)
}

/// 300001 is 3.0.1: `CUB_VERSION` is major * 100000 + minor * 100 + patch.
pub fn version_text(version: c_int) -> String {
    let (major, minor, patch) = (version / 100_000, version / 100 % 1000, version % 100);
    format!("{major}.{minor}.{patch}")
}
