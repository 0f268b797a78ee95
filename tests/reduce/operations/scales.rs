//! Values at the ends of the range, and data that makes a naive formula fail.

use crate::common::devices;
use crate::common::random::Random;

/// Terms whose squares overflow, underflow, or are lost beside others, and their norm.
fn norms() -> Vec<(Vec<f64>, f64)> {
    let tiny = f64::from_bits(1);
    vec![
        (vec![3e300, 4e300], 5e300),
        (vec![3e-300, -4e-300], 5e-300),
        (vec![f64::MAX], f64::MAX),
        (vec![f64::MAX, f64::MAX], f64::INFINITY),
        (vec![f64::MAX, 1e293], f64::MAX),
        (vec![f64::MAX, 1e303], f64::INFINITY),
        (vec![f64::MAX / 10.0; 100], f64::MAX),
        (vec![f64::MAX / 13.0; 169], f64::MAX),
        (vec![tiny], tiny),
        (vec![tiny; 10_000], 100.0 * tiny),
        (vec![f64::MIN_POSITIVE, 3e-160], 3e-160),
        (vec![5e-160, 12e-160], 13e-160),
        (vec![1e300, 1.0, 1e-300], 1e300),
        (vec![1e200, f64::NAN, 1e-200], f64::NAN),
        (vec![f64::INFINITY, 1e-300], f64::INFINITY),
        (vec![f64::NEG_INFINITY, f64::NAN], f64::NAN),
    ]
}

#[test]
fn norms_neither_overflow_nor_underflow_on_the_way() {
    for device in devices() {
        for (terms, expected) in norms() {
            let norm = device
                .reduce_norm_2(&device.upload(&terms).unwrap())
                .unwrap();
            let is_right = if expected.is_finite() {
                (norm - expected).abs() <= 4.0 * f64::EPSILON * expected
            } else {
                norm.to_bits() << 1 == expected.to_bits() << 1
                    || (norm.is_nan() && expected.is_nan())
            };
            assert!(is_right, "{norm} instead of {expected}, {device:?}");
        }
    }
}

#[test]
fn norms_of_f32_are_rounded_once() {
    for device in devices() {
        for terms in [
            vec![f32::MAX / 2.0; 3],
            vec![f32::from_bits(1); 9],
            vec![1e-30, 1e30],
        ] {
            let exact: f64 = terms.iter().map(|&x| f64::from(x) * f64::from(x)).sum();
            let norm = device
                .reduce_norm_2(&device.upload(&terms).unwrap())
                .unwrap();
            assert_eq!(norm, exact.sqrt() as f32, "{device:?}");
        }
    }
}

/// A mean that is 2^30 standard deviations: the mean of the squares less the square of the mean has
/// no digit left in f64.
#[test]
fn variances_survive_a_large_mean() {
    let mut random = Random::new(5);
    let deviations: Vec<f64> = (0..20_000).map(|_| random.symmetric(20)).collect();
    let terms: Vec<f64> = deviations.iter().map(|it| it + 1_073_741_824.0).collect();
    let len = terms.len() as f64;
    let mean = deviations.iter().sum::<f64>() / len;
    let expected = deviations.iter().map(|it| (it - mean).powi(2)).sum::<f64>() / len;
    for device in devices() {
        let variance = device
            .reduce_variance(&device.upload(&terms).unwrap())
            .unwrap();
        let error = (variance - expected).abs() / expected;
        // 4 h u k with a tree of height 21 and k = 2^31.
        assert!(
            error <= 4.0 * 25.0 * f64::EPSILON / 2.0 * 2_147_483_648.0,
            "{error}"
        );
        // Far less than the bound, as errors of both signs cancel.
        assert!(error <= 1e-7, "{error}");
    }
}

