//! Segments as operands of graphs.

use crate::common::devices;
use crate::{LEN, refused};
use tilewright::ops;

/// A list of tiles that a scan of long segments needs is made before the recording, in it, or for an update.
#[test]
fn segments_are_operands() {
    for device in devices() {
        let (offsets, len) = ([1, 3, 3, 10_003, 12_100], 12_105);
        let data: Vec<f32> = (0..len).map(|i| (i % 17) as f32 - 7.75).collect();
        let x = device.upload(&data).unwrap();
        let wide = device.upload(&data.iter().map(|&x| f64::from(x)).collect::<Vec<_>>());
        let wide = wide.unwrap();
        let segments = device.segments(&offsets).unwrap();
        let scan = device.scan_segments_inclusive(&x, &segments, ops::Sum);
        let scan = scan.unwrap().to_vec().unwrap();
        let of_wide = device.scan_segments_inclusive(&wide, &segments, ops::Sum);
        let of_wide = of_wide.unwrap().to_vec().unwrap();
        let sums = device.reduce_segments(&x, &segments, ops::Sum);
        let sums = sums.unwrap().to_vec().unwrap();
        for segments in [segments, device.segments(&offsets).unwrap()] {
            let operands = (
                (x.try_clone().unwrap(), device.zeros(len).unwrap()),
                (wide.try_clone().unwrap(), device.zeros(len).unwrap()),
                device.zeros(4).unwrap(),
                segments,
            );
            let mut graph = device
                .capture(operands, |stream, ((x, y), _, sums, segments)| {
                    stream.scan_segments_inclusive_into(x.view(), segments, ops::Sum, y)?;
                    stream.reduce_segments_into(x.view(), segments, ops::Sum, sums)
                })
                .unwrap();
            for _ in 0..2 {
                let ((_, mut y), ..) = graph.views_mut();
                y.fill_zero().unwrap();
                graph.launch().unwrap();
                assert_eq!(graph.operands().0.1.to_vec().unwrap(), scan);
                assert_eq!(graph.operands().2.to_vec().unwrap(), sums);
            }
            graph
                .update(|stream, (_, (x, y), _, segments)| {
                    stream.scan_segments_inclusive_into(x.view(), segments, ops::Sum, y)
                })
                .unwrap();
            graph.launch().unwrap();
            assert_eq!(graph.operands().1.1.to_vec().unwrap(), of_wide);
            // The segments are the caller's again.
            let (_, _, _, segments) = graph.into_operands();
            let again = device.scan_segments_inclusive(&x, &segments, ops::Sum);
            assert_eq!(again.unwrap().to_vec().unwrap(), scan);
        }
    }
}

#[test]
fn segments_that_the_graph_does_not_own_are_refused() {
    for device in devices() {
        let segments = device.segments(&[0, LEN]).unwrap();
        refused(
            device.capture(device.upload(&[1.0_f32; LEN]).unwrap(), |stream, mut x| {
                let mut y = stream.uninit(LEN)?;
                stream.scan_segments_inclusive_into(x.view(), &segments, ops::Sum, &mut y)?;
                x.copy_from_buffer(&y)
            }),
            "that the graph does not own",
        );
    }
}
