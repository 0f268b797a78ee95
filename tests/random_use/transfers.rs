//! Copies that do not block, which end some steps later, and host data in chunks and panels.

use super::{Held, Worker, product};
use tilewright::{Error, HostMatrix, Transfer, ops};

/// Most copies of a thread that are on their way.
const ON_THE_WAY: usize = 4;

/// A copy to the host, and the expected contents.
pub struct Download {
    transfer: Transfer<f32>,
    expected: Vec<f32>,
}

impl Download {
    /// Waits for the copy, and checks it.
    pub fn check(self) {
        let host = self.transfer.wait().unwrap();
        assert_eq!(host[..], self.expected);
    }
}

impl Worker<'_> {
    /// A copy to the host that ends in a later step, after which the buffer may be written or dropped at once.
    pub(super) fn download(&mut self) -> &'static str {
        let place = self.any_held();
        let Held { buffer, expected } = &self.held[place];
        let host = self.device.pinned::<f32>(expected.len()).unwrap();
        let download = Download {
            transfer: buffer.view().start_copy_to(host).unwrap(),
            expected: expected.clone(),
        };
        if self.below(2) == 0 {
            let held = &mut self.held[place];
            held.buffer.fill_zero().unwrap();
            held.expected.fill(0.0);
        }
        self.on_the_way.push(download);
        if self.on_the_way.len() > ON_THE_WAY {
            let earlier = self.below(ON_THE_WAY as u64) as usize;
            let earlier = self.on_the_way.swap_remove(earlier);
            match self.below(4) {
                // Dropping it waits.
                0 => drop(earlier),
                _ => earlier.check(),
            }
        }
        "download"
    }

    /// A sum in chunks or a product in panels, by functions that may fail.
    pub(super) fn host_data(&mut self) -> &'static str {
        match self.below(2) {
            0 => self.sum_in_chunks(),
            _ => self.multiply_in_panels(),
        }
        "host data"
    }

    fn sum_in_chunks(&mut self) {
        let len = self.len();
        let x = self.integers(len);
        let chunk = self.below(8192) as usize + 1;
        let mut reducer = self.device.host_reducer::<f32>(chunk).unwrap();
        let exact: f64 = x.iter().copied().map(f64::from).sum();
        let fails = len > 0 && self.below(4) == 0;
        let outcome = || match fails {
            true => Err(Failure::OfRead),
            false => Ok(()),
        };
        let sum = match self.below(2) {
            0 => reducer.reduce_from(len, ops::Sum, |start, elements| {
                elements.copy_from_slice(&x[start..start + elements.len()]);
                outcome()
            }),
            _ => reducer.reduce_gathered(
                len,
                x.chunks(1000).map(|chunk| outcome().map(|()| chunk)),
                ops::Sum,
            ),
        };
        match sum {
            Ok(sum) => assert_eq!((f64::from(sum), fails), (exact, false)),
            Err(error) => assert!(fails && matches!(error, Failure::OfRead), "{error:?}"),
        }
    }

    fn multiply_in_panels(&mut self) {
        let limit = if self.device.is_simulator() { 12 } else { 150 };
        let [m, n, k] = [(); 3].map(|()| self.below(limit) as usize + 1);
        let (a, b) = (self.integers(m * k), self.integers(k * n));
        let expected = product(&a, &b, (m, n, k));
        // Enough for one output, or for panels of some lines.
        let memory = 64 + self.below(4 * (m * n + m * k + k * n) as u64);
        let mut multiplier = self.device.host_multiplier::<f32, f32>(memory).unwrap();
        let a = HostMatrix::new((m, k), &a).unwrap();
        let b = HostMatrix::new((k, n), &b).unwrap();
        let mut c = vec![0.0; m * n];
        multiplier.multiply(a, b, &mut c).unwrap();
        assert_eq!(c, expected, "{m} x {n} x {k} in {memory} bytes");
    }
}

#[derive(Debug)]
enum Failure {
    OfRead,
    #[expect(dead_code, reason = "it is shown")]
    OfCall(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::OfCall(error)
    }
}
