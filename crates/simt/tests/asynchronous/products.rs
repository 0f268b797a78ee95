//! Products of warpgroups are correct, in each layout, under any schedule.
//!
//! The seeds are fixed, whatever `TILEWRIGHT_SEEDS` says: these are tests of the simulator, not of a kernel.

use crate::harness::{Buffer, barriers, launch, me, serial, shared};
use simt::{ElementType, Major, Operand, Options, Swizzle, Wgmma};

const BARRIER: usize = 95 * 1024;
const B_TILE: usize = 32 * 1024;

/// The bits of a small integer in bf16.
pub fn bf16(value: i32) -> u16 {
    ((value as f32).to_bits() >> 16) as u16
}

/// A matrix of small integers.
pub fn matrix(rows: usize, columns: usize, salt: i32) -> Vec<i32> {
    let value = |index: usize| (index as i32 * 37 + salt) % 13 - 6;
    (0..rows * columns).map(value).collect()
}

/// A descriptor of a tile with the 128-byte swizzle.
pub fn descriptor(offset: usize, leading: usize, stride: usize) -> u64 {
    let field = |bytes: usize| (bytes as u64 >> 4) & 0x3fff;
    field(offset) | field(leading) << 16 | field(stride) << 32 | 1 << 62
}

/// C = A B with 64 rows, `n` columns and 64 k, by one warpgroup. B is contiguous along `major`.
fn multiply(options: &Options, n: usize, major: Major) {
    const M: usize = 64;
    const K: usize = 64;
    let (a, b) = (matrix(M, K, 3), matrix(K, n, 5));
    let to_bits = |values: &[i32]| Buffer::of(values.iter().map(|it| bf16(*it)).collect());
    let of_a = to_bits(&a);
    // Along n, B is row-major; along k, column-major.
    let transposed: Vec<i32> = (0..n * K)
        .map(|index| b[index % K * n + index / K])
        .collect();
    let (of_b, map_b) = match major {
        Major::MN => {
            let buffer = to_bits(&b);
            let map = buffer.map(n, (64, K as u32), Swizzle::B128);
            (buffer, map)
        }
        Major::K => {
            let buffer = to_bits(&transposed);
            let map = buffer.map(K, (K as u32, n as u32), Swizzle::B128);
            (buffer, map)
        }
    };
    let map_a = of_a.map(K, (K as u32, M as u32), Swizzle::B128);
    let output = Buffer::<f32>::empty(M * n);
    let instruction = Wgmma {
        a: ElementType::Bf16,
        b: ElementType::Bf16,
        n: n as u32,
        a_major: Major::K,
        b_major: major,
    };
    let b_bytes = n * K * 2;
    launch(options, (1, 1, 128), &|| {
        barriers(BARRIER, &[1]);
        let barrier = shared(BARRIER).addr();
        if me() == 0 {
            simt::mbarrier_arrive_expect(barrier, (M * K * 2 + b_bytes) as u32);
            // SAFETY: the buffers outlive the launch.
            unsafe {
                simt::tensor_load(&map_a, shared(0), barrier, &[0, 0], None);
                match major {
                    Major::K => {
                        simt::tensor_load(&map_b, shared(B_TILE), barrier, &[0, 0], None);
                    }
                    Major::MN => (0..n / 64).for_each(|chunk| {
                        let to = shared(B_TILE + chunk * 8192);
                        simt::tensor_load(&map_b, to, barrier, &[64 * chunk as i32, 0], None);
                    }),
                }
            }
        }
        simt::mbarrier_wait(barrier, false);
        let mut registers = vec![7.0_f32.to_bits(); n / 2];
        simt::wgmma_begin(&mut registers);
        simt::wgmma_fence();
        for step in 0..K / 16 {
            let operand = |descriptor, tile, bytes| Operand {
                descriptor,
                tile: shared(tile).addr(),
                bytes,
            };
            let of_b = match major {
                Major::K => descriptor(B_TILE + 32 * step, 16, 1024),
                Major::MN => descriptor(B_TILE + 2048 * step, 8192, 1024),
            };
            simt::wgmma(
                &mut registers,
                instruction,
                operand(descriptor(32 * step, 16, 1024), 0, M * K * 2),
                operand(of_b, B_TILE, b_bytes),
                step != 0,
            );
        }
        simt::wgmma_commit();
        assert!(f32::from_bits(registers[0]).is_nan() && f32::from_bits(registers[1]).is_nan());
        simt::wgmma_wait(0);
        simt::wgmma_collect(&mut registers);
        for (index, value) in registers.iter().enumerate() {
            let thread = me() as usize;
            let row = thread / 32 * 16 + thread % 32 / 4 + index / 2 % 2 * 8;
            let column = index / 4 * 8 + thread % 4 * 2 + index % 2;
            output.set(row * n + column, f32::from_bits(*value));
        }
    })
    .unwrap();
    drop(of_b);
    for (index, value) in output.values().iter().enumerate() {
        let (row, column) = (index / n, index % n);
        let sum: i32 = (0..K).map(|k| a[row * K + k] * b[k * n + column]).sum();
        assert_eq!(*value, sum as f32, "row {row}, column {column}");
    }
}

#[test]
fn both_orders_of_b() {
    for seed in 0..16 {
        multiply(&serial(seed), 128, Major::K);
        multiply(&serial(seed), 128, Major::MN);
    }
    multiply(&serial(0), 256, Major::K);
    multiply(&serial(0), 8, Major::K);
}

