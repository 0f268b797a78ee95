//! Tensor maps of a simulated device.

use super::Simulator;
use crate::backend::{DeviceTensorMaps, TensorMapRequest};
use crate::error::Outcome;

impl DeviceTensorMaps for Simulator {
    fn encode_tensor_map(&self, request: &TensorMapRequest) -> Outcome<[u64; 16]> {
        let [columns, rows] = request.sizes;
        let last_row = columns * u64::from(request.element_bytes);
        let (count, matrix_bytes) = request
            .batch
            .map_or((1, 0), |batch| (batch.count, batch.matrix_bytes));
        let map = simt::TensorMap::new(simt::TensorMapFields {
            address: request.address,
            element_bytes: request.element_bytes,
            rank: if request.batch.is_some() { 3 } else { 2 },
            sizes: [columns, rows, count, 1, 1],
            strides: [request.row_bytes, matrix_bytes, 0, 0],
            box_sizes: [request.box_sizes[0], request.box_sizes[1], 1, 1, 1],
            swizzle: simt::Swizzle::B128,
            view_start: request.address,
            view_bytes: (count - 1) * matrix_bytes + (rows - 1) * request.row_bytes + last_row,
        });
        Ok(bytemuck::cast(map))
    }
}
