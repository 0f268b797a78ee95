//! Reductions by consecutive equal keys.

use crate::common::devices;
use tilewright::{Device, Element, ErrorKind, ops};
use tilewright_test_support::assert_kind;

/// Runs of lengths around those of warps, blocks and sections, from naive comparison.
fn naive<K: Copy + PartialEq>(keys: &[K], x: &[i32]) -> (Vec<K>, Vec<i64>) {
    let (mut of_runs, mut sums) = (Vec::new(), Vec::new());
    for (&key, &x) in keys.iter().zip(x) {
        if of_runs.last() != Some(&key) {
            of_runs.push(key);
            sums.push(0);
        }
        *sums.last_mut().unwrap() += i64::from(x);
    }
    (of_runs, sums)
}

/// Keys in another program's memory start wherever their type may.
#[cfg(feature = "cuda")]
#[test]
fn keys_of_bytes_start_anywhere() {
    let device = Device::simulator();
    let bytes: Vec<u8> = (0..100).map(|place| place / 24).collect();
    let buffer = device.upload(&bytes).unwrap();
    for first in 0..8 {
        let address = buffer.device_address() + first as u64;
        let (keys, _) = bytes[first..first + 88].as_chunks::<8>();
        let x = vec![1; keys.len()];
        // SAFETY: initialised memory of one allocation, which lives until the end and which nothing writes.
        let view =
            unsafe { tilewright::interop::raw::view::<[u8; 8]>(&device, address, keys.len()) };
        let (of_runs, sums) = device
            .reduce_by_key(view.unwrap(), &device.upload(&x).unwrap(), ops::Sum)
            .unwrap();
        let found = (of_runs.to_vec().unwrap(), sums.to_vec().unwrap());
        assert_eq!(found, naive(keys, &x), "{first}");
    }
}

fn assert_runs<K: Element + PartialEq + std::fmt::Debug>(device: &Device, keys: &[K]) {
    let x: Vec<i32> = (0..keys.len())
        .map(|i| (i * 7919 % 1021) as i32 - 500)
        .collect();
    let expected = naive(keys, &x);
    let (keys, x) = (device.upload(keys).unwrap(), device.upload(&x).unwrap());
    let (found_keys, sums) = device.reduce_by_key(&keys, &x, ops::Sum).unwrap();
    assert_eq!(found_keys.to_vec().unwrap(), expected.0);
    assert_eq!(sums.to_vec().unwrap(), expected.1);
}

#[test]
fn runs_of_keys_of_every_size_are_reduced() {
    for device in devices() {
        for lengths in [
            vec![1],
            vec![1; 300],
            vec![255, 1, 256, 2, 257],
            vec![20_000, 3, 1, 1, 9000],
        ] {
            let numbers: Vec<u64> = lengths
                .iter()
                .enumerate()
                .flat_map(|(run, &len)| vec![(run * 37 % 11) as u64; len])
                .collect();
            assert_runs(&device, &numbers);
            assert_runs(
                &device,
                &numbers.iter().map(|&x| x as u8).collect::<Vec<_>>(),
            );
            assert_runs(
                &device,
                &numbers.iter().map(|&x| x as i16 - 5).collect::<Vec<_>>(),
            );
            assert_runs(
                &device,
                &numbers.iter().map(|&x| x as f32 / 2.0).collect::<Vec<_>>(),
            );
            assert_runs(
                &device,
                &numbers.iter().map(|&x| [x as u16, 7]).collect::<Vec<_>>(),
            );
        }
    }
}

/// NaN is its own key, and zeros of either sign are two.
#[test]
fn keys_are_compared_by_their_bits() {
    for device in devices() {
        let keys = device
            .upload(&[f32::NAN, f32::NAN, 0.0, -0.0, -0.0])
            .unwrap();
        let (runs, of_runs) = device.segments_of_keys(&keys).unwrap();
        let x = device.upload(&[1, 2, 3, 4, 5]).unwrap();
        let sums = device.reduce_segments(&x, &runs, ops::Sum).unwrap();
        assert_eq!(sums.to_vec().unwrap(), [3_i64, 3, 9]);
        let bits: Vec<u32> = of_runs
            .to_vec()
            .unwrap()
            .iter()
            .map(|x| x.to_bits())
            .collect();
        assert_eq!(bits, [f32::NAN.to_bits(), 0, 1 << 31]);
    }
}

#[test]
fn no_keys_have_no_runs_and_each_element_needs_a_key() {
    for device in devices() {
        let keys = device.upload::<u32>(&[]).unwrap();
        let x = device.upload::<f32>(&[]).unwrap();
        let (keys, maxima) = device.reduce_by_key(&keys, &x, ops::Max).unwrap();
        assert!(keys.is_empty() && maxima.is_empty());
        let keys = device.upload(&[1_u8, 2]).unwrap();
        let x = device.upload(&[1.0_f32]).unwrap();
        let error = device.reduce_by_key(&keys, &x, ops::Sum).unwrap_err();
        assert_kind!(error is ErrorKind::WrongLength { .. });
        assert_eq!(error.operation(), "reduce_by_key");
    }
}
