//! Products of every shape.

use crate::cases::{Operands, Real, Shape, easily_filled, shapes, ways};
use crate::common::{machines, share};
use bytemuck::cast_slice;
use std::any::type_name;

for_each_type! {
    [f32 f64]
    products_of_every_shape_are_right
    products_of_small_integers_are_exact
    every_machine_and_kernel_gives_the_same_bits
    without_terms_the_product_is_zero
    products_without_outputs_are_empty
    a_result_that_is_there_is_overwritten
    threads_share_a_device
}

/// The naive loop's bits are promised by the library, the error bound by the literature: a kernel
/// that gave up the first would still have to keep the second.
fn products_of_every_shape_are_right<T: Real>() {
    for shape in share(type_name::<T>(), shapes()) {
        let operands = Operands::<T>::random(shape);
        let (naive, exact) = (operands.naive(), operands.exact());
        for product in operands.products() {
            operands.assert_same(&product, &naive);
            for (&found, exact) in product.iter().zip(&exact) {
                exact.assert_close(found, shape.k);
            }
        }
    }
}

fn products_of_small_integers_are_exact<T: Real>() {
    for shape in share(("integers", type_name::<T>()), shapes()) {
        let operands = Operands::<T>::small_integers(shape);
        operands.assert_products(&operands.by_ndarray());
    }
}

fn every_machine_and_kernel_gives_the_same_bits<T: Real>() {
    let operands = Operands::<T>::random(Shape::new(141, 150, 70));
    let expected = operands.naive();
    let machines = machines().into_iter().chain([easily_filled()]);
    for (number, machine) in share(type_name::<T>(), machines.enumerate()) {
        for &kernel in T::METHODS {
            for run in 1..=2 {
                let product = operands.multiply(&machine, kernel);
                let is_same = cast_slice::<T, u8>(&product) == cast_slice::<T, u8>(&expected);
                assert!(is_same, "machine {number}, {kernel:?}, run {run}");
            }
        }
    }
}

fn without_terms_the_product_is_zero<T: Real>() {
    for (m, n) in [(1, 1), (33, 130), (129, 4)] {
        let operands = Operands::<T>::random(Shape::new(m, n, 0));
        let zeros = vec![T::zero(); m * n];
        operands.assert_products(&zeros);
        for (device, kernel) in ways::<T>() {
            let (a, b) = operands.upload(&device);
            let mut c = device.matrix((m, n), &vec![T::of(7.0); m * n]).unwrap();
            kernel.multiply_into(&device, &a, &b, &mut c).unwrap();
            assert_eq!(c.to_vec().unwrap(), zeros);
        }
    }
}

fn products_without_outputs_are_empty<T: Real>() {
    for (m, n, k) in [(0, 5, 3), (5, 0, 3), (0, 0, 3), (0, 5, 0), (0, 0, 0)] {
        Operands::<T>::random(Shape::new(m, n, k)).assert_products(&[]);
    }
}

fn a_result_that_is_there_is_overwritten<T: Real>() {
    for shape in [Shape::new(33, 17, 5), Shape::new(128, 128, 16)] {
        let operands = Operands::<T>::random(shape);
        let expected = operands.naive();
        for (device, kernel) in ways::<T>() {
            let (a, b) = operands.upload(&device);
            let mut c = device
                .matrix(
                    (shape.m, shape.n),
                    &vec![T::of(f64::NAN); shape.m * shape.n],
                )
                .unwrap();
            for _ in 0..2 {
                kernel.multiply_into(&device, &a, &b, &mut c).unwrap();
                assert_eq!(c.to_vec().unwrap(), expected);
            }
        }
    }
}

fn threads_share_a_device<T: Real>() {
    for (device, kernel) in ways::<T>() {
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let device = &device;
                scope.spawn(move || {
                    let operands = Operands::<T>::random(Shape::new(50 + thread, 70, 33));
                    let expected = operands.naive();
                    for _ in 0..5 {
                        assert_eq!(operands.multiply(device, kernel), expected);
                    }
                });
            }
        });
    }
}
