//! Results that tiles of 144 x 128 fill the device with have the bits of all others: such tiles compute the transpose.

use crate::common::random::Random;
use crate::common::{devices, share};
use crate::harness::{Bits, Host, Shape, assert_same_bits, hoppers, orders};
use crate::skinny::{New, assert_batch, product};
use half::{bf16, f16};
use std::any::type_name;
use std::fmt::Debug;
use tilewright::tuning::{SelectionReason, TileSize};
use tilewright::{Device, Element, Matmul, MatmulInto, Order};

/// Rows of C that one column of tiles has, if it fills the device.
fn long_side(device: &Device) -> usize {
    144 * (device.properties().multiprocessors as usize / 2).max(1)
}

/// Whole tiles and tails, rows of C and of the operands that are and are not multiples of 16 bytes, and no products.
fn shapes(device: &Device) -> [Shape; 4] {
    let long = long_side(device);
    [
        (long, 256, 64),
        (long - 3, 248, 136),
        (long - 16, 251, 75),
        (long, 256, 0),
    ]
}

/// Fails unless products have the bits of those in small tiles, and row-major results are computed in turned ones if A
/// lies along K.
fn assert_turned<T, O>(
    device: &Device,
    new: New<T, f32>,
    of: impl Fn(f64) -> T,
    as_output: fn(i8) -> O,
) where
    T: MatmulInto<O, f32> + Debug,
    O: Element + Bits + Debug,
{
    // Each order with two of the shapes.
    let shapes = shapes(device);
    let all = (0..16).map(|case| (shapes[(case % 8 / 2 + case / 8 * 2) % 4], case % 8));
    for (shape, number) in share(type_name::<(T, O)>(), all) {
        let [of_a, of_b, of_c] = orders(number);
        // The row-major transpose of a column-major result.
        let (long, short, k) = shape;
        let (m, n) = match of_c {
            Order::RowMajor => (long, short),
            Order::ColumnMajor => (short, long),
        };
        let mut random = Random::new((m * n) as u64);
        let a = Host::new(m, k, |_, _| of(random.signed_unit()));
        let b = Host::new(k, n, |_, _| of(random.signed_unit()));
        let old = Host::new(m, n, |row, column| as_output((row * 3 + column) as i8));
        let (a, b) = (a.upload(device, of_a), b.upload(device, of_b));
        let plan = new(&a, &b).plan_as::<O>().unwrap();
        if of_c == Order::RowMajor {
            let is_turned = plan.reason == SelectionReason::Turned { rounds: 1 };
            assert_eq!(is_turned, of_a == Order::RowMajor, "{plan}");
            assert_eq!(is_turned, plan.kernel.contains("turned"), "{plan}");
        }
        for has_epilogue in [false, true] {
            let case = (shape, number, has_epilogue, device);
            let run = |tiles| product(new, (&a, &b), (&old, of_c), (has_epilogue, tiles));
            assert_same_bits(&run(None), &run(Some(TileSize::Small)), &case);
        }
    }
}

#[test]
fn turned_products_of_halves() {
    for device in hoppers(devices()) {
        assert_turned(
            &device,
            |a, b| Matmul::new(a, b),
            f16::from_f64,
            |it| f16::from_f64(it.into()),
        );
        assert_turned(&device, |a, b| Matmul::new(a, b), f16::from_f64, f32::from);
        assert_turned(
            &device,
            |a, b| Matmul::new(a, b),
            bf16::from_f64,
            |it| bf16::from_f64(it.into()),
        );
        assert_turned(&device, |a, b| Matmul::new(a, b), bf16::from_f64, f32::from);
    }
}

/// Each product of a batch has the bits that it has alone, where B is shared and where it is not.
#[test]
fn batches_of_turned_products() {
    for device in hoppers(devices()) {
        let shape = (long_side(&device) - 16, 249, 72);
        let reason = SelectionReason::Turned { rounds: 2 };
        assert_batch(&device, 2, shape, reason);
    }
}
