//! Values at the ends of the range, and data that makes a naive formula fail.

use crate::common::devices;
use crate::common::random::Random;

/// Terms whose squares overflow, underflow, or are lost beside others, and what their norm is.
fn norms() -> Vec<(Vec<f64>, f64)> {
    let tiny = f64::from_bits(1);
    vec![
        (vec![3e300, 4e300], 5e300),
        (vec![3e-300, -4e-300], 5e-300),
        (vec![f64::MAX], f64::MAX),
        (vec![f64::MAX, f64::MAX], f64::INFINITY),
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

/// n^4 d^2 / 16 on the way to d^2 / 4, for halves of 2^14 elements that are 0 and d.
#[test]
fn a_variance_of_f64_is_infinite_where_a_square_on_the_way_overflows() {
    const LEN: usize = 1 << 14;
    for device in devices() {
        for (exponent, expected) in [(485.0_f64, 968.0_f64.exp2()), (486.0, f64::INFINITY)] {
            let mut terms = vec![0.0; LEN];
            terms[LEN / 2..].fill(exponent.exp2());
            let terms = device.upload(&terms).unwrap();
            let variance = device.reduce_variance(&terms).unwrap();
            assert_eq!(variance, expected, "2^{exponent}, {device:?}");
        }
    }
}

/// The sum overflows before it is divided.
#[test]
fn a_mean_of_f64_is_infinite_where_the_sum_is() {
    for device in devices() {
        let large = device.upload(&[1023.0_f64.exp2(); 2]).unwrap();
        assert_eq!(device.reduce_mean(&large).unwrap(), f64::INFINITY);
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
