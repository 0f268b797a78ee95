//! Making groups, and invalid groups.

use super::fault;
#[cfg(not(feature = "cuda"))]
use tilewright::ErrorKind;
use tilewright::{Device, DeviceGroup, GroupError, GroupId, GroupOptions};

#[test]
fn a_group_has_the_devices_that_it_is_made_of() {
    let devices = [Device::simulator(), Device::simulator()];
    let group = DeviceGroup::from_devices(devices.clone()).unwrap();
    assert_eq!((group.ranks(), group.local_ranks()), (2, 0..2));
    let are_same = |(one, other): (&Device, &Device)| one.is_same(other);
    assert!(group.devices().iter().zip(&devices).all(are_same));
    assert!(group.is_same(&group.clone()));
    group.synchronize().unwrap();
}

#[test]
fn a_group_of_no_devices_or_of_one_device_twice_is_an_error() {
    assert_eq!(fault(DeviceGroup::simulated(0)), GroupError::NoDevices);
    assert_eq!(fault(DeviceGroup::new([])), GroupError::NoDevices);
    let (one, other) = (Device::simulator(), Device::simulator());
    let twice = DeviceGroup::from_devices([one.clone(), other, one]);
    let expected = GroupError::SameDevice {
        first: 0,
        second: 2,
    };
    assert_eq!(fault(twice), expected);
}

#[test]
fn a_group_of_more_than_65_536_ranks_is_an_error() {
    let id = GroupId::tcp("127.0.0.1:0").unwrap();
    for ranks in [1 << 17, 1 << 33, usize::MAX] {
        let most = 1 << 16;
        let expected = GroupError::TooManyRanks { ranks, most };
        assert_eq!(fault(DeviceGroup::simulated(ranks)), expected);
        let (device, options) = (Device::simulator(), GroupOptions::default());
        assert_eq!(
            fault(DeviceGroup::join(&id, 0, ranks, device, options)),
            expected
        );
    }
}

#[test]
fn operands_of_another_group_and_absent_ranks_are_errors() {
    let (group, other) = (DeviceGroup::simulated(2), DeviceGroup::simulated(2));
    let (group, other) = (group.unwrap(), other.unwrap());
    let x = other.upload(&[1.0_f32]).unwrap();
    let error = group.reduce_sum(&x).unwrap_err();
    assert_eq!(error.operation(), "reduce_sum");
    let what = "the buffer to reduce";
    assert_eq!(fault::<()>(Err(error)), GroupError::OtherGroup { what });
    let no_rank = x.runs(2).map(|_| ());
    assert_eq!(fault(no_rank), GroupError::NoRank { rank: 2, ranks: 2 });
    assert!(x.shard(2).is_none());
}

#[cfg(not(feature = "cuda"))]
#[test]
fn without_the_feature_cuda_there_are_no_numbered_devices() {
    let error = DeviceGroup::new([0, 1]).unwrap_err();
    tilewright_test_support::assert_kind!(error is ErrorKind::NoCudaFeature);
}
