//! The driver's three ways to launch a kernel.

use crate::backend::LaunchRequest;
use crate::cuda::driver::{Failure, call, check};
use crate::cuda::library::functions;
use cuda_bindings::driver::sys;
use std::ffi::c_void;
use std::ptr;

/// Submits a launch of `function` to `stream`.
///
/// # Safety
/// 1. The function takes the parameters of `request`, and `stream` is alive.
/// 2. The function may run with these parameters once all earlier work in the stream has ended. If its bounds have
///    `dependent_launch`, its threads neither access global memory nor end before they have waited for that work.
pub unsafe fn launch(
    function: sys::CUfunction,
    request: &LaunchRequest<'_>,
    stream: sys::CUstream,
) -> Result<(), Failure> {
    let (grid, block) = (request.config.grid, request.config.block);
    let dynamic_shared_bytes = request.config.dynamic_shared_bytes;
    // The driver only reads the parameters, at their addresses, during the call.
    let parameters = request.params.addresses().as_ptr();
    let parameters: *mut *mut c_void = parameters.cast_mut().cast();
    let no_extra = ptr::null_mut();

    if request.bounds.cooperative {
        // SAFETY: the function takes the parameters and may run, and the stream is alive: the caller's contract.
        return unsafe {
            call!(cuLaunchCooperativeKernel(
                function,
                grid.x,
                grid.y,
                grid.z,
                block.x,
                block.y,
                block.z,
                dynamic_shared_bytes,
                stream,
                parameters,
            ))
        };
    }
    if let (true, Some(launch)) = (
        request.bounds.dependent_launch,
        functions().cuLaunchKernelEx,
    ) {
        let mut may_overlap = sys::CUlaunchAttribute {
            id: sys::CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
            pad: [0; 4],
            value: sys::CUlaunchAttributeValue {
                programmaticStreamSerializationAllowed: 1,
            },
        };
        let config = sys::CUlaunchConfig {
            gridDimX: grid.x,
            gridDimY: grid.y,
            gridDimZ: grid.z,
            blockDimX: block.x,
            blockDimY: block.y,
            blockDimZ: block.z,
            sharedMemBytes: dynamic_shared_bytes,
            hStream: stream,
            attrs: &raw mut may_overlap,
            numAttrs: 1,
        };
        // SAFETY: as for a cooperative launch: the caller's contract. The driver reads the configuration during the
        // call.
        return check(unsafe { launch(&config, function, parameters, no_extra) });
    }
    // SAFETY: the function takes the parameters and may run, and the stream is alive: the caller's contract.
    unsafe {
        call!(cuLaunchKernel(
            function,
            grid.x,
            grid.y,
            grid.z,
            block.x,
            block.y,
            block.z,
            dynamic_shared_bytes,
            stream,
            parameters,
            no_extra,
        ))
    }
}
