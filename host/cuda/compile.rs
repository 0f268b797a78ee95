//! Compilation by the driver: the best image of a module that the device can run.

use super::context::Current;
use super::driver::{Failure, call};
use super::static_order::Statics;
use crate::error::ImageRejection;
use crate::images;
use crate::module_source::ModuleSource;
use cuda_bindings::driver::sys;
use cuda_std::kernel::Architecture;
use std::ffi::{CStr, CString, c_void};
use std::ptr;

/// A module that the driver has compiled.
#[derive(Clone, Copy, Debug)]
pub struct RawModule(pub sys::CUmodule);

// SAFETY: any thread may call the driver's functions with a module.
unsafe impl Send for RawModule {}
// SAFETY: as for `Send`.
unsafe impl Sync for RawModule {}

/// A compiled module with its compiler warnings.
#[derive(Debug)]
pub struct Compiled {
    pub module: RawModule,
    /// The warnings that the code is slow.
    pub warnings: Vec<String>,
    /// The PTX that it was compiled from.
    pub image: &'static str,
    /// The static arrays that its kernels use.
    pub statics: Statics,
}

/// The reason why a module was not loaded.
#[derive(Debug)]
pub enum LoadError {
    /// The device can run none of the images, each for its own reason.
    NoImage(Vec<ImageRejection>),
    /// A failure of the driver that does not concern the images.
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

/// Whether another image may succeed after this failure.
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

/// Compiles PTX with the driver. A failure comes with the compiler's log, on lines of its own.
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
    // Numbers are passed in place of pointers.
    let mut values: [*mut c_void; 4] = [
        errors.as_mut_ptr().cast(),
        ptr::without_provenance_mut(LOG_BYTES),
        remarks.as_mut_ptr().cast(),
        ptr::without_provenance_mut(LOG_BYTES),
    ];
    let mut module = ptr::null_mut();
    // SAFETY: `module` is valid for one handle. The PTX ends with 0. There are four options, each with its value: the
    // logs, and the size of each in bytes. A context is current.
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
            statics: Statics::of(image),
        }),
        Err(failure) => {
            let log = lines(&errors).map(|line| format!("\n    {line}"));
            Err((failure, log.collect()))
        }
    }
}

/// The non-empty lines of a log.
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

/// Whether a line warns that a warpgroup's products do not overlap with its other work, or that `setmaxnreg` has no
/// effect: `ptxas info : (C7510) Potential Performance Loss: ...`.
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
