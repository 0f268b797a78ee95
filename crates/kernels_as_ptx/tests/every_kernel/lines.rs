//! Reductions of rows, columns and segments, and what is done to each row.

use crate::cases::{Case, Cases, bytes};
use crate::numbers::{Number, matrix, numbers};
use half::{bf16, f16};
use tilewright::{Device, Matrix, Normalization, Order, Profile, Result, RowElement, ops};
use tilewright_kernels::{
    for_each_line_reduction, for_each_pair_line_reduction, for_each_pair_segment_reduction,
    for_each_segment_reduction,
};

/// Rows, columns.
const SHAPE: (usize, usize) = (37, 70);

/// Where segments start, and where the last one ends: short ones, one for a block, and one that several blocks share.
const OFFSETS: [usize; 6] = [0, 3, 3, 40, 900, 6000];

pub fn cases() -> Vec<Case> {
    let mut cases = Cases::new();
    reductions(&mut cases);
    segments(&mut cases);
    pairs(&mut cases);
    pair_segments(&mut cases);
    rows::<f32>(&mut cases);
    rows::<f16>(&mut cases);
    rows::<bf16>(&mut cases);
    cases.finish()
}

macro_rules! reductions {
    ($(
        $operation:ident of $element:ident:
            $along:ident at $one:literal blocks, $across:ident at $other:literal blocks;
    )*) => {
        fn reductions(cases: &mut Cases) {$(
            cases.add(stringify!($along), |device| {
                let x = matrix::<$element>(device, SHAPE, Order::RowMajor)?;
                let rows = device.reduce_rows(&x, ops::$operation)?;
                let columns = device.reduce_columns(&x, ops::$operation)?;
                Ok([bytes(&rows.to_vec()?), bytes(&columns.to_vec()?)].concat())
            });
        )*}
    };
}
for_each_line_reduction!(reductions);

macro_rules! segments {
    ($($operation:ident of $element:ident: $kernel:ident at $blocks:literal blocks;)*) => {
        fn segments(cases: &mut Cases) {$(
            cases.add(stringify!($kernel), |device| {
                let x = device.upload(&numbers::<$element>(OFFSETS[5]))?;
                // Some operations need an element.
                let segments = device.segments(&[&OFFSETS[..2], &OFFSETS[3..]].concat())?;
                Ok(bytes(&device.reduce_segments(&x, &segments, ops::$operation)?.to_vec()?))
            });
        )*}
    };
}
for_each_segment_reduction!(segments);

macro_rules! pairs {
    ($(
        $operation:ident of $element:ident:
            $along:ident at $one:literal blocks, $across:ident at $other:literal blocks;
    )*) => {
        fn pairs(cases: &mut Cases) {$(
            cases.add(stringify!($along), |device| {
                let x = matrix::<$element>(device, SHAPE, Order::RowMajor)?;
                let rows = device.reduce_dot_rows(&x, &x)?;
                let columns = device.reduce_dot_columns(&x, &x)?;
                Ok([bytes(&rows.to_vec()?), bytes(&columns.to_vec()?)].concat())
            });
        )*}
    };
}
for_each_pair_line_reduction!(pairs);

macro_rules! pair_segments {
    ($($operation:ident of $element:ident: $kernel:ident at $blocks:literal blocks;)*) => {
        fn pair_segments(cases: &mut Cases) {$(
            cases.add(stringify!($kernel), |device| {
                let x = device.upload(&numbers::<$element>(OFFSETS[5]))?;
                let segments = device.segments(&OFFSETS)?;
                Ok(bytes(&device.reduce_dot_segments(&x, &x, &segments)?.to_vec()?))
            });
        )*}
    };
}
for_each_pair_segment_reduction!(pair_segments);

/// Rows for lanes of a warp, for a block, for a cluster, and for sections; and on a device without clusters, of parts.
fn rows<T: RowElement + Number>(cases: &mut Cases) {
    let long = (1 << 16) * size_of::<T>() + 1;
    rows_of::<T>(cases, &[(2, 70), (2, 1100), (2, 33_000), (1, long)]);
    cases.on_profile(Profile::A100);
    rows_of::<T>(cases, &[(1, 33_000)]);
    // More rows than multiprocessors are copied ahead, if their elements have 16 bits.
    cases.on_multiprocessors(1);
    rows_of::<T>(cases, &[(2, 17_000)]);
    cases.on_few_multiprocessors();
}

fn rows_of<T: RowElement + Number>(cases: &mut Cases, shapes: &[(usize, usize)]) {
    for &(count, columns) in shapes {
        let of_rows = move |device: &Device| -> Result<Matrix<T>> {
            matrix(device, (count, columns), Order::RowMajor)
        };
        cases.add(format!("softmax of {columns}"), move |device| {
            Ok(bytes(&device.softmax(&of_rows(device)?)?.to_vec()?))
        });
        cases.add(format!("normalisation of {columns}"), move |device| {
            let normalised = Normalization::<T>::layer(1e-5).run(&of_rows(device)?)?;
            Ok(bytes(&normalised.to_vec()?))
        });
    }
}
