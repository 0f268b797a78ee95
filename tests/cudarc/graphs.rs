//! The work that is recorded as a graph, and submitted by its launches. The driver is `traced.c`, so that no GPU is
//! needed.

use crate::traced::{traced, with_driver};
use tilewright::Device;

/// Each small call becomes one node: a kernel, without fills, events or copies around it.
#[test]
fn a_small_call_is_one_node_and_a_launch_one_call() {
    const TEST: &str = "graphs::a_small_call_is_one_node_and_a_launch_one_call";
    with_driver(TEST, || {
        let device = Device::cuda(0).unwrap();
        let operands = || {
            let x = device.upload(&[1_u32; 1024]).unwrap();
            let square = device.matrix_zeros::<f32>((64, 64)).unwrap();
            (x, device.zeros::<u64>(20).unwrap(), square)
        };
        let record = || {
            device.capture(operands(), |stream, (x, mut sums, mut square)| {
                for place in 0..20 {
                    stream.reduce_sum_into(x.view(), sums.slice_mut(place..=place)?)?;
                }
                let ones = stream.matrix_uninit::<f32>((64, 64))?;
                stream.matmul_into(&ones, &ones, &mut square)
            })
        };
        // The kernels are loaded.
        drop(record().unwrap());
        let (trace, graph) = traced(record);
        let ends = |word: &str| trace.iter().position(|it| it.ends_with(word)).unwrap();
        let recorded = &trace[ends(".begins") + 1..ends(".ends")];
        assert_eq!(recorded.len(), 21, "{trace:?}");
        assert!(
            recorded.iter().all(|it| it.ends_with(".launches")),
            "{trace:?}"
        );

        let mut graph = graph.unwrap();
        // Its stream waits for the uploads once.
        graph.launch().unwrap();
        let (trace, launched) = traced(|| graph.launch());
        launched.unwrap();
        assert_eq!(trace.len(), 1, "{trace:?}");
        assert!(trace[0].ends_with(".runs"), "{trace:?}");
    });
}
