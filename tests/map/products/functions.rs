//! Functions of sums: with another matrix, with vectors and parameters, and of the place.

use super::*;
use std::fmt::Debug;
use tilewright::{MatrixView, Module};

/// The same bits, one NaN for all.
#[track_caller]
fn assert_equal<T: PartialEq + Debug>(found: &[T], expected: &[T], shape: &dyn Debug) {
    assert_eq!(found.len(), expected.len());
    let different = found.iter().zip(expected).position(|(x, y)| x != y);
    assert_eq!(different, None, "{shape:?}");
}

macro_rules! gate_tests {
    ($($test:ident of $element:ident by $each:ident: $($kernel:ident)*;)*) => {$(
        #[test]
        fn $test() {
            $each::<$element>(|device, a, b| {
                let module = device.load(&KERNELS).unwrap();
                let (m, n) = (a.rows(), b.cols());
                let up = matrix::<$element>(device, (m, n), Order::ColumnMajor);
                let elements = up.t().to_matrix().unwrap();
                let of = elements.to_vec().unwrap();
                let expected: Vec<$element> = sums(a, b)
                    .iter()
                    .enumerate()
                    .map(|(i, &sum)| {
                        let other = of[i % n * m + i / n];
                        <Gate as ProductMap<$element, 1>>::map(sum, [other], [0; 2], &0)
                    })
                    .collect();
                $(
                    let found = module.map_product($kernel, (a, b), [up.view()], &0).unwrap();
                    assert_equal(&found.to_vec().unwrap(), &expected, &(a.shape(), b.shape()));
                )*
            });
        }
    )*};
}
gate_tests! {
    a_gate_multiplies_by_another_matrix_in_f32 of f32 by for_each_product:
        gate_large gate_medium gate_small;
    a_gate_multiplies_by_another_matrix_in_f16 of f16 by for_each_product: gate_f16;
    a_gate_multiplies_by_another_matrix_in_bf16 of bf16 by for_each_product: gate_bf16;
    warpgroups_gate_f16 of f16 by for_each_product_along_k:
        gate_f16_warpgroup_large gate_f16_warpgroup_medium;
    warpgroups_gate_bf16 of bf16 by for_each_product_along_k: gate_bf16_warpgroup_small;
}

/// Calls a check for operands of each shape.
type ForEach<T> = fn(&dyn Fn(&Device, &Matrix<T>, &Matrix<T>));

fn assert_clamped<T: Number>(
    for_each: ForEach<T>,
    map: impl Fn(&Module, [&Matrix<T>; 2], [MatrixView<'_, f32>; 2]) -> Vec<f64>,
) {
    for_each(&|device, a, b| {
        let module = device.load(&KERNELS).unwrap();
        let (m, n) = (a.rows(), b.cols());
        let (columns, rows): (Vec<f32>, Vec<f32>) =
            (values(n, 3).collect(), values(m, 8).collect());
        let of_columns = device.matrix((1, n), &columns).unwrap();
        let of_rows = device.matrix((m, 1), &rows).unwrap();
        let expected: Vec<f64> = sums(a, b)
            .iter()
            .enumerate()
            .map(|(i, sum)| f64::from((sum + columns[i % n] + rows[i / n]).clamp(-0.5, 2.0)))
            .collect();
        let found = map(&module, [a, b], [of_columns.view(), of_rows.view()]);
        assert_equal(&found, &expected, &(a.shape(), b.shape()));
    });
}

#[test]
fn vectors_are_repeated_and_parameters_are_bounds() {
    assert_clamped::<f32>(
        |check| for_each_product(check),
        |module, [a, b], others| {
            let found = module.map_product(clamp, (a, b), others, &[-0.5, 2.0]);
            found.unwrap().to_vec().unwrap()
        },
    );
    assert_clamped::<bf16>(
        |check| for_each_product(check),
        |module, [a, b], others| {
            let found = module.map_product(clamp_bf16, (a, b), others, &[-0.5, 2.0]);
            found.unwrap().to_vec().unwrap()
        },
    );
    assert_clamped::<bf16>(
        |check| for_each_product_along_k(check),
        |module, [a, b], others| {
            let found = module.map_product(clamp_bf16_warpgroup, (a, b), others, &[-0.5, 2.0]);
            found.unwrap().to_vec().unwrap()
        },
    );
}

fn assert_dropped<T: Number>(map: impl Fn(&Module, [&Matrix<T>; 2], u64) -> Vec<[f32; 3]>) {
    for_each_product::<T>(|device, a, b| {
        let module = device.load(&KERNELS).unwrap();
        let n = b.cols();
        let sums = sums(a, b);
        for seed in [1, 99] {
            let expected: Vec<[f32; 3]> = sums
                .iter()
                .enumerate()
                .map(|(i, &sum)| {
                    let is_kept = !hash(seed, [i / n, i % n]).is_multiple_of(4);
                    [
                        if is_kept { sum } else { 0.0 },
                        (i / n) as f32,
                        (i % n) as f32,
                    ]
                })
                .collect();
            assert_equal(
                &map(&module, [a, b], seed),
                &expected,
                &(a.shape(), b.shape(), seed),
            );
        }
    });
}

#[test]
fn a_mask_depends_on_seed_row_and_column() {
    assert_dropped::<f32>(|module, [a, b], seed| {
        let found = module.map_product(dropout, (a, b), [], &seed);
        found.unwrap().to_vec().unwrap()
    });
    assert_dropped::<f16>(|module, [a, b], seed| {
        let found = module.map_product(dropout_f16, (a, b), [], &seed);
        found.unwrap().to_vec().unwrap()
    });
}
