//! Tensor maps of a device.

use crate::error::Outcome;

/// Tensor maps of a device.
pub(crate) trait DeviceTensorMaps {
    /// Encodes a map that keeps the hardware's rules, for kernels of this device.
    fn encode_tensor_map(&self, request: &TensorMapRequest) -> Outcome<[u64; 16]>;
}

/// A matrix in global memory, or a batch of matrices of one shape, and boxes of them whose rows have 128
/// bytes, which lie swizzled in shared memory. Columns come before rows, and rows before matrices.
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
