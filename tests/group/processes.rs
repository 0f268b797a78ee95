//! Ranks in processes of their own, which find one another over a socket of this machine.

use super::fault;
use super::matmul::{data, on_one};
use crate::common::{cuda_device, say};
use std::env;
use std::process::{Child, Command};
use std::time::{Duration, Instant};
use tilewright::{Device, DeviceGroup, GroupError, GroupId, GroupOptions, Sharding};

/// The rank of a child process, and the ids of the groups that it joins.
const RANK: &str = "TILEWRIGHT_TEST_RANK";
const IDS: &str = "TILEWRIGHT_TEST_IDS";

const TIMEOUT: Duration = Duration::from_secs(60);

/// The rendezvous of the processes, and the device of each.
struct Rendezvous {
    id: fn() -> GroupId,
    device: fn(usize) -> Device,
    timeout: Duration,
}

const OVER_SOCKETS: Rendezvous = Rendezvous {
    id: || GroupId::tcp("127.0.0.1:0").unwrap(),
    device: |_| Device::simulator(),
    timeout: TIMEOUT,
};

/// A process that dies says nothing over NCCL: the others wait for as long as the timeout is.
const OVER_NCCL: Rendezvous = Rendezvous {
    id: || GroupId::nccl().unwrap(),
    device: |rank| Device::cuda(rank as u32).unwrap(),
    timeout: Duration::from_secs(15),
};

/// The rank of this process: 0 but in a child.
fn rank() -> usize {
    env::var(RANK).map_or(0, |rank| rank.parse().unwrap())
}

impl Rendezvous {
    /// The ids of two groups, which process 0 makes.
    fn ids(&self) -> [GroupId; 2] {
        match env::var(IDS) {
            Ok(ids) => {
                let (one, other) = ids.split_once(' ').unwrap();
                [one, other].map(|id| id.parse().unwrap())
            }
            Err(_) => [(); 2].map(|()| (self.id)()),
        }
    }

    fn join(&self, id: &GroupId, rank: usize, ranks: usize) -> DeviceGroup {
        let options = GroupOptions::default().with_timeout(self.timeout);
        DeviceGroup::join(id, rank, ranks, (self.device)(rank), options).unwrap()
    }
}

/// Whether there are two CUDA devices and NCCL; where they are missing, the test says so on stderr.
fn has_nccl() -> bool {
    if cuda_device().is_none() {
        return false;
    }
    let missing = Device::cuda(1).map(drop).and_then(|()| GroupId::nccl());
    match missing {
        Ok(_) => true,
        Err(error) => {
            say(&format!("skipped over NCCL: {error}"));
            false
        }
    }
}

