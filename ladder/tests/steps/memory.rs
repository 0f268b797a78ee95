//! The sections of the ladder of memories.

use crate::common::random::Random;
use crate::common::{devices, machines};
use tilewright::testing::{seeds, under_seeds};
use tilewright::{
    AddressMode, Buffer, Counts, Device, ErrorKind, Operation, TextureFilter, TextureOptions,
};
use tilewright_ladder::memory::{
    self, ARRAY_ELEMENTS, Array, BANKS, Caches, Constants, DIVERGING_STEP, MISALIGNMENT, PART,
    Pattern, STATIC_ELEMENTS, Shared, TABLE_ELEMENTS,
};

/// What one launch on its own simulator counts.
fn counts(launch: impl FnOnce(&Device)) -> Counts {
    let device = Device::simulator();
    let ((), report) = device
        .with_report(|| {
            launch(&device);
            Ok(())
        })
        .unwrap();
    report.launches[0].counts.clone()
}

fn integers(len: usize) -> Vec<f32> {
    let mut random = Random::new(len as u64);
    (0..len)
        .map(|_| (random.bits() % 17) as f32 - 8.0)
        .collect()
}

#[test]
fn arrays_give_the_same_wherever_they_are() {
    let expected = |x: u32, rounds: u32| {
        let mut state: Vec<u32> = (0..ARRAY_ELEMENTS as u32)
            .map(|k| x.wrapping_add(k))
            .collect();
        let mut sum = 0_u32;
        for _ in 0..rounds {
            for element in &mut state {
                sum = sum.wrapping_mul(5).wrapping_add(*element);
                *element = sum;
            }
        }
        sum
    };
    for device in machines() {
        for (elements, rounds) in [(0, 3), (1, 0), (1, 1), (257, 2), (1000, 7)] {
            let mut random = Random::new(elements as u64);
            let x: Vec<u32> = (0..elements).map(|_| random.bits() as u32).collect();
            let sums: Vec<u32> = x.iter().map(|x| expected(*x, rounds)).collect();
            let x = device.upload(&x).unwrap();
            for array in Array::ALL {
                let mut y = device.uninit(elements).unwrap();
                memory::array_rounds(&device, array, rounds, &x, &mut y).unwrap();
                assert_eq!(y.to_vec().unwrap(), sums, "{array:?} on {device:?}");
            }
        }
    }
}

fn check_reversed(device: &Device, elements: usize) {
    let data = integers(elements);
    let reversed: Vec<f32> = data
        .chunks(PART)
        .flat_map(|part| part.iter().rev().copied())
        .collect();
    let x = device.upload(&data).unwrap();
    for shared in Shared::ALL {
        let mut y = device.uninit(elements).unwrap();
        memory::reverse_parts(device, shared, &x, &mut y).unwrap();
        assert_eq!(y.to_vec().unwrap(), reversed, "{shared:?} on {device:?}");
    }
}

#[test]
fn shared_memory_of_both_kinds_reverses_parts() {
    for device in machines() {
        for elements in [0, 1, 2, 255, 256, 257, 1000, 4096] {
            check_reversed(&device, elements);
        }
    }
    under_seeds(seeds(32), |device| check_reversed(device, 600));
}

/// The greatest common divisor.
fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[test]
fn every_stride_reads_its_words() {
    let expected = |thread: u32, stride: u32, rounds: u32| {
        (0..rounds).fold(0_u32, |sum, round| {
            sum + 7 * ((thread % 32 * stride + round) % 1024)
        })
    };
    for device in devices() {
        for stride in 1..=BANKS {
            let mut y = device.uninit(300).unwrap();
            memory::read_banks(&device, stride, 40, &mut y).unwrap();
            for (thread, sum) in (0..).zip(y.to_vec().unwrap()) {
                let thread = thread % 256;
                assert_eq!(sum, expected(thread, stride, 40), "stride {stride}");
            }
        }
    }
}

/// As many lanes share a bank as the greatest common divisor of the stride and 32.
#[test]
fn conflicts_grow_with_the_common_divisor() {
    for stride in 1..=BANKS {
        let counts = counts(|device| {
            let mut y = device.zeros(32).unwrap();
            memory::read_banks(device, stride, 8, &mut y).unwrap();
        });
        let loads = counts.of(Operation::SharedLoad).shared;
        let ways = u64::from(gcd(stride, BANKS));
        assert_eq!(loads.wavefronts, ways * loads.requests, "stride {stride}");
    }
}

