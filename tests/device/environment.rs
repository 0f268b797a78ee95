//! Devices by the names that the environment gives.

use tilewright::{Device, DeviceChoice, ErrorKind};
use tilewright_test_support::assert_kind;

#[test]
fn devices_are_named_in_the_environment() {
    let parse = |name: &str| name.parse::<DeviceChoice>();
    assert_eq!(parse("sim").unwrap(), DeviceChoice::Simulator);
    assert_eq!(parse("cuda").unwrap(), DeviceChoice::Cuda(0));
    assert_eq!(parse("cuda:12").unwrap(), DeviceChoice::Cuda(12));
    for wrong in [
        "",
        "SIM",
        "gpu",
        "cuda:",
        "cuda:-1",
        "cuda:+1",
        "cuda:4294967296",
        "sim:0",
    ] {
        let error = parse(wrong).unwrap_err();
        assert_kind!(error is ErrorKind::UnknownDevice { name, .. } if name == wrong);
        assert!(error.to_string().contains(&format!("`{wrong}`")), "{error}");
    }
}

#[cfg(not(feature = "cuda"))]
#[test]
fn without_the_feature_cuda_is_an_error_that_says_so() {
    let error = Device::cuda(0).unwrap_err();
    assert_kind!(error is ErrorKind::NoCudaFeature);
    assert!(error.to_string().contains("--features cuda"));
}

#[cfg(feature = "cuda")]
#[test]
fn a_cuda_device_that_is_not_there_is_an_error() {
    let error = Device::cuda(4096).unwrap_err();
    // Without a driver there is no device either.
    assert_kind!(error is ErrorKind::NoDevice { ordinal: 4096, .. } | ErrorKind::NoDriver { .. });
}
