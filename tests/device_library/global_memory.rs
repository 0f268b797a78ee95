use crate::{launch, machines, output, upload};
use cuda_std::global::{Global, GlobalMut};
use cuda_std::kernel::{Kernel, ScalarParam};
use cuda_std_test_kernels::global_memory as kernels;
use half::f16;
use std::fmt::Debug;
use tilewright::{Element, LaunchConfig};

fn check_copy<T, K>(kernel: K, lanes: usize, value: fn(usize) -> T)
where
    T: Element + ScalarParam + PartialEq + Debug,
    K: for<'launch> Kernel<
        Params<'launch> = (
            Global<'launch, T>,
            GlobalMut<'launch, T>,
            GlobalMut<'launch, T>,
            GlobalMut<'launch, T>,
        ),
    >,
{
    for device in machines() {
        for vectors in [0, 1, 63, 100] {
            let x: Vec<T> = (0..vectors * lanes).map(value).collect();
            let reversed: Vec<T> = x
                .chunks(lanes)
                .flat_map(|vector| vector.iter().rev().copied())
                .collect();
            let (mut plain, mut streamed) = (output(&device, x.len()), output(&device, x.len()));
            let mut swapped = upload(&device, &x);
            let arguments = (
                &upload(&device, &x),
                &mut plain,
                &mut streamed,
                &mut swapped,
            );
            launch(
                &device,
                kernel,
                LaunchConfig::for_elements(vectors, 64),
                arguments,
            );
            assert_eq!(plain.to_vec().unwrap(), x);
            assert_eq!(streamed.to_vec().unwrap(), x);
            assert_eq!(swapped.to_vec().unwrap(), reversed);
        }
    }
}

#[test]
fn vectors_keep_their_order() {
    check_copy(kernels::copy_f32x2, 2, |i| i as f32);
    check_copy(kernels::copy_f32x4, 4, |i| i as f32);
    check_copy(kernels::copy_f64x1, 1, |i| i as f64);
    check_copy(kernels::copy_f64x2, 2, |i| i as f64);
    check_copy(kernels::copy_f16x4, 4, |i| f16::from_bits(i as u16));
    check_copy(kernels::copy_f16x8, 8, |i| f16::from_bits(i as u16));
    check_copy(kernels::copy_i32x2, 2, |i| -(i as i32));
    check_copy(kernels::copy_i32x4, 4, |i| -(i as i32));
    check_copy(kernels::copy_u8x8, 8, |i| i as u8);
    check_copy(kernels::copy_u8x16, 16, |i| i as u8);
}

#[test]
fn loads_by_way_of_chosen_caches_are_loads() {
    check_copy(kernels::cached_f32x1, 1, |i| i as f32);
    check_copy(kernels::cached_f32x2, 2, |i| i as f32);
    check_copy(kernels::cached_f64x2, 2, |i| i as f64);
    check_copy(kernels::cached_u8x4, 4, |i| i as u8);
}

#[test]
fn words_are_streamed() {
    for device in machines() {
        let x: Vec<f32> = (0..77).map(|i| i as f32).collect();
        let y: Vec<f16> = (0..154).map(f16::from_bits).collect();
        let swapped: Vec<f16> = y.chunks(2).flat_map(|pair| [pair[1], pair[0]]).collect();
        let (mut out, mut pairs) = (
            output::<f32>(&device, x.len()),
            output::<f16>(&device, y.len()),
        );
        let arguments = (
            &upload(&device, &x),
            &mut out,
            &upload(&device, &y),
            &mut pairs,
        );
        launch(
            &device,
            kernels::stream_words,
            LaunchConfig::new(3, 32),
            arguments,
        );
        assert_eq!(out.to_vec().unwrap(), x);
        assert_eq!(pairs.to_vec().unwrap(), swapped);
    }
}

#[test]
fn constants_are_read_by_all_and_by_each() {
    let primes = [2.0, 3.0, 5.0, 7.0, 11.0, 13.0, 17.0, 19.0, 0.0];
    for device in machines() {
        let x: Vec<f64> = (0..200).map(|i| f64::from(i % 13) - 6.0).collect();
        let mut y = output::<f64>(&device, x.len());
        launch(
            &device,
            kernels::polynomial,
            LaunchConfig::new(4, 64),
            (&upload(&device, &x), &mut y),
        );
        for (i, (x, y)) in x.iter().zip(y.to_vec().unwrap()).enumerate() {
            let polynomial = 1.0 - 2.0 * x + 0.5 * x * x + 3.0 * x.powi(4);
            assert_eq!(y, polynomial * primes[i % 9], "at {x}");
        }
    }
}
