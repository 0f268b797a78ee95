//! Products with operands whose residues are made once.

use crate::common::devices;
use crate::common::random::Random;
use crate::reference::Float;
use crate::{Host, Kind, bits, element};
use tilewright::tuning::{Staging, TileSize};
use tilewright::{Arithmetic, Device, Matmul, Order, SimulatorOptions};

/// A, and B as rows or as columns.
fn operands<T: Float>((m, n, k): (usize, usize, usize), kind: Kind) -> [Host<T>; 2] {
    let mut random = Random::new((m * n * k) as u64);
    let a = Host::new((m, k), |_, l| element(kind, &mut random, l));
    [a, Host::new((k, n), |l, _| element(kind, &mut random, l))]
}

/// The bits are those without preparation, in both orders of B and of C, in batches, and for outputs that are computed
/// one by one.
fn a_prepared_operand_changes_no_bit<T: Float>() {
    let (m, n, k) = (34, 45, 40);
    for device in devices() {
        for kind in [Kind::Uniform, Kind::Specials] {
            let [a, b] = operands::<T>((m, n, k), kind);
            let (da, db, tb) = (a.on(&device), b.on(&device), b.transposed_on(&device));
            let expected = bits(&device.matmul_exact(&da, &db).expect("a product"));
            for (number, b) in [db.view(), tb.t()].into_iter().enumerate() {
                let prepared = device.prepare_exact(b).expect("a prepared operand");
                // The first has so few outputs that they are computed one by one.
                let product = Matmul::with_prepared(&da, &prepared);
                assert!(
                    bits(&product.run().expect("a product")) == expected,
                    "{kind:?}"
                );
                let of_residues = product.tiles(TileSize::Small);
                let plan = of_residues.plan().expect("a plan");
                assert!(plan.moduli.is_some(), "{plan}");
                assert_eq!(plan.staging[1], Staging::Prepared);
                let mut c = device
                    .matrix_zeros((m, n, Order::ColumnMajor))
                    .expect("a matrix");
                for _ in 0..2 - number {
                    of_residues.run_into(&mut c).expect("a product");
                    assert!(bits(&c) == expected, "{kind:?} in columns");
                }
                let batch = da.view().batch_rows(2).expect("a batch");
                let product = Matmul::with_prepared(batch, &prepared).tiles(TileSize::Small);
                assert!(
                    bits(&product.run().expect("products")) == expected,
                    "{kind:?}"
                );
                // Other arithmetic reads the matrix.
                let chain = Matmul::with_prepared(&da, &prepared).arithmetic(Arithmetic::Chain);
                let without = Matmul::new(&da, b).arithmetic(Arithmetic::Chain);
                let [chain, without] =
                    [chain, without].map(|it| bits(&it.run().expect("a product")));
                assert!(chain == without, "{kind:?}");
            }
        }
    }
}
for_each_type!([f32 f64] a_prepared_operand_changes_no_bit);

#[test]
fn operands_that_need_no_residues_are_prepared_without() {
    let device = Device::simulator();
    for (n, k) in [(0, 3), (3, 0), (4, 20), (0, 0)] {
        let b = device.matrix_zeros::<f64>((k, n)).expect("a matrix");
        let a = device.matrix_zeros::<f64>((7, k)).expect("a matrix");
        for prepared in [device.prepare_exact(&b), device.prepare(&b)] {
            let prepared = prepared.expect("a prepared operand");
            let columns = prepared.out_of_range_columns().expect("the columns");
            assert_eq!(columns, vec![false; n]);
            let product = Matmul::with_prepared(&a, &prepared).run();
            assert_eq!(product.expect("a product").shape(), (7, n));
        }
    }
}

/// Panels of columns use their part of the prepared data.
#[test]
fn panels_read_their_columns_of_a_prepared_operand() {
    let [a, b] = operands::<f32>((40, 1100, 16), Kind::Uniform);
    let product = |memory: u64, is_prepared: bool| {
        let device = Device::simulator_with(SimulatorOptions::default().with_memory_bytes(memory));
        let (a, b) = (a.on(&device), b.on(&device));
        let b = device.prepare_exact(&b).expect("a prepared operand");
        let product = match is_prepared {
            true => Matmul::with_prepared(&a, &b),
            false => Matmul::new(&a, b.matrix()).arithmetic(Arithmetic::Exact),
        };
        bits(&product.tiles(TileSize::Small).run().expect("a product"))
    };
    let whole = product(5 << 20, false);
    // Beside the other buffers there is room for 350,000 bytes. The products of residues of all outputs have 480,000.
    assert!(whole == product(900_000, true), "in panels");
}
