//! Operands that are split once.

use crate::common::random::Random;
use crate::common::{devices, share};
use crate::harness::{Host, ORDERS, assert_same_bits, hoppers, splitters};
use tilewright::{Arithmetic, Device, ErrorKind, Matmul, MatrixBatch, Order};
use tilewright_test_support::assert_kind;

/// Bits as without, in all orders of A, B and C, for rows and columns in the split's range and outside, and for
/// batches.
#[test]
fn products_of_a_prepared_operand_have_the_same_bits() {
    let (m, n, k) = (130, 140, 72);
    for device in splitters(devices()) {
        for number in share("prepared", 0..8) {
            let mut random = Random::new(number);
            let a = Host::<f32>::new(m, k, |_, _| random.signed_unit() as f32);
            let mut b = Host::<f32>::new(k, n, |_, _| random.signed_unit() as f32);
            if number % 3 == 0 {
                b.elements[5] = f32::INFINITY;
            }
            let order = |bit: u64| ORDERS[(number >> bit & 1) as usize];
            let (a, b) = (a.upload(&device, order(0)), b.upload(&device, order(1)));
            let prepared = device.prepare(&b).unwrap();
            let product = Matmul::new(&a, &b).arithmetic(Arithmetic::Split).beta(0.0);
            let with_prepared = Matmul::with_prepared(&a, &prepared).arithmetic(Arithmetic::Split);
            let run = |product: Matmul<'_, f32>| {
                let mut c = device.matrix_zeros::<f32>((m, n, order(2))).unwrap();
                product.run_into(&mut c).unwrap();
                c.to_vec().unwrap()
            };
            let expected = run(product);
            // Twice: the halves stay.
            for _ in 0..2 {
                assert_same_bits(&run(with_prepared), &expected, &(number, &device));
            }
            let batch: MatrixBatch<'_, f32> = a.view().batch_rows(2).unwrap();
            let product = Matmul::new(batch, &b).arithmetic(Arithmetic::Split);
            let with_prepared =
                Matmul::with_prepared(batch, &prepared).arithmetic(Arithmetic::Split);
            let found = with_prepared.run().unwrap().to_vec().unwrap();
            let expected = product.run().unwrap().to_vec().unwrap();
            assert_same_bits(&found, &expected, &(number, &device));
        }
    }
}

/// Panels with one element that no half has, in the first and the last line of a group of 32, of a panel and of
/// all, at any k, whether lines are contiguous or not.
#[test]
fn out_of_range_columns_are_those_of_a_panel() {
    const K: usize = 70;
    const COLUMNS: usize = 132;
    let mut random = Random::new(19);
    let usual = Host::<f32>::new(K, COLUMNS, |_, _| random.signed_unit() as f32);
    let elements = [f32::NAN, f32::NEG_INFINITY, 1e36, 1e-40];
    for device in hoppers(devices()) {
        for order in ORDERS {
            let b = usual.upload(&device, order);
            let wide = device.prepare(&b).unwrap().out_of_range_columns().unwrap();
            assert_eq!(wide, [false; COLUMNS], "{device:?}");
            for k in share("columns outside the split's range", 0..K) {
                // Two of them at each k, and each at every third.
                for turn in [k % 3, k % 3 + 3] {
                    let column = [0, 31, 32, 127, 128, COLUMNS - 1][turn];
                    let mut b = usual.clone();
                    b.elements[k * COLUMNS + column] = elements[(k + turn) % elements.len()];
                    let b = b.upload(&device, order);
                    let wide = device.prepare(&b).unwrap().out_of_range_columns().unwrap();
                    let expected: Vec<bool> =
                        (0..COLUMNS).map(|it| it / 128 == column / 128).collect();
                    assert_eq!(wide, expected, "{k}, {column}, {order:?}, {device:?}");
                }
            }
        }
    }
}

/// Two launches split rows and columns that no cluster keeps.
#[test]
fn out_of_range_columns_of_long_lines() {
    let (k, n) = (13313, 33);
    for device in hoppers(devices()) {
        let b = Host::<f32>::new(k, n, |row, column| match (row, column) {
            (13312, 32) => f32::INFINITY,
            _ => 1.0,
        });
        let b = b.upload(&device, Order::RowMajor);
        let narrow = device.prepare(b.slice(.., ..32).unwrap()).unwrap();
        assert_eq!(narrow.out_of_range_columns().unwrap(), [false; 32]);
        let wide = device.prepare(&b).unwrap().out_of_range_columns().unwrap();
        assert_eq!(wide, [true; 33]);
    }
}

#[test]
fn a_matrix_without_products_on_tensor_cores_cannot_be_prepared() {
    let device = Device::simulator();
    let b = device.matrix_zeros::<f32>((59, 8)).unwrap();
    let error = device.prepare(&b).unwrap_err();
    assert_kind!(error is ErrorKind::NoKernel { .. });
    let none = device
        .matrix_zeros::<f32>((64, 0, Order::RowMajor))
        .unwrap();
    let none = device.prepare(&none).unwrap();
    assert!(none.out_of_range_columns().unwrap().is_empty());
    let a = device.matrix_zeros::<f32>((3, 64)).unwrap();
    let product = Matmul::with_prepared(&a, &none).run().unwrap();
    assert_eq!(product.shape(), (3, 0));
}
