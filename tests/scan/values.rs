//! NaN, infinities, zeros, and the free functions.

use crate::common::devices;
use crate::samples::{samples, tile};

const NAN: u32 = 0x7fff_ffff;

fn bits(sums: &[f32]) -> Vec<u32> {
    sums.iter().map(|sum| sum.to_bits()).collect()
}

#[test]
fn a_nan_is_the_canonical_one_from_its_place_on() {
    let len = 2 * tile::<f32>() + 9;
    for device in devices() {
        for place in [0, 1, 130, 1024, tile::<f32>() - 1, tile::<f32>(), len - 1] {
            let mut data = samples::<f32>(len, 7);
            let usual = device.upload(&data).unwrap();
            data[place] = f32::from_bits(0xffc0_1234);
            let x = device.upload(&data).unwrap();
            let found = bits(&device.scan_inclusive(&x).unwrap().to_vec().unwrap());
            let without = bits(&device.scan_inclusive(&usual).unwrap().to_vec().unwrap());
            assert_eq!(found[..place], without[..place]);
            assert!(found[place..].iter().all(|sum| *sum == NAN), "{place}");
            let found = bits(&device.scan_exclusive(&x).unwrap().to_vec().unwrap());
            assert!(found[..=place].iter().all(|sum| *sum != NAN), "{place}");
            assert!(found[place + 1..].iter().all(|sum| *sum == NAN), "{place}");
        }
    }
}

#[test]
fn opposite_infinities_are_nan_from_the_second_on() {
    let mut data = vec![1.0_f32; tile::<f32>() + 50];
    let last = data.len() - 10;
    (data[40], data[last]) = (f32::INFINITY, f32::NEG_INFINITY);
    for device in devices() {
        let x = device.upload(&data).unwrap();
        let found = device.scan_inclusive(&x).unwrap().to_vec().unwrap();
        assert_eq!(found[39], 40.0);
        assert!(found[40..last].iter().all(|sum| *sum == f32::INFINITY));
        assert!(bits(&found[last..]).iter().all(|sum| *sum == NAN));
    }
}

#[test]
fn sums_of_negative_zeros_are_zero() {
    for device in devices() {
        let x = device.upload(&[-0.0_f64; 300]).unwrap();
        for sums in [device.scan_inclusive(&x), device.scan_exclusive(&x)] {
            let sums = sums.unwrap().to_vec().unwrap();
            assert!(sums.iter().all(|sum| sum.to_bits() == 0));
        }
    }
}

#[test]
fn free_functions_scan_host_data() {
    let data = [5_i64, -7, 1];
    assert_eq!(tilewright::scan_inclusive(&data).unwrap(), [5, -2, -1]);
    assert_eq!(tilewright::scan_exclusive(&data).unwrap(), [0, 5, -2]);
    assert_eq!(tilewright::scan_exclusive::<f32>(&[]).unwrap(), []);
}
