//! Quantised matrices, products with scales of blocks, and of groups of rows that the device counts.

use crate::cases::{Case, Cases, bytes};
use crate::numbers::{Number, matrix};
use half::{bf16, f16};
use tilewright::tuning::TileSize;
use tilewright::{Matmul, MatmulElement, MatmulInto, Order, Profile, QuantizeElement, Quantized};

pub fn cases() -> Vec<Case> {
    let mut cases = Cases::new();
    quantised::<f32>(&mut cases);
    quantised::<f16>(&mut cases);
    quantised::<bf16>(&mut cases);
    // Without the instruction that converts.
    cases.on_profile(Profile::A100);
    quantised::<f32>(&mut cases);
    quantised::<f16>(&mut cases);
    quantised::<bf16>(&mut cases);
    cases.on_few_multiprocessors();
    for tiles in [TileSize::Large, TileSize::Medium, TileSize::Small] {
        scaled(&mut cases, 140, tiles);
    }
    scaled(&mut cases, 70, TileSize::Large);
    counted::<f16>(&mut cases);
    counted::<bf16>(&mut cases);
    cases.finish()
}

fn quantised<T: QuantizeElement + Number>(cases: &mut Cases) {
    cases.add("quantised", |device| {
        let x = matrix::<T>(device, (130, 257), Order::RowMajor)?;
        let both = [device.quantize_rows(&x)?, device.quantize_blocks(&x)?];
        let mut bits = Vec::new();
        for Quantized {
            elements, scales, ..
        } in &both
        {
            bits.extend(bytes(&elements.to_vec()?));
            bits.extend(bytes(&scales.to_vec()?));
        }
        Ok(bits)
    });
}

/// Products of 8-bit floats with scales of both operands' blocks.
fn scaled(cases: &mut Cases, rows: usize, tiles: TileSize) {
    cases.add("scaled", move |device| {
        let a = device.quantize_rows(&matrix::<f32>(device, (rows, 200), Order::RowMajor)?)?;
        let b = device.quantize_blocks(&matrix::<f32>(device, (130, 200), Order::RowMajor)?)?;
        let product = Matmul::new(&a.elements, b.elements.t())
            .block_scales(&a.scales, b.scales.t())
            .tiles(tiles);
        let mut bits = bytes(&product.run_as::<f32>()?.to_vec()?);
        bits.extend(bytes(&product.run()?.to_vec()?));
        Ok(bits)
    });
}

/// Products of groups of rows, with B in both orders.
fn counted<T: MatmulInto<T> + MatmulElement<Product = T> + Number>(cases: &mut Cases) {
    for order in [Order::RowMajor, Order::ColumnMajor] {
        cases.add("counted", move |device| {
            let counts = device.upload(&[40_u32, 7])?;
            let a = matrix::<T>(device, (60, 64), Order::RowMajor)?;
            let rows = match order {
                Order::RowMajor => (2 * 64, 72),
                Order::ColumnMajor => (2 * 72, 64),
            };
            let b = matrix::<T>(device, rows, Order::RowMajor)?;
            let b = b.view().batch_rows(2)?;
            let b = match order {
                Order::RowMajor => b,
                Order::ColumnMajor => b.t(),
            };
            let product = Matmul::new(&a, b).row_counts(&counts).run()?;
            Ok(bytes(&product.to_vec()?))
        });
    }
}
