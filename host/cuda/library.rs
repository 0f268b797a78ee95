//! The driver's library, opened at run time, with all functions looked up at once.
//!
//! The bindings declare the functions, but they are not called through its own table, for three reasons:
//!
//! - That table returns the status as a Rust enum of the codes in one version of CUDA. An enum with a newer driver's
//!   code is undefined behaviour.
//! - It panics if the library or a function is missing.
//! - Whether it opens the library at run time or links it depends on the features that the whole program selects for
//!   them.
//!
//! So this file has its own table, with the status as a number. The compiler checks each of its types against the
//! declaration in the bindings.

use cuda_bindings::driver::sys;
use libloading::Library;
use std::error::Error as _;
use std::ffi::{c_char, c_int, c_uint, c_ulonglong, c_void};
use std::mem;
use std::sync::OnceLock;

/// The library's name. It is the driver's own file, not the file for linking, which CUDA toolkits provide as a stub.
#[cfg(not(windows))]
pub const NAME: &str = "libcuda.so.1";
/// The names to try, in this order. In the Windows Subsystem for Linux, the loader may not know the driver's folder.
#[cfg(target_os = "linux")]
const NAMES: [&str; 2] = [NAME, "/usr/lib/wsl/lib/libcuda.so.1"];
/// The names to try, in this order.
#[cfg(not(target_os = "linux"))]
const NAMES: [&str; 1] = [NAME];
/// The library's name.
#[cfg(windows)]
pub const NAME: &str = "nvcuda.dll";

