//! Row operations in graphs.

use crate::cases::{assert_same_bits, scores};
use crate::common::machines;
use tilewright::Normalization;

const EPSILON: f32 = 1e-5;

/// Each launch of a graph has the bits of the calls, for short rows, rows of a block and long ones.
#[test]
fn each_launch_has_the_bits_of_the_calls() {
    for device in machines() {
        for (rows, len) in [(6, 40), (3, 1500), (1, 40_000)] {
            let matrices = [(); 4].map(|()| device.matrix_zeros::<f32>((rows, len)).unwrap());
            let classes = device.upload(&vec![1_u32; rows]).unwrap();
            let of_rows = [(); 2].map(|()| device.zeros::<f32>(rows).unwrap());
            let operands = (matrices, (classes, of_rows));
            let mut graph = device
                .capture(
                    operands,
                    |stream, ([mut x, mut y, mut z, mut g], others)| {
                        let (classes, [mut log_sums, mut losses]) = others;
                        stream.logsumexp_into(x.view(), log_sums.view_mut())?;
                        stream.softmax_into(x.view(), &mut y)?;
                        let norm = Normalization::layer(EPSILON);
                        norm.run_with_residual_in_place(&mut y, &mut x)?;
                        norm.run_into(x.view(), &mut z)?;
                        let losses = losses.view_mut();
                        stream.cross_entropy_with_gradient(
                            z.view(),
                            classes.view(),
                            1.0,
                            losses,
                            &mut g,
                        )
                    },
                )
                .unwrap();
            for seed in 0..3 {
                let elements = scores::<f32>(rows * len, seed);
                let mut x = device.matrix((rows, len), &elements).unwrap();
                let ([on_graph, ..], _) = graph.views_mut();
                let mut on_graph = on_graph;
                on_graph.copy_from_strided(&elements, len).unwrap();
                graph.launch().unwrap();

                let log_sums = device.logsumexp(&x).unwrap();
                let mut y = device.softmax(&x).unwrap();
                let norm = Normalization::layer(EPSILON);
                norm.run_with_residual_in_place(&mut y, &mut x).unwrap();
                let mut z = norm.run(&x).unwrap();
                let ([_, of_graph, ..], (classes, found)) = graph.operands();
                let losses = device.cross_entropy(&z, classes).unwrap();
                let case = format!("{rows}x{len}, {device:?}");
                assert_same_bits(&of_graph.to_vec().unwrap(), &y.to_vec().unwrap(), &case);
                for (found, expected) in found.iter().zip([log_sums, losses]) {
                    assert_same_bits(&found.to_vec().unwrap(), &expected.to_vec().unwrap(), &case);
                }
                let mut again = device.zeros(rows).unwrap();
                device
                    .cross_entropy_in_place(&mut z, classes, 1.0, &mut again)
                    .unwrap();
                let ([.., gradient], _) = graph.operands();
                assert_same_bits(&gradient.to_vec().unwrap(), &z.to_vec().unwrap(), &case);
            }
        }
    }
}
