//! Calls that fail, and change nothing.

use super::Worker;
use super::common::axpy::Axpy;
use tilewright::{ErrorKind, LaunchConfig};
use tilewright_test_support::assert_kind;

impl Worker<'_> {
    /// A wrong call, whose error must name the mistake and change nothing.
    pub(super) fn fail(&mut self) -> &'static str {
        let place = self.any_held();
        let len = self.held[place].expected.len();
        let device = self.device;
        let choice = self.below(6);
        let held = &mut self.held[place];
        let error = match choice {
            0 => held.buffer.copy_from_slice(&vec![9.0; len + 1]),
            1 => held.buffer.copy_to_slice(&mut vec![9.0; len + 3]),
            2 => {
                let a = device.matrix_zeros::<f32>((2, 3)).unwrap();
                device.matmul_tiled(&a, &a).map(drop)
            }
            3 => device.zeros::<f64>(usize::MAX / 4).map(drop),
            4 => {
                let x = device.zeros::<f32>(len).unwrap();
                let config = LaunchConfig::new(1, 257);
                let arguments = (1.0, &x, &mut held.buffer);
                self.module.launch(Axpy, config, arguments)
            }
            _ => {
                let x = device.zeros::<f32>(len).unwrap();
                let config = LaunchConfig::new(1, 32).with_dynamic_shared(1 << 30);
                let arguments = (1.0, &x, &mut held.buffer);
                self.module.launch(Axpy, config, arguments)
            }
        }
        .unwrap_err();
        let is_right = match choice {
            0 | 1 => {
                matches!(error.kind(), ErrorKind::WrongLength { expected, .. } if *expected == len)
            }
            2 => matches!(error.kind(), ErrorKind::ShapeMismatch { .. }),
            3 => matches!(error.kind(), ErrorKind::TooLarge { .. }),
            _ => matches!(error.kind(), ErrorKind::LaunchConfig { kernel: "axpy", .. }),
        };
        assert!(is_right, "{error}");
        self.held[place].check();
        "fail"
    }

    /// More memory than the device has: it returns the memory that it keeps, and continues.
    pub(super) fn fail_to_allocate(&mut self) -> &'static str {
        let bytes = self.device.properties().memory_bytes + 1;
        let error = self
            .device
            .uninit::<u8>(usize::try_from(bytes).unwrap())
            .unwrap_err();
        assert_kind!(error is ErrorKind::OutOfMemory { requested, .. } if *requested == bytes);
        "fail to allocate"
    }
}
