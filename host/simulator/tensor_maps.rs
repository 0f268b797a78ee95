//! Tensor maps of a simulated device.

use super::Simulator;
use crate::backend::{DeviceTensorMaps, TensorMapRequest};
use crate::error::Outcome;

impl DeviceTensorMaps for Simulator {
    fn encode_tensor_map(&self, request: &TensorMapRequest) -> Outcome<[u64; 16]> {
        let [columns, rows] = request.sizes;
        let last_row = columns * u64::from(request.element_bytes);
        let map = simt::TensorMap::new(simt::TensorMapFields {
            address: request.address,
            element_bytes: request.element_bytes,
            rank: 2,
            sizes: [columns, rows, 1, 1, 1],
            strides: [request.row_bytes, 0, 0, 0],
            box_sizes: [request.box_sizes[0], request.box_sizes[1], 1, 1, 1],
            swizzle: simt::Swizzle::B128,
            view_start: request.address,
            view_bytes: (rows - 1) * request.row_bytes + last_row,
        });
        Ok(bytemuck::cast(map))
    }
}