/// The bits of a small integer.
fn bits_of(element: ElementType, value: i32) -> u32 {
    let sign = |bits: u32, shift: u32| bits | u32::from(value < 0) << shift;
    let magnitude = value.unsigned_abs() as usize;
    match element {
        ElementType::F16 => sign([0, 0x3c00, 0x4000][magnitude], 15),
        ElementType::Bf16 => u32::from(bf16(value)),
        ElementType::Tf32 => (value as f32).to_bits(),
        ElementType::E4m3 => sign([0, 0x38, 0x40][magnitude], 7),
        ElementType::E5m2 => sign([0, 0x3c, 0x40][magnitude], 7),
        ElementType::S8 => u32::from((value as i8).cast_unsigned()),
        _ => value.unsigned_abs(),
    }
}

/// Rows of integers in -2..=2 (their magnitudes, for unsigned types), each one row of the swizzle, in memory.
fn rows(element: ElementType, salt: usize, rows: usize, row_bytes: usize) -> (Vec<i32>, Vec<u8>) {
    let count = rows * row_bytes / element.bytes();
    let values: Vec<i32> = (0..count)
        .map(|index| ((index * 7 + index / 5 + salt) % 5) as i32 - 2)
        .map(|value| match element {
            ElementType::U8 => value.abs(),
            _ => value,
        })
        .collect();
    let bytes = values
        .iter()
        .flat_map(|value| bits_of(element, *value).to_le_bytes()[..element.bytes()].to_vec())
        .collect();
    (values, bytes)
}

/// A product of tiles whose k is one row of the swizzle.
fn multiply_types(a: ElementType, b: ElementType, swizzle: Swizzle) {
    const N: usize = 16;
    let row_bytes = swizzle.row_bytes().expect("a swizzle with rows");
    let k = row_bytes / a.bytes();
    let (of_a, bytes_a) = rows(a, 1, 64, row_bytes);
    let (of_b, bytes_b) = rows(b, 3, N, row_bytes);
    let (bytes_a, bytes_b) = (Buffer::of(bytes_a), Buffer::of(bytes_b));
    // The copies treat elements as bytes.
    let map_a = bytes_a.map(row_bytes, (row_bytes as u32, 64), swizzle);
    let map_b = bytes_b.map(row_bytes, (row_bytes as u32, N as u32), swizzle);
    let output = Buffer::<u32>::empty(64 * N);
    let instruction = Wgmma {
        a,
        b,
        n: N as u32,
        a_major: Major::K,
        b_major: Major::K,
    };
    let mode = match swizzle {
        Swizzle::B128 => 1,
        Swizzle::B64 => 2,
        _ => 3,
    };
    launch(&serial(0), (1, 1, 128), &|| {
        barriers(BARRIER, &[1]);
        let barrier = shared(BARRIER).addr();
        if me() == 0 {
            simt::mbarrier_arrive_expect(barrier, ((64 + N) * row_bytes) as u32);
            // SAFETY: the buffers outlive the launch.
            unsafe {
                simt::tensor_load(&map_a, shared(0), barrier, &[0, 0], None);
                simt::tensor_load(&map_b, shared(B_TILE), barrier, &[0, 0], None);
            }
        }
        simt::mbarrier_wait(barrier, false);
        let mut registers = vec![0; N / 2];
        simt::wgmma_begin(&mut registers);
        simt::wgmma_fence();
        for step in 0..row_bytes / 32 {
            let operand = |tile: usize, rows| Operand {
                descriptor: descriptor(tile + 32 * step, 16, 8 * row_bytes) & !(3 << 62)
                    | mode << 62,
                tile: shared(tile).addr(),
                bytes: rows * row_bytes,
            };
            let (a, b) = (operand(0, 64), operand(B_TILE, N));
            simt::wgmma(&mut registers, instruction, a, b, step != 0);
        }
        simt::wgmma_commit();
        simt::wgmma_wait(0);
        simt::wgmma_collect(&mut registers);
        for (index, value) in registers.iter().enumerate() {
            let thread = me() as usize;
            let row = thread / 32 * 16 + thread % 32 / 4 + index / 2 % 2 * 8;
            let column = index / 4 * 8 + thread % 4 * 2 + index % 2;
            output.set(row * N + column, *value);
        }
    })
    .unwrap();
    let is_integer = matches!(a, ElementType::S8 | ElementType::U8);
    for (index, value) in output.values().iter().enumerate() {
        let (row, column) = (&of_a[index / N * k..][..k], &of_b[index % N * k..][..k]);
        let sum: i32 = row.iter().zip(column).map(|(a, b)| a * b).sum();
        let expected = match is_integer {
            true => sum.cast_unsigned(),
            false => (sum as f32).to_bits(),
        };
        assert_eq!(
            *value, expected,
            "{a:?}, {b:?}, {swizzle:?}: element {index}"
        );
    }
}

#[test]
fn every_type_in_every_swizzle() {
    use ElementType::{Bf16, E4m3, E5m2, F16, S8, Tf32, U8};
    let pairs = [
        (F16, F16),
        (Bf16, Bf16),
        (Tf32, Tf32),
        (E4m3, E4m3),
        (E4m3, E5m2),
        (E5m2, E4m3),
        (S8, S8),
        (S8, U8),
        (U8, U8),
    ];
    for (a, b) in pairs {
        for swizzle in [Swizzle::B32, Swizzle::B64, Swizzle::B128] {
            multiply_types(a, b, swizzle);
        }
    }
}
