//! NaN, infinities, zeros, and the free functions.

use crate::common::devices;
use crate::model::{self, ROWS, WARPS};
use crate::samples::{Sample, assert_sums, samples, tile};
use tilewright::Device;
use tilewright_kernels::scan::{FAN, SPAN_TILES};

for_each_type! {
    [f32 f64]
    a_nan_is_the_canonical_one_from_its_place_on
    infinities_go_on_from_their_places
    specials_go_from_group_to_group
}

/// A type with NaN and infinities.
trait Special: Sample {
    const INFINITY: Self;
    /// A NaN of another sign and payload than the canonical one.
    const OTHER_NAN: Self;
    /// The NaN of all sums.
    const NAN: Self;
    fn negative(self) -> Self;
}

macro_rules! specials {
    ($($float:ident: $other:literal, $canonical:literal;)*) => {$(
        impl Special for $float {
            const INFINITY: Self = Self::INFINITY;
            const OTHER_NAN: Self = Self::from_bits($other);
            const NAN: Self = Self::from_bits($canonical);
            fn negative(self) -> Self {
                -self
            }
        }
    )*};
}
specials! {
    f32: 0xffc0_1234, 0x7fff_ffff;
    f64: 0xfff8_0000_0000_1234, 0x7fff_ffff_ffff_ffff;
}

/// Places on both sides of the borders within a tile, of a vector, of a row and of a warp, and of a tile; the
/// first and the last.
fn places<T>(len: usize) -> Vec<usize> {
    let warp = tile::<T>() / WARPS;
    let borders = [
        16 / size_of::<T>(),
        warp / ROWS,
        warp,
        3 * warp,
        tile::<T>(),
        len,
    ];
    let around = borders.into_iter().flat_map(|border| [border - 1, border]);
    [0].into_iter()
        .chain(around)
        .filter(|&it| it < len)
        .collect()
}

/// Fails unless both scans have the bits of the model, and sums from `first` on are `from_there`: inclusive ones
/// from there, exclusive ones from the next on.
fn assert_special<T: Special>(device: &Device, data: &[T], first: usize, from_there: T) {
    for is_exclusive in [false, true] {
        assert_special_of(device, data, is_exclusive, first, from_there);
    }
}

fn assert_special_of<T: Special>(
    device: &Device,
    data: &[T],
    is_exclusive: bool,
    first: usize,
    from_there: T,
) {
    let x = device.upload(data).unwrap();
    let found = match is_exclusive {
        false => device.scan_inclusive(&x),
        true => device.scan_exclusive(&x),
    };
    let expected = model::scan(data, is_exclusive);
    let what = format!("from {first} on {from_there:?}, {device:?}");
    assert_sums(&found.unwrap(), &expected, &what);
    let start = data.len().min(first + usize::from(is_exclusive));
    let bytes = bytemuck::bytes_of(&from_there);
    let is_there = |sum: &T| bytemuck::bytes_of(sum) == bytes;
    assert!(
        expected[start..].iter().all(is_there),
        "the reference, {what}"
    );
    assert!(
        !expected[..start].iter().any(is_there),
        "the reference, {what}"
    );
}

fn a_nan_is_the_canonical_one_from_its_place_on<T: Special>() {
    let len = 2 * tile::<T>() + 9;
    let usual = samples::<T>(len, 7);
    for device in devices() {
        for place in places::<T>(len) {
            let mut data = usual.clone();
            data[place] = T::OTHER_NAN;
            assert_special(&device, &data, place, T::NAN);
        }
    }
}

/// One alone, and one of the other sign directly before or far after it.
fn infinities_go_on_from_their_places<T: Special>() {
    let len = 2 * tile::<T>() + 9;
    let usual = samples::<T>(len, 8);
    for device in devices() {
        for place in places::<T>(len) {
            let mut data = usual.clone();
            data[place] = T::INFINITY.negative();
            assert_special(&device, &data, place, T::INFINITY.negative());
            for first in [place.saturating_sub(1), 0] {
                if first == place {
                    continue;
                }
                data[first] = T::INFINITY;
                assert_special(&device, &data, place, T::NAN);
                data[first] = usual[first];
            }
        }
    }
}

fn specials_go_from_group_to_group<T: Special>() {
    let group = FAN * tile::<T>();
    let usual = samples::<T>(group + tile::<T>() + 3, 9);
    for device in devices() {
        for place in [group - 1, group] {
            let mut data = usual.clone();
            data[place] = T::OTHER_NAN;
            assert_special(&device, &data, place, T::NAN);
            data[place] = T::INFINITY;
            assert_special(&device, &data, place, T::INFINITY);
        }
        let mut data = usual.clone();
        data[group - 1..=group].copy_from_slice(&[T::INFINITY, T::INFINITY.negative()]);
        assert_special(&device, &data, group, T::NAN);
    }
}

/// The exclusive scan: `groups` has the inclusive one.
#[test]
fn specials_go_from_span_to_span() {
    let span = SPAN_TILES * tile::<f32>();
    let mut data = samples::<f32>(span + tile::<f32>() + 3, 10);
    data[span - 1..=span].copy_from_slice(&[f32::INFINITY, f32::NEG_INFINITY]);
    for device in devices() {
        assert_special_of(&device, &data, true, span, <f32 as Special>::NAN);
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
