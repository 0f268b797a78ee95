//! Calls of the library whose kernels are changed.

use half::{bf16, f16};
use tilewright::{
    Device, Element, Matmul, MatmulElement, MatmulInto, Profile, Result, RowElement, ops,
};

/// A call, and the kernel that it runs.
pub struct Case {
    pub name: &'static str,
    pub kernel: &'static str,
    /// Whose kernels run.
    pub profile: Profile,
    /// Returns the bits of the results.
    pub call: fn(&Device) -> Result<Vec<u8>>,
}

/// All calls.
pub const CASES: &[Case] = &[
    Case {
        name: "sum of a buffer",
        kernel: "reduce_sum_f32",
        profile: Profile::A100,
        call: sum,
    },
    Case {
        name: "reproducible sum",
        kernel: "reduce_sum_reproducible_f64",
        profile: Profile::A100,
        call: reproducible_sum,
    },
    Case {
        name: "sums of long rows",
        kernel: "sum_along_f32",
        profile: Profile::A100,
        call: row_sums,
    },
    Case {
        name: "softmax of long rows",
        kernel: "softmax_block_f32",
        // Shared memory has no room for the longest rows.
        profile: Profile::Rtx4090,
        // Rows of whole vectors, and rows that begin within one.
        call: |device| softmax(device, &[(5, 4000), (5, 4001), (1, 32_001)], |it| it),
    },
    Case {
        name: "softmax of rows that are copied ahead",
        kernel: "softmax_ahead_bf16",
        profile: Profile::A100,
        // More rows of 1024 threads than there are multiprocessors.
        call: |device| softmax(device, &[(9, 16_392)], bf16::from_f32),
    },
    Case {
        name: "scan",
        kernel: "scan_inclusive_f32",
        profile: Profile::A100,
        call: scan,
    },
    Case {
        name: "tiled product",
        kernel: "matmul_tiled_f32_nn",
        profile: Profile::A100,
        call: tiled_product,
    },
    Case {
        name: "coarsened product",
        kernel: "matmul_coarsened_small_f32_nn",
        profile: Profile::A100,
        call: |device| product(device, [132, 140, 72], |it| it),
    },
    Case {
        name: "coarsened product, large tiles",
        kernel: "matmul_coarsened_f32_nn",
        profile: Profile::A100,
        call: |device| product(device, [512, 512, 40], |it| it),
    },
    Case {
        name: "product on tensor cores",
        kernel: "matmul_mma_small_f16_nn",
        profile: Profile::A100,
        call: |device| product(device, [72, 80, 160], f16::from_f32),
    },
    Case {
        name: "product on tensor cores, large tiles",
        kernel: "matmul_mma_f16_nn",
        profile: Profile::A100,
        call: |device| product(device, [512, 512, 64], f16::from_f32),
    },
];

/// A product by warpgroups.
pub const WARPGROUPS: Case = Case {
    name: "product of warpgroups",
    kernel: "matmul_wgmma_deep_f16_nn",
    profile: Profile::H200,
    call: |device| product(device, [128, 128, 128], f16::from_f32),
};

/// A product of numbers that have no end in binary digits, so that each of its sums is rounded.
pub const INEXACT_PRODUCT: Case = Case {
    name: "tiled product of thirds",
    kernel: "matmul_tiled_f32_nn",
    profile: Profile::A100,
    call: |device| {
        let thirds = numbers(64 * 64, |it| it / 3.0);
        let a = device.matrix((64, 64), &thirds)?;
        Ok(bits(&device.matmul_tiled(&a, &a)?.to_vec()?))
    },
};

/// The case of a kernel, of the table.
pub fn case(kernel: &str) -> &'static Case {
    let mut all = CASES.iter();
    all.find(|it| it.kernel == kernel)
        .unwrap_or_else(|| panic!("no case of {kernel}"))
}

/// Whole numbers and halves of both signs.
fn numbers<T>(count: usize, of: impl Fn(f32) -> T) -> Vec<T> {
    let number = |index: usize| (index * 7 % 31) as f32 / 2.0 - 7.0;
    (0..count).map(|index| of(number(index))).collect()
}

fn bits<T: Element>(values: &[T]) -> Vec<u8> {
    bytemuck::cast_slice(values).to_vec()
}

fn sum(device: &Device) -> Result<Vec<u8>> {
    let x = device.upload(&numbers(30_000, |it| it))?;
    Ok(bits(&[device.reduce_sum(&x)?]))
}

fn reproducible_sum(device: &Device) -> Result<Vec<u8>> {
    let x = numbers(5000, f64::from);
    let several_blocks = device.reproducible_sum(&device.upload(&x)?)?;
    let one_block = device.reproducible_sum(&device.upload(&x[..1000])?)?;
    Ok(bits(&[several_blocks.words(), one_block.words()].concat()))
}

fn row_sums(device: &Device) -> Result<Vec<u8>> {
    let mut sums = Vec::new();
    // Rows of one group of threads each, and of several.
    for shape in [(70, 300), (5, 9000), (1, 50_000)] {
        let x = device.matrix(shape, &numbers(shape.0 * shape.1, |it| it))?;
        sums.extend(device.reduce_rows(&x, ops::Sum)?.to_vec()?);
    }
    Ok(bits(&sums))
}

fn softmax<T: RowElement>(
    device: &Device,
    shapes: &[(usize, usize)],
    of: impl Fn(f32) -> T,
) -> Result<Vec<u8>> {
    let mut weights = Vec::new();
    for &(rows, columns) in shapes {
        let x = device.matrix((rows, columns), &numbers(rows * columns, &of))?;
        weights.extend(device.softmax(&x)?.to_vec()?);
    }
    Ok(bits(&weights))
}

fn scan(device: &Device) -> Result<Vec<u8>> {
    let x = device.upload(&numbers(20_000, |it| it))?;
    Ok(bits(&device.scan_inclusive(&x)?.to_vec()?))
}

fn tiled_product(device: &Device) -> Result<Vec<u8>> {
    let a = device.matrix((40, 50), &numbers(40 * 50, |it| it))?;
    let b = device.matrix((50, 33), &numbers(50 * 33, |it| it))?;
    Ok(bits(&device.matmul_tiled(&a, &b)?.to_vec()?))
}

fn product<T: MatmulInto<T, f32> + MatmulElement<Product = T, Accumulator = f32>>(
    device: &Device,
    [m, n, k]: [usize; 3],
    of: impl Fn(f32) -> T,
) -> Result<Vec<u8>> {
    let a = device.matrix((m, k), &numbers(m * k, &of))?;
    let b = device.matrix((k, n), &numbers(k * n, &of))?;
    let plain = Matmul::new(&a, &b).run()?.to_vec()?;
    // Through the kernel's code for epilogues.
    let scaled = Matmul::new(&a, &b).alpha(2.0).run()?.to_vec()?;
    Ok(bits(&[plain, scaled].concat()))
}
