//! One launch of each kernel of the crate, by the kernel's name.

#![allow(dead_code, reason = "each program uses a part of it")]

use crate::support::Outcome;
use bytemuck::Pod;
use tilewright::half::{bf16, f16};
use tilewright::{ChainElement, Device, Matrix, ReduceElement};

/// A kernel, or a variant of it that the operands select.
pub struct Workload {
    /// The name on the command line.
    pub name: &'static str,
    /// A size that shows the kernel's behaviour: elements of a sum, rows of a product.
    pub size: usize,
    launch: fn(&Device, usize) -> Outcome,
}

/// The number of elements to sum: enough for every multiprocessor of a large GPU.
const ELEMENTS: usize = 1 << 22;

/// The number of rows and columns of the matrices: few enough for a simulator.
const ROWS: usize = 256;

/// All workloads.
pub const WORKLOADS: [Workload; 14] = [
    workload("reduce_sum_f32", ELEMENTS, sum::<f32>),
    workload("reduce_sum_f64", ELEMENTS, sum::<f64>),
    workload("reduce_sum_f16", ELEMENTS, sum::<f16>),
    workload("reduce_sum_bf16", ELEMENTS, sum::<bf16>),
    workload("reduce_sum_i32", ELEMENTS, sum::<i32>),
    workload("reduce_sum_u32", ELEMENTS, sum::<u32>),
    workload("reduce_sum_i64", ELEMENTS, sum::<i64>),
    workload("reduce_sum_u64", ELEMENTS, sum::<u64>),
    workload("matmul_tiled_f32_nn", ROWS, |device, rows| {
        tiled::<f32>(device, rows)
    }),
    workload("matmul_tiled_f64_nn", ROWS, |device, rows| {
        tiled::<f64>(device, rows)
    }),
    workload("matmul_coarsened_f32_nn", ROWS, |device, rows| {
        coarsened::<f32>(device, rows, rows)
    }),
    workload("matmul_coarsened_f64_nn", ROWS, |device, rows| {
        coarsened::<f64>(device, rows, rows)
    }),
    // Rows of B that do not start at multiples of 16 bytes.
    workload("matmul_coarsened_f32_nn_unaligned", ROWS, |device, rows| {
        coarsened::<f32>(device, rows, rows - 1)
    }),
    workload("matmul_coarsened_f64_nn_unaligned", ROWS, |device, rows| {
        coarsened::<f64>(device, rows, rows - 1)
    }),
];

const fn workload(
    name: &'static str,
    size: usize,
    launch: fn(&Device, usize) -> Outcome,
) -> Workload {
    Workload { name, size, launch }
}

impl Workload {
    /// The workload with this name. A name without a type means f32, and a product without an order has row-major
    /// operands.
    pub fn find(name: &str) -> Outcome<&'static Self> {
        let names = ["", "_f32", "_nn", "_f32_nn"].map(|end| format!("{name}{end}"));
        let found = WORKLOADS
            .iter()
            .find(|workload| names.iter().any(|name| workload.name == name));
        found.ok_or_else(|| {
            let names: Vec<_> = WORKLOADS.iter().map(|workload| workload.name).collect();
            format!(
                "there is no kernel `{name}`; there are {}",
                names.join(", ")
            )
            .into()
        })
    }

    /// Launches the kernel once, with operands of zeros.
    pub fn launch(&self, device: &Device, size: usize) -> Outcome {
        (self.launch)(device, size)
    }
}

/// Sizes for a comparison with Nsight Compute: not multiples of tiles, so that edges are included.
const COMPARED_ELEMENTS: usize = 1_000_003;
const COMPARED_ROWS: usize = 200;

/// Launches each kernel once.
pub fn launch_for_ncu(device: &Device) -> Outcome {
    for workload in &WORKLOADS {
        let is_sum = workload.name.starts_with("reduce_sum");
        workload.launch(
            device,
            if is_sum {
                COMPARED_ELEMENTS
            } else {
                COMPARED_ROWS
            },
        )?;
    }
    Ok(())
}

fn sum<T: ReduceElement>(device: &Device, elements: usize) -> Outcome {
    device.reduce_sum(&device.zeros::<T>(elements)?)?;
    Ok(())
}

fn tiled<T: ChainElement + Pod>(device: &Device, rows: usize) -> Outcome {
    let (a, b): (Matrix<T>, _) = (
        device.matrix_zeros((rows, rows))?,
        device.matrix_zeros((rows, rows))?,
    );
    device.matmul_tiled(&a, &b)?.to_vec()?;
    Ok(())
}

fn coarsened<T: ChainElement + Pod>(device: &Device, rows: usize, columns: usize) -> Outcome {
    let a: Matrix<T> = device.matrix_zeros((rows, rows))?;
    let b = device.matrix_zeros((rows, columns))?;
    device.matmul_coarsened(&a, &b)?.to_vec()?;
    Ok(())
}
