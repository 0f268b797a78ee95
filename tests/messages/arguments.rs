//! Arguments of a wrong length, shape or order.

use crate::{Line, says};
use tilewright::ndarray::{Axis, array};
use tilewright::{
    AddressMode, Device, DeviceChoice, HostMatrix, Order, TextureOptions, ops, reduce_axis,
    reduce_dot_axis,
};

pub fn table() -> Vec<Line> {
    [lengths(), shapes(), segments(), axes_and_others()]
        .into_iter()
        .flatten()
        .collect()
}

fn lengths() -> Vec<Line> {
    let device = Device::simulator();
    let x = device.upload(&[1.0_f32, 2.0, 3.0]).unwrap();
    let y = device.upload(&[1.0_f32, 2.0]).unwrap();
    let mut out = device.zeros::<f32>(2).unwrap();
    let matrix = device.matrix_zeros::<f32>((2, 3)).unwrap();
    let none = device.zeros::<f32>(0).unwrap();
    let narrow = device.matrix_zeros::<f32>((2, 0)).unwrap();
    let mut one = [0.0; 1];
    vec![
        says(
            device.matrix((2, 2), &[1.0_f32, 2.0, 3.0]),
            "matrix: the data has 3 elements, and needs 4: one for each element of the matrix",
        ),
        says(
            device.upload(&[1.0_f32]).unwrap().into_matrix((2, 2)),
            "into_matrix: the buffer has 1 element, and needs 4: one for each element of the matrix",
        ),
        says(
            x.copy_to_slice(&mut one),
            "copy_to_slice: the destination has 1 element, and needs 3: as many as are copied to it",
        ),
        says(
            out.copy_from_slice(&[1.0; 3]),
            "copy_from_slice: the source has 3 elements, and needs 2: as many as it overwrites",
        ),
        says(
            out.copy_from_buffer(&x),
            "copy_from_buffer: the source has 3 elements, and needs 2: as many as it overwrites",
        ),
        says(
            device.reduce_dot(&x, &y),
            "reduce_dot: the second buffer has 2 elements, and needs 3: as many as the first buffer",
        ),
        says(
            device.reduce_sum_into(&x, &mut out),
            "reduce_sum_into: the buffer of the result has 2 elements, and needs 1: it takes one value",
        ),
        says(
            device.reduce_columns_into(&matrix, ops::Sum, &mut out),
            "reduce_columns_into: the buffer of the values has 2 elements, and needs 3: one for each row or column \
             to reduce",
        ),
        says(
            device.scan_inclusive_into(&x, &mut out),
            "scan_inclusive_into: the buffer of the sums has 2 elements, and needs 3: one for each element of the \
             buffer to scan",
        ),
        says(
            matrix.view().copy_to_strided(&mut [0.0; 7], 5),
            "copy_to_strided: the slice has 7 elements, and needs 8: it must reach to the last element of the last \
             row (column, in column-major order)",
        ),
        says(
            device.texture_2d(2, 3, &[0.0_f32; 5], TextureOptions::default()),
            "texture_2d: the slice of texels has 5 elements, and needs 6: one for each place of width times height",
        ),
        says(
            device.reduce_max(&none),
            "reduce_max: the buffer to reduce is empty, and this operation needs at least one element; check \
             for an empty input first",
        ),
        says(
            device.reduce_rows(&narrow, ops::ArgMin),
            "reduce_rows: each row or column to reduce is empty, and this operation needs at least one element; \
             check for an empty input first",
        ),
    ]
}

