//! The driver's compiler: the best image of a module that the device runs.

use super::context::Current;
use super::driver::{Failure, call};
use crate::error::ImageRejection;
use crate::images;
use crate::module_source::ModuleSource;
use cuda_std::kernel::Architecture;
use cudarc::driver::sys;
use std::ffi::{CStr, CString, c_void};
use std::ptr;

/// A module that the driver has compiled.
#[derive(Clone, Copy, Debug)]
pub struct RawModule(pub sys::CUmodule);

// SAFETY: the driver's functions may be called with one module from any thread.
unsafe impl Send for RawModule {}

/// A module with what its compiler remarked.
#[derive(Debug)]
pub struct Compiled {
    pub module: RawModule,
    /// The remarks that say that the code is slow.
    pub warnings: Vec<String>,
    /// The PTX that it was made of.
    pub image: &'static str,
}

/// Why a module was not loaded.
#[derive(Debug)]
pub enum LoadError {
    /// The device runs none of the images, each for its own reason.
    NoImage(Vec<ImageRejection>),
    /// The driver failed in a way that has nothing to do with the images.
    Driver(Failure),
}

/// Compiles the best image that the driver accepts.
pub fn load_best(
    source: &ModuleSource,
    compute_capability: (u32, u32),
    current: &Current<'_>,
) -> Result<Compiled, LoadError> {
    let mut images = source.images().to_vec();
    images.sort_by_key(|(name, _)| std::cmp::Reverse(Architecture::parse(name)));
    let mut rejections = Vec::new();
    for (name, ptx) in images {
        let runs =
            Architecture::parse(name).is_some_and(|target| target.runs_on(compute_capability));
        if !runs {
            let reason = "it is for another compute capability".to_owned();
            rejections.push(rejection(name, ptx, reason));
            continue;
        }
        match compile(ptx, current) {
            Ok(compiled) => return Ok(compiled),
            Err((failure, _)) if !is_about_the_image(failure) => {
                return Err(LoadError::Driver(failure));
            }
            Err((failure, log)) => {
                rejections.push(rejection(name, ptx, format!("{failure}{log}")));
            }
        }
    }
    Err(LoadError::NoImage(rejections))
}

fn rejection(architecture: &'static str, ptx: &str, reason: String) -> ImageRejection {
    let version = images::ptx_version(ptx);
    ImageRejection {
        architecture,
        ptx_version: version.map_or("unknown".to_owned(), |(major, minor)| {
            format!("{major}.{minor}")
        }),
        needed_driver: version.and_then(images::needed_driver),
        reason,
    }
}

/// Whether another image may succeed where one has failed like this.
fn is_about_the_image(failure: Failure) -> bool {
    const INVALID_IMAGE: u32 = 200;
    const NO_BINARY_FOR_GPU: u32 = 209;
    const INVALID_PTX: u32 = 218;
    const UNSUPPORTED_PTX_VERSION: u32 = 222;
    const INVALID_SOURCE: u32 = 300;
    matches!(
        failure.code,
        INVALID_IMAGE | NO_BINARY_FOR_GPU | INVALID_PTX | UNSUPPORTED_PTX_VERSION | INVALID_SOURCE
    )
}

/// Compiles PTX with the driver's compiler. A failure comes with the compiler's log, on lines of
/// its own.
fn compile(image: &'static str, _current: &Current<'_>) -> Result<Compiled, (Failure, String)> {
    use sys::CUjit_option_enum as JitOption;
    const LOG_BYTES: usize = 16 << 10;
    let Ok(ptx) = CString::new(image) else {
        let failure = Failure { code: 300 };
        return Err((failure, "\n    the PTX has a zero byte".to_owned()));
    };
    let (mut errors, mut remarks) = (vec![0_u8; LOG_BYTES], vec![0_u8; LOG_BYTES]);
    let mut options = [
        JitOption::CU_JIT_ERROR_LOG_BUFFER,
        JitOption::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
        JitOption::CU_JIT_INFO_LOG_BUFFER,
        JitOption::CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
    ];
    // A number is given in the place of a pointer.
    let mut values: [*mut c_void; 4] = [
        errors.as_mut_ptr().cast(),
        ptr::without_provenance_mut(LOG_BYTES),
        remarks.as_mut_ptr().cast(),
        ptr::without_provenance_mut(LOG_BYTES),
    ];
    let mut module = ptr::null_mut();
    // SAFETY: `module` is a place for one handle; the PTX ends with 0; there are four options, and
    // each has its value: the logs, and the number of the bytes of each. A context is current.
    let result = unsafe {
        call!(cuModuleLoadDataEx(
            &raw mut module,
            ptx.as_ptr().cast(),
            4,
            options.as_mut_ptr(),
            values.as_mut_ptr(),
        ))
    };
    match result {
        Ok(()) => Ok(Compiled {
            module: RawModule(module),
            warnings: lines(&remarks).filter(|line| is_warning(line)).collect(),
            image,
        }),
        Err(failure) => {
            let log = lines(&errors).map(|line| format!("\n    {line}"));
            Err((failure, log.collect()))
        }
    }
}

/// The lines of a log that are not empty.
fn lines(log: &[u8]) -> impl Iterator<Item = String> {
    let text = CStr::from_bytes_until_nul(log).unwrap_or_default();
    let lines: Vec<String> = text
        .to_string_lossy()
        .lines()
        .map(|line| line.trim_end().to_owned())
        .filter(|line| !line.is_empty())
        .collect();
    lines.into_iter()
}

/// Whether a line remarks that products of a warpgroup do not run beside their warps, or that
/// `setmaxnreg` has no effect: `ptxas info : (C7510) Potential Performance Loss: ...`.
fn is_warning(line: &str) -> bool {
    let code = line
        .split_once("(C")
        .and_then(|(_, rest)| rest.split_once(')'));
    let code = code.and_then(|(code, _)| code.parse().ok());
    matches!(code, Some(7508_u32 | 7510..=7519))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remarks_on_slow_products_are_warnings() {
        let log =
            b"ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions \
                    are serialized\r\n\n\
                    ptxas info    : (C7508) Potential Performance Loss: 'setmaxnreg' ignored\n\
                    ptxas info    : (C7509) something else\n\
                    ptxas info    : Used 168 registers (C)\n\0(C7519) past its end";
        let warnings: Vec<String> = lines(log).filter(|line| is_warning(line)).collect();
        assert_eq!(warnings.len(), 2, "{warnings:?}");
        assert!(warnings[0].ends_with("are serialized"));
        assert!(warnings[1].contains("setmaxnreg"));
    }

    #[test]
    fn a_log_without_an_end_has_no_lines() {
        assert_eq!(lines(b"(C7510)").count(), 0);
    }
}