/// One test for all of constant memory: devices are shared by tests, and so is the table.
#[test]
fn the_host_sets_what_constants_are() {
    let mut random = Random::new(3);
    for device in machines() {
        for _ in 0..2 {
            let table: Vec<u32> = (0..TABLE_ELEMENTS).map(|_| random.bits() as u32).collect();
            memory::write_table(&device, &table).unwrap();
            for (constants, step) in [
                (Constants::Uniform, 0),
                (Constants::Diverging, DIVERGING_STEP),
            ] {
                let mut y = device.uninit(300).unwrap();
                memory::read_table(&device, constants, 1100, &mut y).unwrap();
                for (thread, sum) in (0_u32..).zip(y.to_vec().unwrap()) {
                    let first = thread % 256 % 32 * step;
                    let expected = (0..1100).fold(0_u32, |sum, round| {
                        sum.wrapping_add(table[(first + round) as usize % TABLE_ELEMENTS])
                    });
                    assert_eq!(sum, expected, "{constants:?}, thread {thread}");
                }
            }
        }
        let error = memory::write_table(&device, &[0; 3]).unwrap_err();
        assert!(
            matches!(error.kind(), ErrorKind::WrongLength { found: 3, .. }),
            "{error}"
        );
    }
}

/// As the hand-written kernel is defined, with the texture's modes.
fn shifted(
    x: &[f32],
    (rows, columns): (usize, usize),
    shift: (f32, f32),
    options: TextureOptions,
) -> Vec<f32> {
    let address = |index: i64, extent: usize| {
        let extent = extent as i64;
        let folded = index.rem_euclid(2 * extent);
        match options.address_mode {
            AddressMode::Clamp => Some(index.clamp(0, extent - 1)),
            AddressMode::Wrap => Some(index.rem_euclid(extent)),
            AddressMode::Mirror => Some(folded.min(2 * extent - 1 - folded)),
            AddressMode::Border => Some(index).filter(|index| (0..extent).contains(index)),
        }
    };
    let element = |row: i64, column: i64| match (address(row, rows), address(column, columns)) {
        (Some(row), Some(column)) => x[row as usize * columns + column as usize],
        _ => 0.0,
    };
    let neighbours = |place: f32| match options.filter {
        TextureFilter::Point => (place.floor() as i64, 0.0),
        TextureFilter::Linear => {
            let place = place - 0.5;
            (place.floor() as i64, place - place.floor())
        }
    };
    let mut y = Vec::new();
    for row in 0..rows {
        let (first_row, b) = neighbours(row as f32 + 0.5 + shift.1);
        for column in 0..columns {
            let (first, a) = neighbours(column as f32 + 0.5 + shift.0);
            let of_row = |row| (1.0 - a) * element(row, first) + a * element(row, first + 1);
            y.push((1.0 - b) * of_row(first_row) + b * of_row(first_row + 1));
        }
    }
    y
}

/// Shifts by parts of an element that weights of 8 bits hold exactly, and pictures whose sides are
/// powers of two, so that normalised coordinates are exact, too: so is every value.
#[test]
fn textures_shift_pictures_in_every_mode() {
    let shape = (16, 32);
    let picture = integers(shape.0 * shape.1);
    for device in machines() {
        let mut y = device.matrix_zeros((shape.0, shape.1)).unwrap();
        for shift in [(0.0, 0.0), (0.25, -0.125), (-40.5, 33.75)] {
            for filter in [TextureFilter::Point, TextureFilter::Linear] {
                for mode in [
                    AddressMode::Clamp,
                    AddressMode::Wrap,
                    AddressMode::Mirror,
                    AddressMode::Border,
                ] {
                    let options = TextureOptions::default()
                        .with_filter(filter)
                        .with_address_mode(mode)
                        .with_normalised_coordinates(true);
                    let texture = device
                        .texture_2d(shape.1, shape.0, &picture, options)
                        .unwrap();
                    memory::shift_texture(&device, &texture, shift, &mut y).unwrap();
                    let expected = shifted(&picture, shape, shift, options);
                    assert_eq!(y.to_vec().unwrap(), expected, "{shift:?}, {options:?}");
                }
            }
        }
    }
}

