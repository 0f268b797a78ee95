//! Ranks that meet over NCCL: a library for threads of one process, `nccl.c`, so that no GPU is needed.

use super::with_libraries;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};
use tilewright::{Device, DeviceGroup, ErrorKind, GroupError, GroupId, GroupOptions, Result};

const NCCL: Option<&str> = Some(include_str!("nccl.c"));

/// Runs `body` on two ranks, with a CUDA device each.
fn on_ranks(timeout: Duration, body: impl Fn(u32, Result<DeviceGroup>) + Sync) {
    let id = GroupId::nccl().unwrap();
    let id: GroupId = id.to_string().parse().unwrap();
    let run = |rank: u32| {
        let options = GroupOptions::default().with_timeout(timeout);
        let device = Device::cuda(rank).unwrap();
        body(
            rank,
            DeviceGroup::join(&id, rank as usize, 2, device, options),
        );
    };
    thread::scope(|scope| {
        scope.spawn(|| run(1));
        run(0);
    });
}

#[track_caller]
fn fault<T: std::fmt::Debug>(result: Result<T>) -> GroupError {
    match result.unwrap_err().into_kind() {
        ErrorKind::Group(error) => error,
        kind => panic!("{kind}"),
    }
}

#[test]
fn ranks_exchange_buffers_over_nccl() {
    with_libraries("nccl::ranks_exchange_buffers_over_nccl", NCCL, || {
        on_ranks(Duration::from_secs(60), |rank, group| {
            let group = group.unwrap();
            let device = &group.devices()[0];
            let mut own = [device.upload(&[rank, 10 + rank]).unwrap()];
            let all = group.all_gather(&own).unwrap();
            assert_eq!(all[0].to_vec().unwrap(), [0, 10, 1, 11]);
            group.broadcast(1, &mut own).unwrap();
            assert_eq!(own[0].to_vec().unwrap(), [1, 11]);
            let x = group.upload(&[5_u64; 10_000]).unwrap();
            assert_eq!(x.to_vec().unwrap(), [5; 10_000]);
        });
    });
}

/// NCCL compares no lengths: it would write past the end of a shorter buffer.
#[test]
fn ranks_that_make_different_calls_are_errors_over_nccl() {
    const TEST: &str = "nccl::ranks_that_make_different_calls_are_errors_over_nccl";
    with_libraries(TEST, NCCL, || {
        on_ranks(Duration::from_secs(60), |rank, group| {
            let group = group.unwrap();
            let own = [group.devices()[0]
                .upload(&vec![1_u8; 1000 * (1 + rank as usize)])
                .unwrap()];
            let error = fault(group.all_gather(&own));
            let GroupError::OutOfStep {
                rank: other,
                reason,
            } = &error
            else {
                panic!("{error}")
            };
            assert_eq!(*other, 1 - rank as usize);
            let of = |bytes| {
                format!(
                    "exchange 0, {bytes} bytes sent and {bytes} bytes received, 1 byte an element"
                )
            };
            let (expected, found) = (own[0].len(), 3000 - own[0].len());
            assert_eq!(
                *reason,
                format!("{} instead of {}", of(found), of(expected))
            );
            assert_eq!(fault(group.all_gather(&own)), error);
        });
    });
}

#[test]
fn a_rank_that_makes_no_call_is_a_timeout_over_nccl() {
    const TEST: &str = "nccl::a_rank_that_makes_no_call_is_a_timeout_over_nccl";
    with_libraries(TEST, NCCL, || {
        let after = Duration::from_millis(200);
        let (send, receive) = mpsc::channel::<()>();
        let receive = std::sync::Mutex::new(receive);
        on_ranks(after, |rank, group| {
            let group = group.unwrap();
            if rank == 1 {
                receive.lock().unwrap().recv().unwrap();
                return;
            }
            let own = [group.devices()[0].upload(&[1]).unwrap()];
            let (start, expected) = (Instant::now(), GroupError::NcclTimeout { after });
            assert_eq!(fault(group.all_gather(&own)), expected);
            assert!((after..100 * after).contains(&start.elapsed()));
            assert_eq!(fault(group.all_gather(&own)), expected);
            send.send(()).unwrap();
        });
    });
}

#[test]
fn a_library_without_the_functions_of_nccl_is_an_error() {
    const TEST: &str = "nccl::a_library_without_the_functions_of_nccl_is_an_error";
    with_libraries(TEST, Some("int ncclGetVersion;"), || {
        let error = GroupId::nccl().unwrap_err();
        assert!(
            error.to_string().contains("pip install nvidia-nccl-cu12"),
            "{error}"
        );
        let expected = "it has no function `ncclGetUniqueId`";
        let error = fault::<()>(Err(error));
        assert!(
            matches!(&error, GroupError::NoNccl { reason, .. } if reason == expected),
            "{error}"
        );
    });
}