/// The variance of halves of the elements that are `low` and `high` is the square of half of their difference, and
/// combining the halves multiplies it by n^4 / 4.
#[test]
fn a_variance_is_infinite_only_where_it_is_beyond_f64() {
    const LEN: usize = 1 << 14;
    let power = |exponent: f64| exponent.exp2();
    let cases = [
        (0.0, power(485.0), power(968.0)),
        (0.0, power(486.0), power(970.0)),
        (0.0, power(512.0), power(1022.0)),
        (-power(511.0), power(511.0), power(1022.0)),
        (0.0, power(513.0), f64::INFINITY),
        (0.0, f64::MAX, f64::INFINITY),
        (-f64::MAX, f64::MAX, f64::INFINITY),
        (power(560.0), power(560.0).next_up(), power(1014.0)),
        (power(565.0), power(565.0).next_up(), f64::INFINITY),
        (power(563.0), power(563.0), 0.0),
        (f64::MAX, f64::MAX, 0.0),
        (power(-511.0), 0.0, power(-1024.0)),
    ];
    for device in devices() {
        for (low, high, expected) in cases {
            let mut terms = vec![low; LEN];
            terms[LEN / 2..].fill(high);
            let variance = device.reduce_variance(&device.upload(&terms).unwrap());
            assert_eq!(variance.unwrap(), expected, "{low:e}, {high:e}, {device:?}");
        }
    }
}

/// Sorted data, in which sums and differences of sums are as large as they can be.
#[test]
fn a_variance_does_not_depend_on_the_order_of_large_elements() {
    let sorted = [vec![1e145_f64; 50_000], vec![-1e145; 50_000]].concat();
    let alternating = [1e145_f64, -1e145].repeat(50_000);
    for device in devices() {
        for terms in [&sorted, &alternating] {
            let variance = device.reduce_variance(&device.upload(terms).unwrap());
            let variance: f64 = variance.unwrap();
            assert!((variance / 1e290 - 1.0).abs() < 1e-14, "{variance:e}");
        }
        let same = device.reduce_variance(&device.upload(&[1e305_f64; 1024]).unwrap());
        assert_eq!(same.unwrap(), 0.0, "a sum of 2^10 equal elements is exact");
    }
}

/// Sums that would overflow before they are divided.
#[test]
fn a_mean_of_finite_numbers_is_finite() {
    let power = 1023.0_f64.exp2();
    let (infinity, greatest) = (f64::INFINITY, f64::MAX);
    for device in devices() {
        for (terms, expected) in [
            (vec![power; 2], power),
            (vec![1.7e308; 2], 1.7e308),
            (vec![greatest; 1000], greatest),
            (vec![-greatest; 1001], -greatest),
            (vec![greatest, -greatest, 1e-300, 2e-300], 7.5e-301),
            (vec![greatest, 3.0, -greatest, 6.0, 9.0], 3.6),
            (vec![greatest, -greatest, greatest], greatest / 3.0),
            (vec![infinity, greatest], infinity),
            (vec![greatest, -infinity], -infinity),
        ] {
            let mean = device.reduce_mean(&device.upload(&terms).unwrap());
            let (mean, error): (f64, f64) = (mean.unwrap(), 8.0 * f64::EPSILON * expected.abs());
            assert!(
                mean == expected || (mean - expected).abs() <= error,
                "{mean:e} instead of {expected:e}, {device:?}"
            );
        }
        for terms in [[infinity, -infinity], [f64::NAN, greatest]] {
            let mean = device.reduce_mean(&device.upload(&terms).unwrap());
            let mean: f64 = mean.unwrap();
            assert!(mean.is_nan(), "{mean:e} of {terms:?}");
        }
    }
}

#[test]
fn masks_are_counted_by_name() {
    for device in devices() {
        let mut mask = vec![0_u8; 100_000];
        let count = |mask: &[u8]| {
            let mask = device.upload(mask).unwrap();
            let (any, all) = (
                device.reduce_any(&mask).unwrap(),
                device.reduce_all(&mask).unwrap(),
            );
            (device.reduce_count(&mask).unwrap(), any, all)
        };
        assert_eq!(count(&[]), (0, false, true));
        assert_eq!(count(&mask), (0, false, false));
        mask[77_777] = 4;
        assert_eq!(count(&mask), (1, true, false));
        mask.fill(255);
        assert_eq!(count(&mask), (100_000, true, true));
    }
}