#[test]
fn shifting_by_hand_is_what_a_clamped_texture_does() {
    let shape = (13, 7);
    let picture = integers(shape.0 * shape.1);
    let options = TextureOptions::default().with_filter(TextureFilter::Linear);
    for device in machines() {
        let x = device.matrix((shape.0, shape.1), &picture).unwrap();
        let texture = device
            .texture_2d(shape.1, shape.0, &picture, options)
            .unwrap();
        let mut by_hand = device.matrix_zeros((shape.0, shape.1)).unwrap();
        let mut by_texture = device.matrix_zeros((shape.0, shape.1)).unwrap();
        for shift in [(0.0, 0.0), (0.5, 0.25), (-3.75, 20.0)] {
            memory::shift_by_hand(&device, &x, shift, &mut by_hand).unwrap();
            memory::shift_texture(&device, &texture, shift, &mut by_texture).unwrap();
            let expected = shifted(&picture, shape, shift, options);
            assert_eq!(by_hand.to_vec().unwrap(), expected, "{shift:?}");
            assert_eq!(by_texture.to_vec().unwrap(), expected, "{shift:?}");
        }
        let mut other = device.matrix_zeros((7, 13)).unwrap();
        let error = memory::shift_by_hand(&device, &x, (0.0, 0.0), &mut other).unwrap_err();
        assert!(
            matches!(error.kind(), ErrorKind::ShapeMismatch { .. }),
            "{error}"
        );
    }
}

/// One test for the module's arrays, which tests on one device share.
#[test]
fn arrays_of_the_module_are_added_as_buffers_are() {
    let u: Vec<f32> = (0..STATIC_ELEMENTS).map(|i| (i % 1000) as f32).collect();
    let v: Vec<f32> = (0..STATIC_ELEMENTS).map(|i| (i % 77) as f32).collect();
    let sums: Vec<f32> = u.iter().zip(&v).map(|(u, v)| u + v).collect();
    for device in devices() {
        memory::write_static(&device, &u, &v).unwrap();
        memory::add_static(&device).unwrap();
        assert!(memory::read_static(&device).unwrap() == sums);
        memory::add_static(&device).unwrap();
        let twice = sums.iter().zip(&v).map(|(sum, v)| sum + v);
        assert!(memory::read_static(&device).unwrap().into_iter().eq(twice));

        let mut buffers = (device.upload(&u).unwrap(), device.upload(&v).unwrap());
        memory::add_buffers(&device, &mut buffers.0, &mut buffers.1).unwrap();
        assert!(buffers.0.to_vec().unwrap() == sums);
        let error = memory::write_static(&device, &u, &v[1..]).unwrap_err();
        assert!(
            matches!(error.kind(), ErrorKind::WrongLength { .. }),
            "{error}"
        );
    }
}

fn loaded(device: &Device, pattern: Pattern, caches: Caches, elements: usize) -> Buffer<f32> {
    let x: Vec<f32> = (0..elements + MISALIGNMENT).map(|i| i as f32).collect();
    let x = device.upload(&x).unwrap();
    let mut y = device.uninit(elements).unwrap();
    memory::load(device, pattern, caches, &x, &mut y).unwrap();
    y
}

#[test]
fn every_pattern_loads_its_elements() {
    for device in machines() {
        for elements in [32, 64, 4096] {
            for pattern in Pattern::ALL {
                for caches in Caches::ALL {
                    let y = loaded(&device, pattern, caches, elements).to_vec().unwrap();
                    let places = (0..elements).map(|i| pattern.place(i, elements) as f32);
                    assert!(y.into_iter().eq(places), "{pattern:?}, {caches:?}");
                }
            }
        }
        let x = device.zeros(48 + MISALIGNMENT).unwrap();
        let mut y = device.zeros(48).unwrap();
        let error = memory::load(&device, Pattern::Aligned, Caches::All, &x, &mut y).unwrap_err();
        assert!(
            matches!(
                error.kind(),
                ErrorKind::WrongLength {
                    expected: 64,
                    found: 48,
                    ..
                }
            ),
            "{error}"
        );
    }
}

/// The percentages of the textbooks: of lines of 128 bytes, which they count for cached loads, and
/// of sectors of 32 bytes, which they count for others.
#[test]
fn patterns_use_lines_and_sectors_as_the_textbooks_say() {
    for (pattern, of_lines, of_sectors) in [
        (Pattern::Aligned, 1.0, 1.0),
        (Pattern::Permuted, 1.0, 1.0),
        (Pattern::Misaligned, 0.5, 0.8),
        (Pattern::Broadcast, 0.03125, 0.125),
        (Pattern::Scattered, 0.03125, 0.125),
    ] {
        let counts = counts(|device| {
            loaded(device, pattern, Caches::All, 1 << 16);
        });
        let loads = counts.of(Operation::GlobalLoad).global;
        assert_eq!(loads.line_efficiency(), Some(of_lines), "{pattern:?}");
        assert_eq!(loads.sector_efficiency(), Some(of_sectors), "{pattern:?}");
    }
}
