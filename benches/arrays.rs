//! Reductions of `ndarray` arrays, from host and device memory, against `ndarray` itself.

use crate::common::Result;
use crate::common::host_time::RoundTrip;
use ndarray::{Array1, Array2, Axis};
use std::rc::Rc;
use tilewright::{Device, ops};
use tilewright_test_support::random::Random;

/// The tolerated relative error: all terms are positive, and `ndarray` adds them in another order.
const TOLERANCE: f32 = 1e-4;

/// The jobs on `side * side` elements, and the functions that do them.
pub fn works(device: &Device, side: usize) -> Result<Vec<(String, Vec<RoundTrip>)>> {
    let mut random = Random::new(1);
    let matrix = Array2::from_shape_fn((side, side), |_| random.signed_unit().abs() as f32);
    let x = Array1::from_iter(matrix.iter().copied());
    let y = x.mapv(|it| 1.0 - it);
    let data = Rc::new(Data {
        on_device: device.matrix_from_array(matrix.view())?,
        x_on_device: device.upload(slice(&x))?,
        y_on_device: device.upload(slice(&y))?,
        device: device.clone(),
        sums: matrix.sum_axis(Axis(0)),
        dot: x.dot(&y),
        square: x.dot(&x),
        matrix,
        x,
        y,
    });
    let elements = side * side;
    Ok(vec![
        (
            format!("axis sum, {side}x{side}"),
            vec![
                data.contender("reduce_axis, host", true, |it| {
                    it.check_sums(&tilewright::reduce_axis(
                        it.matrix.view(),
                        Axis(0),
                        ops::Sum,
                    )?)
                }),
                data.contender("reduce_columns, device", true, |it| {
                    let sums = it.device.reduce_columns(&it.on_device, ops::Sum)?;
                    it.check_sums(&sums.to_vec()?.into())
                }),
                data.contender("ndarray", false, |it| {
                    it.check_sums(&it.matrix.sum_axis(Axis(0)))
                }),
            ],
        ),
        (
            format!("x . y, {elements}"),
            vec![
                data.contender("reduce_dot, host", true, |it| {
                    near(tilewright::reduce_dot(slice(&it.x), slice(&it.y))?, it.dot)
                }),
                data.contender("reduce_dot, device", true, |it| {
                    near(
                        it.device.reduce_dot(&it.x_on_device, &it.y_on_device)?,
                        it.dot,
                    )
                }),
                data.contender("ndarray", false, |it| near(it.x.dot(&it.y), it.dot)),
            ],
        ),
        // One array is read and copied once.
        (
            format!("x . x, {elements}"),
            vec![
                data.contender("reduce_dot, host", true, |it| {
                    near(
                        tilewright::reduce_dot(slice(&it.x), slice(&it.x))?,
                        it.square,
                    )
                }),
                data.contender("reduce_dot, device", true, |it| {
                    near(
                        it.device.reduce_dot(&it.x_on_device, &it.x_on_device)?,
                        it.square,
                    )
                }),
                data.contender("ndarray", false, |it| near(it.x.dot(&it.x), it.square)),
            ],
        ),
        (
            format!("norm, {elements}"),
            vec![
                data.contender("reduce, host", true, |it| {
                    near(
                        tilewright::reduce(slice(&it.x), ops::Norm2)?,
                        it.square.sqrt(),
                    )
                }),
                data.contender("reduce_norm_2, device", true, |it| {
                    near(it.device.reduce_norm_2(&it.x_on_device)?, it.square.sqrt())
                }),
                data.contender("ndarray", false, |it| {
                    near(it.x.dot(&it.x).sqrt(), it.square.sqrt())
                }),
            ],
        ),
    ])
}

/// The operands in both memories, and the expected results.
struct Data {
    device: Device,
    matrix: Array2<f32>,
    x: Array1<f32>,
    y: Array1<f32>,
    on_device: tilewright::Matrix<f32>,
    x_on_device: tilewright::Buffer<f32>,
    y_on_device: tilewright::Buffer<f32>,
    sums: Array1<f32>,
    dot: f32,
    square: f32,
}

impl Data {
    fn contender(
        self: &Rc<Self>,
        name: &'static str,
        ours: bool,
        call: impl Fn(&Self) -> Result + 'static,
    ) -> RoundTrip {
        let data = Rc::clone(self);
        RoundTrip {
            name,
            ours,
            call: Box::new(move || call(&data)),
        }
    }

    fn check_sums(&self, sums: &Array1<f32>) -> Result {
        near(sums[sums.len() - 1], self.sums[sums.len() - 1])
    }
}

fn slice(array: &Array1<f32>) -> &[f32] {
    array.as_slice().expect("it is contiguous")
}

fn near(value: f32, expected: f32) -> Result {
    if (value - expected).abs() <= TOLERANCE * expected {
        return Ok(());
    }
    Err(format!("{value} instead of {expected}").into())
}
