//! The waits of copies. The driver is that of `tests/cudarc`, so that no GPU is needed.

use crate::traced::{traced, with_driver};
use std::collections::BTreeMap;
use tilewright::{Device, HostMatrix};

/// The waits of each stream, in launches of the device.
#[derive(Default)]
struct Waits {
    launches: usize,
    /// The launches before an event was last recorded in the device's stream.
    events: BTreeMap<String, usize>,
    /// The launches that a stream waits for.
    streams: BTreeMap<String, usize>,
}

impl Waits {
    /// Takes one submitted call, and returns its stream and its name.
    fn submit<'a>(&mut self, call: &'a str) -> (&'a str, &'a str) {
        let (stream, call) = call.split_once('.').unwrap();
        let (name, argument) = call.split_once('(').unwrap_or((call, ""));
        match (stream, name) {
            ("S1", "launches") => self.launches += 1,
            ("S1", "records") => {
                self.events.insert(argument.to_owned(), self.launches);
            }
            (_, "records") => {
                self.events.remove(argument);
            }
            (_, "waits") => {
                let found = self.events.get(argument).copied().unwrap_or(0);
                let waits = self.streams.entry(stream.to_owned()).or_default();
                *waits = found.max(*waits);
            }
            _ => {}
        }
        (stream, name)
    }

    fn of(&self, stream: &str) -> usize {
        self.streams.get(stream).copied().unwrap_or(0)
    }
}

/// A product runs while the next panel is uploaded and the block before is downloaded.
#[test]
fn copies_wait_for_the_products_that_use_their_memory_alone() {
    const TEST: &str = "order::copies_wait_for_the_products_that_use_their_memory_alone";
    with_driver(TEST, || {
        let device = Device::cuda(0).unwrap();
        let (m, k, n) = (64 * 6, 8, 64);
        let (a, b) = (vec![1.0_f32; m * k], vec![1.0_f32; k * n]);
        let a = HostMatrix::new((m, k), &a).unwrap();
        let b = HostMatrix::new((k, n), &b).unwrap();
        let memory = 4 * (3 * 64 * k + 2 * 64 * n) as u64;
        let mut multiplier = device.host_multiplier::<f32, f32>(memory).unwrap();
        let mut c = vec![0.0; m * n];
        // The kernel is loaded by the first product.
        multiplier.multiply(a, b, &mut c).unwrap();
        let (trace, product) = traced(|| multiplier.multiply(a, b, &mut c));
        product.unwrap();

        let mut waits = Waits::default();
        let (mut uploads, mut downloads) = (0, 0);
        for call in &trace {
            let (stream, name) = waits.submit(call);
            let found = || format!("{call} after {} launches: {trace:?}", waits.launches);
            match name {
                "writes" => {
                    uploads += 1;
                    assert!(waits.of(stream) < waits.launches.max(1), "{}", found());
                }
                "reads" => {
                    downloads += 1;
                    assert_eq!(waits.of(stream), downloads, "{}", found());
                }
                _ => {}
            }
        }
        assert_eq!((waits.launches, uploads, downloads), (6, 7, 6), "{trace:?}");
    });
}
