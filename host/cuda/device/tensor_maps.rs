//! Tensor maps of a CUDA device.

use super::CudaDevice;
use crate::backend::{DeviceTensorMaps, TensorMapRequest};
use crate::cuda::library::functions;
use crate::cuda::{driver, start};
use crate::error::{ErrorKind, Outcome, TensorMapRule};
use cuda_bindings::driver::sys;
use std::ffi::c_void;

impl DeviceTensorMaps for CudaDevice {
    fn encode_tensor_map(&self, request: &TensorMapRequest) -> Outcome<[u64; 16]> {
        let encode = functions().cuTensorMapEncodeTiled;
        let encode = encode.ok_or_else(start::no_tensor_maps)?;
        let element = element_type(request.element_bytes)?;
        let mut map = sys::CUtensorMap { opaque: [0; 16] };
        let (rank, count, matrix_bytes) = match request.batch {
            None => (2, 1, 0),
            Some(batch) => (3, batch.count, batch.matrix_bytes),
        };
        let [columns, rows] = request.sizes;
        let sizes = [columns, rows, count];
        let strides = [request.row_bytes, matrix_bytes];
        let box_sizes = [request.box_sizes[0], request.box_sizes[1], 1];
        let address = std::ptr::with_exposed_provenance_mut::<c_void>(request.address as usize);
        self.run(|_current| {
            // SAFETY: the map is valid for one, aligned as its type says. The arrays have an element for each
            // dimension, the strides one less. The address is not accessed.
            let status = unsafe {
                encode(
                    &raw mut map,
                    element,
                    rank,
                    address,
                    sizes.as_ptr(),
                    strides.as_ptr(),
                    box_sizes.as_ptr(),
                    [1, 1, 1].as_ptr(),
                    sys::CUtensorMapInterleave::CU_TENSOR_MAP_INTERLEAVE_NONE,
                    sys::CUtensorMapSwizzle::CU_TENSOR_MAP_SWIZZLE_128B,
                    sys::CUtensorMapL2promotion::CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                    sys::CUtensorMapFloatOOBfill::CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
                )
            };
            driver::check(status)
        })?;
        Ok(map.opaque)
    }
}

/// An element type with `bytes` bytes; copies do not interpret elements.
fn element_type(bytes: u32) -> Outcome<sys::CUtensorMapDataType> {
    use sys::CUtensorMapDataType as Type;
    match bytes {
        1 => Ok(Type::CU_TENSOR_MAP_DATA_TYPE_UINT8),
        2 => Ok(Type::CU_TENSOR_MAP_DATA_TYPE_UINT16),
        4 => Ok(Type::CU_TENSOR_MAP_DATA_TYPE_UINT32),
        8 => Ok(Type::CU_TENSOR_MAP_DATA_TYPE_UINT64),
        _ => Err(ErrorKind::TensorMap {
            rule: TensorMapRule::Element { bytes },
        }),
    }
}
