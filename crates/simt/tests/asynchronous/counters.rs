//! The costs of bulk copies and products.

use crate::harness::{BARRIERS, Buffer, barrier, barriers, launch, me, serial, shared};
use crate::products::descriptor;
use simt::{ElementType, Major, Operand, Operation, Options, Swizzle, Wgmma};

#[test]
fn copies_and_products_are_counted() {
    let source = Buffer::of(vec![0_u16; 64 * 48]);
    let output = Buffer::<u32>::empty(32);
    let map = source.map(64, (64, 64), Swizzle::B128);
    let options = Options {
        counters: true,
        ..serial(0)
    };
    let report = launch(&options, (2, 2, 128), &|| {
        barriers(BARRIERS, &[1]);
        if me() == 0 {
            simt::mbarrier_arrive_expect(barrier(0), 8192);
            if simt::cluster_rank() == 0 {
                // SAFETY: the buffer outlives the launch.
                unsafe { simt::tensor_load(&map, shared(0), barrier(0), &[0, 0], Some(3)) };
            }
        }
        simt::mbarrier_wait(barrier(0), false);
        let mut registers = [0; 32];
        let tile = Operand {
            descriptor: descriptor(0, 16, 1024),
            tile: shared(0).addr(),
            bytes: 8192,
        };
        let instruction = Wgmma {
            a: ElementType::Bf16,
            b: ElementType::Bf16,
            n: 64,
            a_major: Major::K,
            b_major: Major::K,
        };
        simt::wgmma_begin(&mut registers);
        simt::wgmma_fence();
        simt::wgmma(&mut registers, instruction, tile, tile, false);
        simt::wgmma_commit();
        simt::wgmma_wait(0);
        simt::wgmma_collect(&mut registers);
        if me() == 0 && simt::cluster_rank() == 0 {
            let to = output.pointer().cast::<u8>();
            // SAFETY: the buffer outlives the launch.
            unsafe { simt::bulk_store(to, shared(0), 128) };
            simt::bulk_commit();
            simt::bulk_wait(0);
        }
        simt::cluster_barrier();
    })
    .unwrap();
    let counts = report.counts.expect("the launch is counted");
    let of_warp = 2 * (16 * 64 * 16);
    let product = counts.of(Operation::TensorProduct {
        operations: of_warp,
    });
    // Four warps of two blocks.
    assert_eq!((product.requests, product.lanes), (8, 256));
    let operations = 2 * (2 * 64 * 64 * 16);
    assert_eq!(product.tensor_operations, operations);
    let load = counts.of(Operation::BulkLoad);
    assert_eq!(load.requests, 1);
    let bytes = load.asynchronous;
    assert_eq!(
        (bytes.bulk_bytes_read, bytes.bulk_bytes_loaded),
        (64 * 48 * 2, 2 * 8192)
    );
    assert_eq!(bytes.multicast_bytes, 8192);
    let stored = counts
        .of(Operation::BulkStore)
        .asynchronous
        .bulk_bytes_stored;
    assert_eq!((stored, counts.sectors_written), (128, 4));
    assert_eq!(counts.sectors_read, 64 * 48 * 2 / 32);
    assert_eq!(counts.of(Operation::WarpOperation).requests, 0);
}
