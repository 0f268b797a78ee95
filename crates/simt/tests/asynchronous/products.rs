//! Products of warpgroups are right, in each layout, under any schedule.

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

/// C = A B, of 64 rows, `n` columns and 64 of k, by one warpgroup; B lies along `major`.
fn multiply(options: &Options, n: usize, major: Major) {
    const M: usize = 64;
    const K: usize = 64;
    let (a, b) = (matrix(M, K, 3), matrix(K, n, 5));
    let to_bits = |values: &[i32]| Buffer::of(values.iter().map(|it| bf16(*it)).collect());
    let of_a = to_bits(&a);
    // Along n, B is as it is; along k, each column is a row.
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
