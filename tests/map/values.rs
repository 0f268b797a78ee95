//! Rows whose values are large, or have no size.

use tilewright::{Device, ModuleSource, Profile, SimulatorOptions};
use tilewright_kernels::reduce::Reduction;
use tilewright_kernels::rows::RowMap;

/// The sums of elements by the last digits of their indices.
pub struct Digits;

impl Reduction<f32> for Digits {
    type Accumulator = [f64; 32];
    type Output = [f64; 32];
    const IDENTITY: [f64; 32] = [0.0; 32];

    fn lift(element: f32, index: usize) -> [f64; 32] {
        let mut sums = [0.0; 32];
        sums[index % 32] = f64::from(element);
        sums
    }

    fn combine(left: [f64; 32], right: [f64; 32]) -> [f64; 32] {
        std::array::from_fn(|digit| left[digit] + right[digit])
    }

    fn finish(sums: [f64; 32], _elements: usize) -> [f64; 32] {
        sums
    }
}

impl RowMap for Digits {
    fn map(element: f32, sums: [f64; 32], index: usize) -> f32 {
        element + (sums[index % 32] % 64.0) as f32
    }
}

/// No value.
pub struct Nothing;

impl Reduction<f32> for Nothing {
    type Accumulator = u32;
    type Output = [u32; 0];
    const IDENTITY: u32 = 0;

    fn lift(_element: f32, _index: usize) -> u32 {
        1
    }

    fn combine(left: u32, right: u32) -> u32 {
        left + right
    }

    fn finish(_count: u32, _elements: usize) -> [u32; 0] {
        []
    }
}

impl RowMap for Nothing {
    fn map(element: f32, _value: [u32; 0], _index: usize) -> f32 {
        element
    }
}

tilewright_kernels::maps! {
    /// Values of the most bytes that one map can have.
    digits: Digits then Digits of rows of f32;
    /// Values of no bytes.
    nothing: Nothing of rows of f32;
}

// SAFETY: (1) there are no images.
static KERNELS: ModuleSource = unsafe { ModuleSource::new("large_row_values", &[]) };

fn mapped(x: &[f32]) -> Vec<f32> {
    let mut sums = [0.0; 32];
    for (index, x) in x.iter().enumerate() {
        sums[index % 32] += f64::from(*x);
    }
    let map = |(index, &x)| Digits::map(x, sums, index);
    x.iter().enumerate().map(map).collect()
}

/// Rows that shared memory would hold if the values of warps took none of it.
#[test]
fn large_values_leave_less_shared_memory_for_rows() {
    for profile in [Profile::T4, Profile::A100, Profile::H100] {
        let options = SimulatorOptions::default().with_profile(profile);
        let device = Device::simulator_with(options);
        let module = device.load(&KERNELS).unwrap();
        let shared_bytes = device.properties().max_shared_bytes_per_block;
        let len = (shared_bytes as usize - 1024) / 4 - 8;
        let x: Vec<f32> = (0..len)
            .map(|index| (index * 7919 % 1021 % 4) as f32)
            .collect();
        let matrix = device.matrix((1, len), &x).unwrap();
        let found = module.map_rows(digits, &matrix).unwrap().to_vec().unwrap();
        assert!(found == mapped(&mapped(&x)), "{len}");
    }
}

#[test]
fn values_of_no_bytes_need_no_launch() {
    let device = Device::simulator();
    let module = device.load(&KERNELS).unwrap();
    let rows = 1 << 40;
    let none = device.matrix::<f32>((rows, 0), &[]).unwrap();
    let mut results = device.matrix_zeros((rows, 0)).unwrap();
    let mut values = device.zeros(rows).unwrap();
    module
        .map_rows_with_values_into(nothing, &none, &mut results, &mut values)
        .unwrap();
}