fn shapes() -> Vec<Line> {
    let device = Device::simulator();
    let matrix = device.matrix_zeros::<f32>((2, 3)).unwrap();
    let across = device
        .matrix_zeros::<f32>((2, 3, Order::ColumnMajor))
        .unwrap();
    let mut square = device.matrix_zeros::<f32>((2, 2)).unwrap();
    let x = device.upload(&[1.0_f32, 2.0, 3.0]).unwrap();
    let row = device.upload(&[1.0_f32]).unwrap();
    let mut array = tilewright::ndarray::Array2::zeros((3, 2));
    vec![
        says(
            square.view_mut().copy_from_matrix(&matrix),
            "copy_from_matrix: the destination is 2x2 and the source is 2x3: the two shapes must be equal",
        ),
        says(
            matrix.view().copy_to_array(array.view_mut()),
            "copy_to_array: the matrix is 2x3 and the array is 3x2: the two shapes must be equal",
        ),
        says(
            device.reduce_dot_rows(&matrix, &square),
            "reduce_dot_rows: x is 2x3 and y is 2x2: the two shapes must be equal",
        ),
        says(
            device.reduce_dot_rows(&matrix, &across),
            "reduce_dot_rows: one matrix is row-major and the other column-major, and copies, scans and dot products \
             need both in the same order; create one of them in the order of the other (matmul accepts any mix)",
        ),
        says(
            x.slice(2..7),
            "slice: the range 2..7 of elements goes past the end: the number of elements is 3",
        ),
        says(
            row.slice(0..2),
            "slice: the range 0..2 of elements goes past the end: the number of elements is 1",
        ),
        says(
            matrix.slice(std::ops::Range { start: 2, end: 1 }, ..),
            "slice: the range 2..1 of rows ends before it starts",
        ),
        says(
            x.slice(2047..),
            "slice: the range 2047..3 of elements starts past the end: the number of elements is 3",
        ),
        says(
            matrix.slice(.., 3..4),
            "slice: the range 3..4 of columns goes past the end: the number of columns is 3",
        ),
        says(
            matrix.view().copy_to_strided(&mut [0.0; 20], 2),
            "copy_to_strided: the leading dimension is 2, and must be at least 3, the length of a row (of a column, \
             in column-major order)",
        ),
        says(
            matrix.view().batch_columns(2),
            "batch_columns: 3 columns cannot be divided into 2 equal parts; the number of parts must divide the \
             number of columns",
        ),
        says(
            matrix.view().batch_rows(0),
            "batch_rows: the rows cannot be divided into 0 parts; a batch has at least one matrix",
        ),
        says(
            device.matrix_zeros::<f32>((usize::MAX, 2)),
            "matrix_zeros: a matrix of 18446744073709551615x2 elements is too large: a buffer can hold at most \
             isize::MAX bytes",
        ),
        says(
            HostMatrix::new((usize::MAX, 2), &[0.0_f32; 2]),
            "HostMatrix::new: a matrix of 18446744073709551615x2 elements is too large: no slice has as many; give the \
             rows and columns of the slice's matrix",
        ),
    ]
}

fn segments() -> Vec<Line> {
    let device = Device::simulator();
    let x = device.upload(&[5.0_f32, 6.0, 7.0]).unwrap();
    let with_empty = device.segments(&[0, 2, 2, 3]).unwrap();
    let past = device.segments(&[0, 2, 5]).unwrap();
    let mut values = device.zeros::<f32>(2).unwrap();
    vec![
        says(
            device.segments(&[0, 5, 3, 5]),
            "segments: the offsets of the segments are wrong: offset 2 is 3, below offset 1, which is 5; they must not \
             descend",
        ),
        says(
            device.segments(&[]),
            "segments: the offsets of the segments are wrong: there are none; for n segments there are n + 1, and for \
             no segment one",
        ),
        says(
            device.reduce_segments(&x, &past, ops::Sum),
            "reduce_segments: the offsets of the segments are wrong: the last one is 5, past the end of the buffer, \
             which has 3 elements; make the buffer longer, or the last offset at most its length",
        ),
        says(
            device.reduce_segments(&x, &with_empty, ops::Min),
            "reduce_segments: segment 1 is empty, and this operation needs at least one element; give a value for \
             empty segments, by reduce_segments_or",
        ),
        says(
            device.reduce_segments_or_into(&x, &with_empty, ops::Min, 0.0, &mut values),
            "reduce_segments_or_into: the buffer of the values has 2 elements, and needs 3: one for each segment",
        ),
    ]
}

fn axes_and_others() -> Vec<Line> {
    let device = Device::simulator();
    let x = array![[1.0_f32, 2.0], [3.0, 4.0]];
    let wrapping = TextureOptions::default().with_address_mode(AddressMode::Wrap);
    vec![
        says(
            reduce_axis(x.view(), Axis(2), ops::Sum),
            "reduce_axis: the array has no axis 2: it has 2 axes, numbered from 0",
        ),
        says(
            reduce_dot_axis(x.view(), x.view(), Axis(7)),
            "reduce_dot_axis: the array has no axis 7: it has 2 axes, numbered from 0",
        ),
        says(
            "gpu".parse::<DeviceChoice>(),
            "DeviceChoice::from_str: `gpu` is not the name of a device; use sim, cuda, cuda:N, where N is the number of a \
             GPU, counted from 0, or a UUID that `nvidia-smi -L` prints, or its start, as in GPU-8f3a",
        ),
        says(
            device.texture_1d(&[0.0_f32; 4], wrapping),
            "texture_1d: the texture cannot be created: only normalised coordinates wrap or mirror; ask for them, or \
             for clamp or border",
        ),
        says(
            device.texture_1d::<f32>(&[], TextureOptions::default()),
            "texture_1d: the texture cannot be created: it has no element; a texture has at least one",
        ),
    ]
}
