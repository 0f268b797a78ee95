use crate::{launch, machines, numbers, output, small_integers, upload};
use cuda_std_test_kernels::atomics as kernels;
use tilewright::LaunchConfig;

/// The expected final words of an integer kernel, and the values that the threads may have got.
macro_rules! check_integers {
    ($element:ty, $kernel:expr, $config:expr, $initial:expr) => {{
        let config: LaunchConfig = $config;
        let threads = (config.grid.x * config.block.x) as usize;
        for device in machines() {
            let x: Vec<$element> = numbers(11).map(|n| n as $element).take(threads).collect();
            let initial: [$element; kernels::WORDS] = $initial;
            let mut words = upload(&device, &initial);
            let mut out = output::<$element>(&device, threads * 2);
            launch(
                &device,
                $kernel,
                config,
                (&upload(&device, &x), &mut words, &mut out),
            );
            let words = words.to_vec().unwrap();
            let sum = x.iter().fold(initial[0], |sum, x| sum.wrapping_add(*x));
            let expected = [
                sum,
                *x.iter().min().unwrap().min(&initial[1]),
                *x.iter().max().unwrap().max(&initial[2]),
                x.iter().fold(initial[3], |bits, x| bits & x),
                x.iter().fold(initial[4], |bits, x| bits | x),
                x.iter().fold(initial[5], |bits, x| bits ^ x),
                words[6],
                initial[7] + threads as $element,
            ];
            assert_eq!(words, expected);
            let out = out.to_vec().unwrap();
            let added = out.iter().step_by(2).copied();
            let exchanged = out.iter().skip(1).step_by(2).copied();
            // Every value that an addition left, another one has found, or it is the sum.
            let left = added.clone().zip(&x).map(|(old, x)| old.wrapping_add(*x));
            assert_same_values(left.chain([initial[0]]), added.chain([sum]));
            assert_same_values(
                x.iter().copied().chain([initial[6]]),
                exchanged.chain([words[6]]),
            );
        }
    }};
}

fn assert_same_values<T: Ord + std::fmt::Debug>(
    a: impl Iterator<Item = T>,
    b: impl Iterator<Item = T>,
) {
    let sorted = |mut values: Vec<T>| {
        values.sort();
        values
    };
    assert_eq!(sorted(a.collect()), sorted(b.collect()));
}

macro_rules! integer_tests {
    ($($test:ident: $element:ty, $global:ident, $shared:ident, $array:ident;)*) => {$(
        #[test]
        fn $test() {
            const ONES: $element = !0;
            let initial = [7, <$element>::MAX / 3, <$element>::MAX / 2, ONES, 5, 9, 42, 3];
            let dynamic = (kernels::WORDS * size_of::<$element>()) as u32;
            let one_block = LaunchConfig::new(1, 192);
            check_integers!($element, kernels::$global, LaunchConfig::new(5, 96), initial);
            check_integers!($element, kernels::$shared, one_block.with_dynamic_shared(dynamic), initial);
            check_integers!($element, kernels::$array, one_block, initial);
        }
    )*};
}
integer_tests! {
    u32_is_changed_atomically: u32, atomics_u32, shared_atomics_u32, array_atomics_u32;
    i32_is_changed_atomically: i32, atomics_i32, shared_atomics_i32, array_atomics_i32;
    u64_is_changed_atomically: u64, atomics_u64, shared_atomics_u64, array_atomics_u64;
    i64_is_changed_atomically: i64, atomics_i64, shared_atomics_i64, array_atomics_i64;
}

#[test]
fn floats_are_added_atomically() {
    for device in machines() {
        let integers = small_integers(1, 7 * 100);
        let config = LaunchConfig::new(7, 100);
        let sum: i32 = integers.iter().sum();

        let x: Vec<f32> = integers.iter().map(|&i| i as f32).collect();
        let mut sums = upload(&device, &[0.5_f32, 0.25]);
        launch(
            &device,
            kernels::atomics_f32,
            config,
            (&upload(&device, &x), &mut sums),
        );
        assert_eq!(
            sums.to_vec().unwrap(),
            [0.5, 0.25].map(|start| start + sum as f32)
        );

        let x: Vec<f64> = integers.iter().map(|&i| f64::from(i)).collect();
        let mut sums = upload(&device, &[0.5_f64, 0.25]);
        launch(
            &device,
            kernels::atomics_f64,
            config,
            (&upload(&device, &x), &mut sums),
        );
        assert_eq!(
            sums.to_vec().unwrap(),
            [0.5, 0.25].map(|start| start + f64::from(sum))
        );
    }
}
