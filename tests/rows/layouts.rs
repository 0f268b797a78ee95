//! Where rows lie changes no bit, and nothing around them is written.

use crate::cases::{SHAPES, Value, assert_same_bits, scores};
use crate::common::{devices, machines, share};
use half::{bf16, f16};
use std::any::type_name;
use tilewright::{Device, IGNORED_CLASS, Matrix, MatrixView, MatrixViewMut, Normalization, Result};

/// Elements before, between and after rows.
const FILLER: f64 = 77.0;

/// A matrix with `before` columns before the rows and `after` after them.
#[derive(Clone, Copy, Debug)]
struct Layout {
    before: usize,
    after: usize,
}

const LAYOUTS: [Layout; 5] = [
    Layout {
        before: 0,
        after: 0,
    },
    Layout {
        before: 1,
        after: 0,
    },
    Layout {
        before: 0,
        after: 3,
    },
    Layout {
        before: 8,
        after: 8,
    },
    Layout {
        before: 3,
        after: 5,
    },
];

impl Layout {
    fn surrounded<T: Value>(self, elements: &[T], len: usize) -> Vec<T> {
        let mut all = Vec::new();
        for row in elements.chunks(len) {
            all.extend(vec![T::of(FILLER); self.before]);
            all.extend(row);
            all.extend(vec![T::of(FILLER); self.after]);
        }
        all
    }
}

