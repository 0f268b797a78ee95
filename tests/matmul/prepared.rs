//! Operands that are taken apart once.

use crate::common::devices;
use crate::common::random::Random;
use crate::harness::{Host, ORDERS, assert_same_bits, hoppers};
use tilewright::{Arithmetic, Device, ErrorKind, Matmul, MatrixBatch, Order};

/// Bits as without, in all orders of A, B and C, for narrow and wide lines, and for batches.
#[test]
fn products_of_a_prepared_operand_have_the_same_bits() {
    let (m, n, k) = (130, 140, 72);
    for device in hoppers(devices()) {
        for number in 0..8 {
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

#[test]
fn a_matrix_without_products_on_tensor_cores_cannot_be_prepared() {
    let device = Device::simulator();
    let b = device.matrix_zeros::<f32>((59, 8)).unwrap();
    let error = device.prepare(&b).unwrap_err();
    assert!(
        matches!(error.kind(), ErrorKind::NoKernel { .. }),
        "{error}"
    );
    let none = device
        .matrix_zeros::<f32>((64, 0, Order::RowMajor))
        .unwrap();
    let none = device.prepare(&none).unwrap();
    let a = device.matrix_zeros::<f32>((3, 64)).unwrap();
    let product = Matmul::with_prepared(&a, &none).run().unwrap();
    assert_eq!(product.shape(), (3, 0));
}