/// This very test in another process, as `rank`.
fn spawn(test: &str, rank: usize, ids: &[GroupId; 2]) -> Child {
    Command::new(env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(RANK, rank.to_string())
        .env(IDS, format!("{} {}", ids[0], ids[1]))
        .spawn()
        .unwrap()
}

/// A sum that all ranks check.
#[track_caller]
fn check_sum(group: &DeviceGroup) {
    let data: Vec<f64> = (0..10_000)
        .map(|index| 1.0 / f64::from(index + 1))
        .collect();
    let one = Device::simulator();
    let expected = one.reduce_sum(&one.upload(&data).unwrap()).unwrap();
    let x = group.upload(&data).unwrap();
    assert_eq!(group.reduce_sum(&x).unwrap().to_bits(), expected.to_bits());
}

/// A product, for which the columns of B go from rank to rank, that all ranks check.
#[track_caller]
fn check_product(group: &DeviceGroup) {
    let (m, k, n) = (67, 30, 45);
    let (a, b) = (
        data(m * k, |value| value as f32),
        data(k * n, |value| value as f32),
    );
    let expected = on_one(&group.devices()[0], (m, k, n), &a, &b);
    let a = group.matrix((m, k), &a, Sharding::Rows).unwrap();
    let b = group.matrix((k, n), &b, Sharding::Columns).unwrap();
    assert_eq!(group.matmul(&a, &b).unwrap().to_vec().unwrap(), expected);
}

fn two_processes(rendezvous: &Rendezvous, test: &str) {
    let (rank, ids) = (rank(), rendezvous.ids());
    let other = (rank == 0).then(|| spawn(test, 1, &ids));
    let group = rendezvous.join(&ids[0], rank, 2);
    check_sum(&group);
    check_product(&group);
    drop(group);
    if let Some(mut other) = other {
        assert!(other.wait().unwrap().success());
    }
}

#[test]
fn two_processes_have_the_bits_of_one_device() {
    let test = "processes::two_processes_have_the_bits_of_one_device";
    two_processes(&OVER_SOCKETS, test);
}

#[test]
fn two_processes_have_the_bits_of_one_device_over_nccl() {
    if has_nccl() {
        let test = "processes::two_processes_have_the_bits_of_one_device_over_nccl";
        two_processes(&OVER_NCCL, test);
    }
}

/// The error of a sum that rank 0 gets when another rank is killed.
fn error_of_a_sum(group: &DeviceGroup) -> GroupError {
    let x = group.upload(&[1_i32; 100_000]).unwrap();
    let error = loop {
        if let Err(error) = group.reduce_sum(&x) {
            break fault::<()>(Err(error));
        }
    };
    assert_eq!(fault(group.reduce_sum(&x)), error);
    error
}

#[test]
fn a_killed_process_is_an_error_of_the_others_and_they_go_on_in_a_new_group() {
    const TEST: &str =
        "processes::a_killed_process_is_an_error_of_the_others_and_they_go_on_in_a_new_group";
    let (rank, ids) = (rank(), OVER_SOCKETS.ids());
    let children = (rank == 0).then(|| [1, 2].map(|rank| spawn(TEST, rank, &ids)));
    let group = OVER_SOCKETS.join(&ids[0], rank, 3);
    check_sum(&group);
    let x = group.upload(&[1_i32; 100_000]).unwrap();
    if rank != 1 {
        // After this sum rank 1 has the one before. It may lack a part of this one when rank 2 is killed.
        group.reduce_sum(&x).unwrap();
    }
    if rank == 2 {
        std::thread::sleep(2 * TIMEOUT);
    }
    let children = children.map(|[one, mut killed]| {
        killed.kill().unwrap();
        killed.wait().unwrap();
        one
    });
    let start = Instant::now();
    let error = error_of_a_sum(&group);
    assert!(matches!(error, GroupError::PeerLost { .. }), "{error}");
    assert!(start.elapsed() < TIMEOUT / 2);
    check_sum(&OVER_SOCKETS.join(&ids[1], rank, 2));
    if let Some(mut one) = children {
        assert!(one.wait().unwrap().success());
    }
}

#[test]
fn a_killed_process_is_an_error_over_nccl_within_the_timeout() {
    const TEST: &str = "processes::a_killed_process_is_an_error_over_nccl_within_the_timeout";
    if !has_nccl() {
        return;
    }
    let (rank, ids) = (rank(), OVER_NCCL.ids());
    let child = (rank == 0).then(|| spawn(TEST, 1, &ids));
    let group = OVER_NCCL.join(&ids[0], rank, 2);
    check_sum(&group);
    let Some(mut child) = child else {
        std::thread::sleep(2 * TIMEOUT);
        return;
    };
    child.kill().unwrap();
    child.wait().unwrap();
    let start = Instant::now();
    let error = error_of_a_sum(&group);
    let is_loss = matches!(
        error,
        GroupError::NcclTimeout { .. } | GroupError::Nccl { .. }
    );
    assert!(is_loss, "{error}");
    assert!(start.elapsed() < 2 * OVER_NCCL.timeout);
    drop(group);
    // The device goes on, in another group.
    check_sum(&OVER_NCCL.join(&ids[1], 0, 1));
}
