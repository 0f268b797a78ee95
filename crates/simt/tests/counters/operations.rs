//! Instructions that access no memory.

use crate::common::sync;
use crate::harness::counted;
use simt::Operation;

#[test]
fn tensor_products_are_counted() {
    let operation = Operation::TensorProduct { operations: 4096 };
    let counts = counted(32, 2, 64, || {
        // SAFETY: they do nothing.
        unsafe {
            simt::warp_exchange(
                "product",
                Some(operation),
                u64::from(u32::MAX),
                &mut (),
                |_| (),
            );
            simt::warp_exchange("loads", None, u64::from(u32::MAX), &mut (), |_| ());
        }
    });
    assert_eq!(counts.of(operation).requests, 4);
    assert_eq!(counts.total().tensor_operations, 4 * 4096);
    assert_eq!(counts.total().requests, 4);
}

#[test]
fn meetings_are_counted() {
    let counts = counted(32, 2, 64, || {
        sync();
        crate::borrowed::warp_collective("shuffle_xor", u64::from(u32::MAX), 0, |_| ());
        crate::borrowed::warp_collective("ballot", u64::from(u32::MAX), 0, |_| ());
    });
    assert_eq!(counts.of(Operation::BlockBarrier).requests, 4);
    assert_eq!(counts.of(Operation::Shuffle).requests, 4);
    assert_eq!(counts.of(Operation::WarpOperation).requests, 4);
}
