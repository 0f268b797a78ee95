//! Calls on a GPU. Without one, the tests say that they are skipped.

use crate::common::say;
use cudarc::driver::{CudaContext, CudaStream};
use std::sync::Arc;
use std::thread;
use tilewright::Device;
use tilewright::interop::cudarc::Bridge;

/// Two streams of one context.
fn streams() -> Option<[Arc<CudaStream>; 2]> {
    // `cudarc` panics where there is no driver.
    if let Err(error) = Device::cuda(0) {
        say(&format!("skipped: {error}"));
        return None;
    }
    let context = CudaContext::new(0).unwrap();
    Some([context.new_stream().unwrap(), context.new_stream().unwrap()])
}

#[test]
fn a_product_is_written_to_a_slice() {
    const SIDE: usize = 256;
    let Some([stream, other]) = streams() else {
        return;
    };
    let number = |i: usize| (i % 7) as f32 - 3.0;
    let host: Vec<f32> = (0..SIDE * SIDE).map(number).collect();
    let identity: Vec<f32> = (0..SIDE * SIDE)
        .map(|i| f32::from(i % (SIDE + 1) == 0))
        .collect();
    let bridge = Bridge::new(&stream).unwrap();
    // All memory is of the other stream, and nothing waits on the host.
    let a = other.clone_htod(&host).unwrap();
    let b = other.clone_htod(&identity).unwrap();
    let mut c = other.alloc_zeros::<f32>(SIDE * SIDE).unwrap();
    bridge
        .with((&a, &b, &mut c), |(a, b, c)| {
            let (a, b) = (a.as_matrix((SIDE, SIDE))?, b.as_matrix((SIDE, SIDE))?);
            bridge
                .device()
                .matmul_into(a, b, &mut c.into_matrix((SIDE, SIDE))?)
        })
        .unwrap();
    assert_eq!(other.clone_dtoh(&c).unwrap(), host);
}

/// Sums in one stream read what the other writes, again and again, on several threads.
#[test]
fn streams_of_several_threads_are_ordered() {
    const LEN: usize = 1 << 22;
    let Some(streams) = streams() else { return };
    let [first, second] = &streams;
    thread::scope(|scope| {
        for thread in 0..4 {
            scope.spawn(move || {
                let bridge = Bridge::new(first).unwrap();
                let mut x = second.alloc_zeros::<u32>(LEN).unwrap();
                for round in 0..50_u32 {
                    let value = round * 4 + thread;
                    let host = vec![value; LEN];
                    second.memcpy_htod(&host, &mut x).unwrap();
                    let sum = bridge.with(&x, |x| bridge.device().reduce_sum(x)).unwrap();
                    assert_eq!(sum, u64::from(value) * LEN as u64);
                }
            });
        }
    });
}

#[test]
fn memory_goes_to_and_fro() {
    let Some([stream, other]) = streams() else {
        return;
    };
    let bridge = Bridge::new(&stream).unwrap();
    for round in 0..100_u32 {
        let theirs = other.clone_htod(&vec![round; 1 << 18]).unwrap();
        let mut ours = bridge.into_buffer(theirs).unwrap();
        let read = bridge.lend(ours.view(), |x| other.clone_dtoh(&x).unwrap());
        assert!(read.unwrap().iter().all(|x| *x == round));
        bridge
            .lend_mut(ours.view_mut(), |mut x| other.memset_zeros(&mut x).unwrap())
            .unwrap();
        assert_eq!(bridge.device().reduce_sum(&ours).unwrap(), 0);
        let theirs = bridge.into_slice(ours).unwrap();
        assert!(other.clone_dtoh(&theirs).unwrap().iter().all(|x| *x == 0));
    }
    // A slice outlives the device and its pool.
    let last = bridge.into_slice(bridge.device().upload(&[5_u32]).unwrap());
    drop(bridge);
    assert_eq!(other.clone_dtoh(&last.unwrap()).unwrap(), [5]);
}