/// The reason why there is no table of functions.
#[derive(Debug)]
pub enum OpenError {
    /// The system finds no library with this name; the system's words.
    Absent(String),
    /// The library exists but does not load; the system's words.
    Broken(String),
    /// The library does not have this function.
    NoFunction(&'static str),
}

/// Declares the table: the driver's functions with their parameter types, and those that older drivers lack.
macro_rules! functions {
    (@type $($parameter:ty),*) => { unsafe extern "C" fn($($parameter),*) -> u32 };
    ($($(#[$attribute:meta])* $name:ident($($parameter:ty),* $(,)?);)*
        @optional $($newer:ident($($of_newer:ty),* $(,)?);)*) => {
        /// The driver's functions, each of which returns its status as a number.
        #[derive(Debug)]
        #[expect(non_snake_case, reason = "the names are the driver's")]
        pub struct Functions {
            $($(#[$attribute])* pub $name: functions!(@type $($parameter),*),)*
            $(pub $newer: Option<functions!(@type $($of_newer),*)>,)*
        }

        impl Functions {
            fn find(library: &Library) -> Result<Self, OpenError> {
                Ok(Self {
                    $($(#[$attribute])* $name: {
                        let found = address(library, stringify!($name))?;
                        // SAFETY: the driver's function of this name has these parameters, by the constant below, and
                        // returns a `CUresult`, which is `repr(u32)`.
                        unsafe { mem::transmute::<*mut c_void, functions!(@type $($parameter),*)>(found) }
                    },)*
                    $($newer: {
                        let found = address(library, stringify!($newer)).ok();
                        // SAFETY: as above.
                        found.map(|it| unsafe {
                            mem::transmute::<*mut c_void, functions!(@type $($of_newer),*)>(it)
                        })
                    },)*
                })
            }
        }

        // The parameters are those of the bindings, or this fails to compile.
        $($(#[$attribute])* const _: unsafe fn($($parameter),*) -> sys::CUresult = sys::$name;)*
        $(const _: unsafe fn($($of_newer),*) -> sys::CUresult = sys::$newer;)*
    };
}

/// The address of a function.
fn address(library: &Library, name: &'static str) -> Result<*mut c_void, OpenError> {
    // SAFETY: the type is right: the symbol is used only as an address.
    let found = unsafe { library.get::<*mut c_void>(name.as_bytes()) };
    match found {
        Ok(address) if !address.is_null() => Ok(*address),
        _ => Err(OpenError::NoFunction(name)),
    }
}

functions! {
    cuArrayCreate_v2(*mut sys::CUarray, *const sys::CUDA_ARRAY_DESCRIPTOR);
    cuArrayDestroy(sys::CUarray);
    cuCtxGetCurrent(*mut sys::CUcontext);
    cuCtxGetDevice(*mut sys::CUdevice);
    cuCtxPopCurrent_v2(*mut sys::CUcontext);
    cuCtxPushCurrent_v2(sys::CUcontext);
    cuCtxGetStreamPriorityRange(*mut c_int, *mut c_int);
    cuDeviceCanAccessPeer(*mut c_int, sys::CUdevice, sys::CUdevice);
    cuDeviceGet(*mut sys::CUdevice, c_int);
    cuDeviceGetAttribute(*mut c_int, sys::CUdevice_attribute, sys::CUdevice);
    cuDeviceGetCount(*mut c_int);
    cuDeviceGetName(*mut c_char, c_int, sys::CUdevice);
    #[cfg(feature = "cust")]
    cuDevicePrimaryCtxGetState(sys::CUdevice, *mut c_uint, *mut c_int);
    cuDevicePrimaryCtxRelease_v2(sys::CUdevice);
    cuDevicePrimaryCtxRetain(*mut sys::CUcontext, sys::CUdevice);
    cuDeviceGetUuid(*mut sys::CUuuid, sys::CUdevice);
    cuDeviceGetUuid_v2(*mut sys::CUuuid, sys::CUdevice);
    cuDeviceTotalMem_v2(*mut usize, sys::CUdevice);
    cuDriverGetVersion(*mut c_int);
    cuEventCreate(*mut sys::CUevent, c_uint);
    cuEventDestroy_v2(sys::CUevent);
    cuEventElapsedTime(*mut f32, sys::CUevent, sys::CUevent);
    cuEventQuery(sys::CUevent);
    cuEventRecord(sys::CUevent, sys::CUstream);
    cuEventSynchronize(sys::CUevent);
    cuFuncGetAttribute(*mut c_int, sys::CUfunction_attribute, sys::CUfunction);
    cuFuncSetAttribute(sys::CUfunction, sys::CUfunction_attribute, c_int);
    cuGraphDestroy(sys::CUgraph);
    cuGraphExecDestroy(sys::CUgraphExec);
    cuGraphInstantiateWithFlags(*mut sys::CUgraphExec, sys::CUgraph, c_ulonglong);
    cuGraphLaunch(sys::CUgraphExec, sys::CUstream);
    cuInit(c_uint);
    cuLaunchCooperativeKernel(
        sys::CUfunction,
        c_uint, c_uint, c_uint,
        c_uint, c_uint, c_uint,
        c_uint,
        sys::CUstream,
        *mut *mut c_void,
    );
    cuLaunchKernel(
        sys::CUfunction,
        c_uint, c_uint, c_uint,
        c_uint, c_uint, c_uint,
        c_uint,
        sys::CUstream,
        *mut *mut c_void,
        *mut *mut c_void,
    );
    cuMemAllocFromPoolAsync(*mut sys::CUdeviceptr, usize, sys::CUmemoryPool, sys::CUstream);
    cuMemAlloc_v2(*mut sys::CUdeviceptr, usize);
    cuMemFreeAsync(sys::CUdeviceptr, sys::CUstream);
    cuMemFreeHost(*mut c_void);
    cuMemFree_v2(sys::CUdeviceptr);
    cuMemGetInfo_v2(*mut usize, *mut usize);
    cuMemHostAlloc(*mut *mut c_void, usize, c_uint);
    cuMemHostGetDevicePointer_v2(*mut sys::CUdeviceptr, *mut c_void, c_uint);
    cuMemPoolCreate(*mut sys::CUmemoryPool, *const sys::CUmemPoolProps);
    cuMemPoolDestroy(sys::CUmemoryPool);
    cuMemPoolGetAttribute(sys::CUmemoryPool, sys::CUmemPool_attribute, *mut c_void);
    cuMemPoolSetAccess(sys::CUmemoryPool, *const sys::CUmemAccessDesc, usize);
    cuMemPoolSetAttribute(sys::CUmemoryPool, sys::CUmemPool_attribute, *mut c_void);
    cuMemPoolTrimTo(sys::CUmemoryPool, usize);
    cuMemcpy2DAsync_v2(*const sys::CUDA_MEMCPY2D, sys::CUstream);
    cuMemcpyDtoDAsync_v2(sys::CUdeviceptr, sys::CUdeviceptr, usize, sys::CUstream);
    cuMemcpyDtoH_v2(*mut c_void, sys::CUdeviceptr, usize);
    cuMemcpyDtoHAsync_v2(*mut c_void, sys::CUdeviceptr, usize, sys::CUstream);
    cuMemcpyHtoAAsync_v2(sys::CUarray, usize, *const c_void, usize, sys::CUstream);
    cuMemcpyHtoD_v2(sys::CUdeviceptr, *const c_void, usize);
    cuMemcpyHtoDAsync_v2(sys::CUdeviceptr, *const c_void, usize, sys::CUstream);
    cuMemcpyPeerAsync(
        sys::CUdeviceptr,
        sys::CUcontext,
        sys::CUdeviceptr,
        sys::CUcontext,
        usize,
        sys::CUstream,
    );
    cuMemsetD32Async(sys::CUdeviceptr, u32, usize, sys::CUstream);
    cuMemsetD8Async(sys::CUdeviceptr, u8, usize, sys::CUstream);
    cuModuleGetFunction(*mut sys::CUfunction, sys::CUmodule, *const c_char);
    cuModuleGetGlobal_v2(*mut sys::CUdeviceptr, *mut usize, sys::CUmodule, *const c_char);
    cuModuleLoadDataEx(
        *mut sys::CUmodule,
        *const c_void,
        c_uint,
        *mut sys::CUjit_option,
        *mut *mut c_void,
    );
    cuModuleUnload(sys::CUmodule);
    cuOccupancyMaxActiveBlocksPerMultiprocessor(*mut c_int, sys::CUfunction, c_int, usize);
    cuPointerGetAttributes(
        c_uint,
        *mut sys::CUpointer_attribute,
        *mut *mut c_void,
        sys::CUdeviceptr,
    );
    cuStreamBeginCapture_v2(sys::CUstream, sys::CUstreamCaptureMode);
    cuStreamCreateWithPriority(*mut sys::CUstream, c_uint, c_int);
    cuStreamDestroy_v2(sys::CUstream);
    cuStreamQuery(sys::CUstream);
    cuStreamEndCapture(sys::CUstream, *mut sys::CUgraph);
    cuStreamSynchronize(sys::CUstream);
    cuStreamWaitEvent(sys::CUstream, sys::CUevent, c_uint);
    cuTexObjectCreate(
        *mut sys::CUtexObject,
        *const sys::CUDA_RESOURCE_DESC,
        *const sys::CUDA_TEXTURE_DESC,
        *const sys::CUDA_RESOURCE_VIEW_DESC,
    );
    cuTexObjectDestroy(sys::CUtexObject);

    @optional
    // From CUDA 11.8 on.
    cuLaunchKernelEx(
        *const sys::CUlaunchConfig,
        sys::CUfunction,
        *mut *mut c_void,
        *mut *mut c_void,
    );
    // From CUDA 12.0 on.
    cuTensorMapEncodeTiled(
        *mut sys::CUtensorMap,
        sys::CUtensorMapDataType,
        u32,
        *mut c_void,
        *const u64,
        *const u64,
        *const u32,
        *const u32,
        sys::CUtensorMapInterleave,
        sys::CUtensorMapSwizzle,
        sys::CUtensorMapL2promotion,
        sys::CUtensorMapFloatOOBfill,
    );
}

/// The type of the driver's two functions that describe a status. Their parameter is a number here, so that it can be
/// a code that the bindings lack.
pub type Describe = unsafe extern "C" fn(u32, *mut *const c_char) -> u32;

const _: [unsafe fn(sys::CUresult, *mut *const c_char) -> sys::CUresult; 2] =
    [sys::cuGetErrorName, sys::cuGetErrorString];

/// The library is never closed: its functions may be called until the process ends.
static LIBRARY: OnceLock<Library> = OnceLock::new();
static FUNCTIONS: OnceLock<Functions> = OnceLock::new();

/// Opens the library and looks up its functions, unless that was done before. After a failure, the next call tries
/// again.
pub fn open() -> Result<(), OpenError> {
    if FUNCTIONS.get().is_none() {
        let functions = Functions::find(library()?)?;
        // If two threads get here at once, both have the same functions.
        let _ = FUNCTIONS.set(functions);
    }
    Ok(())
}

/// The functions of the library, which must be open.
///
/// # Panics
/// Panics if no [`open`] has succeeded. Every caller holds a driver handle, and the library is opened before the
/// first handle.
pub fn functions() -> &'static Functions {
    FUNCTIONS
        .get()
        .expect("the library is opened before the first call")
}

/// The driver's function `cuGetErrorName` or `cuGetErrorString`; `None` if there is no library, or if it lacks the
/// function.
pub fn describe(name: &'static str) -> Option<Describe> {
    // SAFETY: both functions take a `CUresult`, which is `repr(u32)`, and a pointer to a pointer.
    let found = unsafe { LIBRARY.get()?.get::<Describe>(name.as_bytes()) };
    found.ok().map(|function| *function)
}

/// The newest CUDA version that the driver supports, as the driver's number; `None` if the library does not say.
///
/// It needs no other function.
pub fn version() -> Option<c_int> {
    type GetVersion = unsafe extern "C" fn(*mut c_int) -> u32;
    // SAFETY: `functions!` has the same type.
    let get_version = unsafe { library().ok()?.get::<GetVersion>(b"cuDriverGetVersion") }.ok()?;
    let mut version = 0;
    // SAFETY: `version` is valid for one number; the driver need not be started.
    let status = unsafe { get_version(&raw mut version) };
    (status == 0).then_some(version)
}

fn library() -> Result<&'static Library, OpenError> {
    if let Some(library) = LIBRARY.get() {
        return Ok(library);
    }
    let library = open_first(&NAMES)?;
    // If two threads get here at once, a second handle of the same library changes nothing.
    Ok(LIBRARY.get_or_init(|| library))
}

/// Opens the first library of `names` that exists. The error is that of the first name.
fn open_first(names: &[&str]) -> Result<Library, OpenError> {
    let mut first = None;
    for name in names {
        // SAFETY: loading the driver's library runs NVIDIA's initialisation, which is made for this.
        match unsafe { Library::new(name) } {
            Ok(library) => return Ok(library),
            Err(error) => _ = first.get_or_insert(error),
        }
    }
    let error = first.expect("there is a name");
    let words = match error.source() {
        Some(loader) => loader.to_string(),
        None => error.to_string(),
    };
    Err(match says_absent(&words) {
        true => OpenError::Absent(words),
        false => OpenError::Broken(words),
    })
}

/// Whether the loader's message says that there is no file with the library's name. If the library exists but does
/// not load, the message names the file that is missing, or ends with another reason.
#[cfg(not(any(windows, target_vendor = "apple")))]
fn says_absent(words: &str) -> bool {
    const NO_SUCH_FILE: i32 = 2;
    // In the language of the process, like the loader's message.
    let reason = std::io::Error::from_raw_os_error(NO_SUCH_FILE).to_string();
    let reason = reason.trim_end_matches(" (os error 2)");
    words.contains(NAME) && words.ends_with(reason)
}

/// Whether the loader's message says that there is no file with the library's name.
#[cfg(windows)]
fn says_absent(words: &str) -> bool {
    const MODULE_NOT_FOUND: i32 = 126;
    words.contains(&format!("(os error {MODULE_NOT_FOUND})"))
}

/// Always true: NVIDIA has no driver for today's systems, and the loader's list of searched places differs from
/// version to version.
#[cfg(target_vendor = "apple")]
fn says_absent(_words: &str) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where the first name is absent or broken, the second is opened; the error is that of the first.
    #[cfg(target_os = "linux")]
    #[test]
    fn the_folder_of_wsl_is_tried_after_the_loaders() {
        assert_eq!(NAMES, ["libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1"]);
        let (absent, present) = ("/nowhere/libcuda.so.1", "libc.so.6");
        let broken = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
        for first in [absent, broken] {
            assert!(open_first(&[first, present]).is_ok(), "{first}");
        }
        let error = open_first(&[absent, broken]).unwrap_err();
        assert!(matches!(error, OpenError::Absent(words) if words.contains(absent)));
        let error = open_first(&[broken, absent]).unwrap_err();
        assert!(matches!(error, OpenError::Broken(words) if words.contains(broken)));
    }

    #[cfg(not(any(windows, target_vendor = "apple")))]
    #[test]
    fn only_a_missing_file_of_the_librarys_name_is_absent() {
        for absent in [
            "libcuda.so.1: cannot open shared object file: No such file or directory",
            "Error loading shared library libcuda.so.1: No such file or directory",
        ] {
            assert!(says_absent(absent), "{absent}");
        }
        for broken in [
            "libnvidia-x.so: cannot open shared object file: No such file or directory",
            "Error loading shared library libx.so: No such file or directory (needed by \
             /usr/lib/libcuda.so.1)",
            "libcuda.so.1: cannot open shared object file: Permission denied",
            "/usr/lib/libcuda.so.1: file too short",
            "/usr/lib/libcuda.so.1: undefined symbol: pthread_nonsense",
        ] {
            assert!(!says_absent(broken), "{broken}");
        }
    }

    #[cfg(windows)]
    #[test]
    fn only_a_missing_module_is_absent() {
        assert!(says_absent("Module not found. (os error 126)"));
        assert!(!says_absent("Bad EXE format for %1. (os error 193)"));
    }

    #[cfg(target_vendor = "apple")]
    #[test]
    fn the_library_is_absent() {
        assert!(says_absent(
            "dlopen(libcuda.so.1, 0x0005): tried: 'libcuda.so.1' (no such file), \
             '/usr/lib/libcuda.so.1' (no such file, not in dyld cache)"
        ));
    }
}
