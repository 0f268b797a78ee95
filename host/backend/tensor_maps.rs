//! Tensor maps of a device.

use crate::error::Outcome;

/// Tensor maps of a device.
pub(crate) trait DeviceTensorMaps {
    /// Encodes a map for kernels of this device. The request keeps the hardware's rules.
    fn encode_tensor_map(&self, request: &TensorMapRequest) -> Outcome<[u64; 16]>;
}

/// A matrix in global memory, or a batch of matrices of one shape, with boxes whose rows have 128 bytes.
///
/// The boxes lie swizzled in shared memory. Dimensions are in the order columns, rows, matrices.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TensorMapRequest {
    pub(crate) address: u64,
    /// 1, 2, 4 or 8.
    pub(crate) element_bytes: u32,
    pub(crate) sizes: [u64; 2],
    /// Bytes from one row to the next.
    pub(crate) row_bytes: u64,
    /// `None` for a map of one matrix, of two dimensions.
    pub(crate) batch: Option<TensorMapBatch>,
    pub(crate) box_sizes: [u32; 2],
}

/// The matrices of a batch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TensorMapBatch {
    pub(crate) count: u64,
    /// Bytes from one matrix to the next, which may be 0.
    pub(crate) matrix_bytes: u64,
}