/// An operation that replaces rows, in both forms.
type InPlace<T> = fn(&Device, &mut MatrixViewMut<'_, T>) -> Result<()>;
type Into<T> = fn(&Device, MatrixView<'_, T>, &mut MatrixViewMut<'_, T>) -> Result<()>;

/// An operation that returns a new matrix.
type ToNew<T> = fn(&Device, MatrixView<'_, T>) -> Result<Matrix<T>>;

fn layouts_have_the_bits_of_whole_matrices<T: Value>() {
    let operations: [(InPlace<T>, Into<T>); 2] = [
        (
            |device, matrix| device.softmax_in_place(matrix),
            |device, x, y| device.softmax_into(x, y),
        ),
        (
            |device, matrix| device.log_softmax_in_place(matrix),
            |device, x, y| device.log_softmax_into(x, y),
        ),
    ];
    for device in devices() {
        for (rows, len) in share(("rows::layouts", type_name::<T>()), SHAPES) {
            for (in_place, into) in operations {
                holds((rows, len), &device, in_place, into);
            }
        }
    }
}
for_each_type!([f32 f16 bf16] layouts_have_the_bits_of_whole_matrices);

fn holds<T: Value>(
    (rows, len): (usize, usize),
    device: &Device,
    in_place: InPlace<T>,
    into: Into<T>,
) {
    let elements = scores::<T>(rows * len, 5);
    let matrix = device.matrix((rows, len), &elements).unwrap();
    let mut expected = device.matrix_zeros((rows, len)).unwrap();
    into(device, matrix.view(), &mut expected.view_mut()).unwrap();
    let expected = expected.to_vec().unwrap();
    for (number, layout) in LAYOUTS.into_iter().enumerate() {
        let case = format!("{rows}x{len}, {layout:?}, {device:?}");
        let width = layout.before + len + layout.after;
        let columns = layout.before..layout.before + len;
        let surrounded = layout.surrounded(&elements, len);
        let expected = layout.surrounded(&expected, len);

        let mut whole = device.matrix((rows, width), &surrounded).unwrap();
        let mut part = whole.slice_mut(.., columns.clone()).unwrap();
        in_place(device, &mut part).unwrap();
        assert_same_bits(&whole.to_vec().unwrap(), &expected, &case);

        let other = LAYOUTS[(number + 1) % LAYOUTS.len()];
        let x = device
            .matrix(
                (rows, other.before + len + other.after),
                &other.surrounded(&elements, len),
            )
            .unwrap();
        let filled = vec![T::of(FILLER); rows * width];
        let mut y = device.matrix((rows, width), &filled).unwrap();
        let x = x
            .view()
            .slice(.., other.before..other.before + len)
            .unwrap();
        into(device, x, &mut y.slice_mut(.., columns).unwrap()).unwrap();
        assert_same_bits(&y.to_vec().unwrap(), &expected, &case);
    }
}

/// Schedules and warp widths change no bit of rows that are exchanged through shared memory and replaced.
#[test]
fn staged_rows_in_place_are_ordered_on_every_machine() {
    for device in machines() {
        for shape in [(9, 5), (70, 33), (3, 1001), (2, 2001), (1, 33_001)] {
            holds::<f32>(
                shape,
                &device,
                |device, matrix| device.softmax_in_place(matrix),
                |device, x, y| device.softmax_into(x, y),
            );
            holds::<bf16>(
                shape,
                &device,
                |_, matrix| Normalization::layer(1e-5).run_in_place(matrix),
                |_, x, y| Normalization::layer(1e-5).run_into(x, y),
            );
        }
    }
}

/// Rows that a block does not have are neither read nor written: matrices of every number of rows.
#[test]
fn the_rows_of_a_matrix_do_not_matter_to_one_another() {
    for device in devices() {
        for len in [3, 40, 300] {
            let elements = scores::<f32>(70 * len, 11);
            let all = device.matrix((70, len), &elements).unwrap();
            let expected = device.softmax(&all).unwrap().to_vec().unwrap();
            for rows in [1, 2, 31, 33, 63, 69] {
                let found = device.softmax(all.slice(..rows, ..).unwrap()).unwrap();
                let case = format!("{rows} rows of {len}");
                assert_same_bits(&found.to_vec().unwrap(), &expected[..rows * len], &case);
            }
        }
    }
}

/// Blocks and clusters that take several rows, and copy the next one ahead, give the bits of those that take one.
fn rows_are_taken_in_turn<T: Value>() {
    for device in devices() {
        let multiprocessors = device.properties().multiprocessors as usize;
        // Of blocks of 512 and 1024 threads, and of clusters of blocks of 256.
        for (rows, len) in [
            (4 * multiprocessors + 3, 8_200),
            (2 * multiprocessors + 3, 16_392),
            (multiprocessors + 3, 40_000),
        ] {
            let elements = scores::<T>(rows * len, 13);
            let all = device.matrix((rows, len), &elements).unwrap();
            let operations: [ToNew<T>; 3] = [
                |device, x| device.softmax(x),
                |_, x| Normalization::rms(1e-5).run(x),
                |_, x| Normalization::layer(1e-5).run(x),
            ];
            for (number, operation) in operations.into_iter().enumerate() {
                let found = operation(&device, all.view()).unwrap().to_vec().unwrap();
                for row in [0, 1, rows / 2, rows - 2, rows - 1] {
                    let one = all.slice(row..=row, ..).unwrap();
                    let expected = operation(&device, one).unwrap().to_vec().unwrap();
                    let case = format!("operation {number}, row {row} of {rows}x{len}");
                    assert_same_bits(&found[row * len..(row + 1) * len], &expected, &case);
                }
            }
        }
    }
}
for_each_type!([f32 bf16] rows_are_taken_in_turn);

#[test]
fn the_gradient_in_place_is_that_of_another_matrix() {
    for device in devices() {
        for (rows, len) in [(9, 5), (7, 1000), (3, 1500), (2, 40_000)] {
            let elements = scores::<f32>(rows * len, 2);
            let class = |row: usize| {
                if row == 1 {
                    IGNORED_CLASS
                } else {
                    (row * 7919 % len) as u32
                }
            };
            let classes = device
                .upload(&(0..rows).map(class).collect::<Vec<_>>())
                .unwrap();
            let x = device.matrix((rows, len), &elements).unwrap();
            let [mut losses, mut again] = [(); 2].map(|()| device.zeros(rows).unwrap());
            let mut gradient = device.matrix_zeros((rows, len)).unwrap();
            device
                .cross_entropy_with_gradient(&x, &classes, 0.25, &mut losses, &mut gradient)
                .unwrap();
            let mut in_place = x;
            device
                .cross_entropy_in_place(&mut in_place, &classes, 0.25, &mut again)
                .unwrap();
            let case = format!("{rows}x{len}");
            assert_same_bits(
                &in_place.to_vec().unwrap(),
                &gradient.to_vec().unwrap(),
                &case,
            );
            assert_same_bits(&again.to_vec().unwrap(), &losses.to_vec().unwrap(), &case);
        }
    }
}
