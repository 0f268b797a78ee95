//! Graphs of launches, copies and sums.

use super::common::axpy::{AXPY, Axpy};
use super::{Held, Worker};
use tilewright::LaunchConfig;

impl Worker<'_> {
    /// A graph that owns a held buffer meanwhile, launched a few times, and perhaps recorded again.
    pub(super) fn graph(&mut self) -> &'static str {
        let place = self.any_held();
        let Held {
            buffer,
            mut expected,
        } = self.held.swap_remove(place);
        let len = expected.len();
        let x = self.integers(len);
        let operands = (
            self.device.upload(&x).unwrap(),
            buffer,
            self.device.zeros::<f32>(1).unwrap(),
        );
        let config = LaunchConfig::for_elements(len, 64);
        let mut graph = self.device.capture(operands, |_, _| Ok(())).unwrap();
        for _ in 0..=self.below(2) {
            let factor = self.random.integer(-2..=2) as f32;
            let by_copy = self.below(2) == 0;
            graph
                .update(|stream, (x, mut y, sum)| {
                    let module = stream.load(&AXPY)?;
                    if by_copy {
                        let mut copy = stream.uninit::<f32>(len)?;
                        copy.copy_from_buffer(&x)?;
                        module.launch(Axpy, config, (factor, &copy, y.view_mut()))?;
                    } else {
                        module.launch(Axpy, config, (factor, x.view(), y.view_mut()))?;
                    }
                    stream.reduce_sum_into(y.view(), sum)
                })
                .unwrap();
            for _ in 0..self.below(3) {
                graph.launch().unwrap();
                for (y, x) in expected.iter_mut().zip(&x) {
                    *y = factor.mul_add(*x, *y);
                }
                if self.below(2) == 0 {
                    let exact: f64 = expected.iter().copied().map(f64::from).sum();
                    let found = graph.operands().2.to_vec().unwrap()[0];
                    assert_eq!(f64::from(found), exact, "{len} elements");
                }
            }
        }
        let (_, buffer, _) = graph.into_operands();
        self.hold(Held { buffer, expected });
        "graph"
    }
}
