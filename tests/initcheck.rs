//! The host reads memory that nothing has written: an error on the simulator, where memory is checked.

use cuda_std::prelude::*;
use tilewright::{
    Device, ErrorKind, LaunchConfig, ModuleSource, SimulatorError, SimulatorOptions, testing,
};
use tilewright_test_support::assert_kind;

/// Stores its number in the element of each thread but the first `skipped` ones.
#[kernel]
pub fn number(skipped: u32, out: GlobalMut<u32>) {
    let index = thread::unique_index();
    let value = index.get() as u32;
    if value >= skipped
        && let Some(place) = out.own(index)
    {
        place.set(value);
    }
}

// SAFETY: (1) there are no images, so none that could differ from the kernel.
static KERNELS: ModuleSource = unsafe { ModuleSource::new("initcheck", &[]) };

/// A kernel that leaves an element out, and its twin that does not.
#[test]
fn an_element_that_the_kernel_leaves_out() {
    testing::under_seeds(testing::seeds(8), |device| {
        let numbers = |skipped: u32| {
            let mut out = device.uninit::<u32>(100).unwrap().named("numbers");
            let module = device.load(&KERNELS).unwrap();
            let config = LaunchConfig::new(4, 32);
            module.launch(number, config, (skipped, &mut out)).unwrap();
            out.to_vec()
        };
        assert!(numbers(0).unwrap().into_iter().eq(0..100));
        let error = numbers(1).unwrap_err();
        assert_kind!(error is ErrorKind::Simulator(SimulatorError::NeverWritten { first: 0, .. }));
        assert!(error.to_string().contains("of buffer `numbers`"), "{error}");
    });
}

#[test]
fn a_buffer_that_nothing_has_written() {
    let device = Device::simulator();
    let mut buffer = device.uninit::<u32>(1000).unwrap();
    let error = buffer.to_vec().unwrap_err();
    assert_kind!(
        error is ErrorKind::Simulator(SimulatorError::NeverWritten { bytes: 4000, first: 0, .. })
    );
    assert!(buffer.copy_to_slice(&mut [0; 1000]).is_err());
    buffer.copy_from_slice(&[7; 1000]).unwrap();
    assert_eq!(buffer.to_vec().unwrap(), vec![7; 1000]);
}

/// A copy on the device hands on that its source was never written.
#[test]
fn a_copy_of_what_nothing_has_written() {
    let device = Device::simulator();
    let source = device.uninit::<u8>(300).unwrap();
    let mut copy = device.zeros::<u8>(300).unwrap();
    assert_eq!(copy.to_vec().unwrap(), vec![0; 300]);
    let clone = source.try_clone().unwrap();
    let error = clone.to_vec().unwrap_err();
    assert_kind!(error is ErrorKind::Simulator(SimulatorError::NeverWritten { .. }));
    copy.fill_zero().unwrap();
    assert_eq!(copy.to_vec().unwrap(), vec![0; 300]);
}

#[test]
fn nothing_is_said_without_checks() {
    let mut options = SimulatorOptions::default();
    options.checks = false;
    let device = Device::simulator_with(options);
    let buffer = device.uninit::<u32>(10).unwrap();
    assert_eq!(buffer.to_vec().unwrap().len(), 10);
}
