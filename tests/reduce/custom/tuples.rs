//! Several reductions of one read.

use super::*;
use tilewright_test_support::assert_kind;

#[test]
fn each_has_the_bits_that_it_has_alone() {
    for device in simulators() {
        let module = device.load(&KERNELS).unwrap();
        for len in lengths::<f32>().filter(|&len| len > 0) {
            let data: Vec<f32> = (0..len).map(|i| ((i * 7919 % 1021) as f32).sin()).collect();
            let x = device.upload(&data).unwrap();
            let (sum, max, norm) = module.reduce(several, &x).unwrap().get();
            assert_eq!(
                sum.to_bits(),
                device.reduce(&x, ops::Sum).unwrap().to_bits()
            );
            assert_eq!(max, device.reduce(&x, ops::Max).unwrap());
            assert_eq!(
                norm.to_bits(),
                device.reduce(&x, ops::Norm2).unwrap().to_bits()
            );

            let wide: Vec<f64> = data.iter().map(|&x| x.into()).collect();
            let y = device.upload(&wide).unwrap();
            let (least, variance) = module.reduce(two_of_f64, &y).unwrap().get();
            assert_eq!(least, device.reduce(&y, ops::ArgMin).unwrap());
            let expected = device.reduce(&y, ops::Variance).unwrap();
            assert_eq!(variance.to_bits(), expected.to_bits(), "{len}");
        }
    }
}

#[test]
fn so_has_each_of_rows_columns_and_segments() {
    for device in simulators() {
        let module = device.load(&KERNELS).unwrap();
        for (rows, len) in [(33, 5), (9, 300), (2, 40_000)] {
            let data: Vec<f32> = (0..rows * len)
                .map(|i| ((i * 7919 % 1021) as f32).sin())
                .collect();
            let x = device.matrix((rows, len), &data).unwrap();
            let sums = device.reduce_rows(&x, ops::Sum).unwrap().to_vec().unwrap();
            let means = device.reduce_rows(&x, ops::Mean).unwrap().to_vec().unwrap();
            let extremes = device
                .reduce_rows(&x, ops::MinMax)
                .unwrap()
                .to_vec()
                .unwrap();
            for found in [
                module.reduce_rows(four_along, &x),
                module.reduce_columns(four_along, x.t()),
            ] {
                for (row, found) in found.unwrap().to_vec().unwrap().iter().enumerate() {
                    let (sum, mean, [min, max], own) = found.get();
                    assert_eq!((sum, own), (sums[row], sums[row]), "{rows} x {len}");
                    assert_eq!((mean, [min, max]), (means[row], extremes[row]));
                }
            }
            let offsets: Vec<usize> = (0..=rows).map(|row| row * len).collect();
            let segments = device.segments(&offsets).unwrap();
            let y = device.upload(&data).unwrap();
            let found = module
                .reduce_segments(two_of_segments, &y, &segments)
                .unwrap();
            let places = device
                .reduce_segments(&y, &segments, ops::ArgMax)
                .unwrap()
                .to_vec()
                .unwrap();
            for (row, found) in found.to_vec().unwrap().iter().enumerate() {
                assert_eq!(found.get(), (places[row], sums[row]));
            }
        }
    }
}

#[test]
fn one_that_needs_an_element_has_no_value_of_none() {
    let device = Device::simulator();
    let module = device.load(&KERNELS).unwrap();
    let none = device.upload::<f32>(&[]).unwrap();
    let error = module.reduce(several, &none).unwrap_err();
    assert_kind!(error is ErrorKind::NoElements { .. });
}
