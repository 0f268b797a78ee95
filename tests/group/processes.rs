//! Ranks in processes of their own, which find one another over a socket of this machine.

use super::fault;
use std::env;
use std::process::{Child, Command};
use std::time::{Duration, Instant};
use tilewright::{Device, DeviceGroup, GroupError, GroupId, GroupOptions};

/// What a child process knows its rank by, and the ids of the groups that it joins.
const RANK: &str = "TILEWRIGHT_TEST_RANK";
const IDS: &str = "TILEWRIGHT_TEST_IDS";

const TIMEOUT: Duration = Duration::from_secs(60);

/// The rank of this process: 0 but in a child.
fn rank() -> usize {
    env::var(RANK).map_or(0, |rank| rank.parse().unwrap())
}

/// The ids of two groups, which process 0 makes.
fn ids() -> [GroupId; 2] {
    match env::var(IDS) {
        Ok(ids) => {
            let (one, other) = ids.split_once(' ').unwrap();
            [one, other].map(|id| id.parse().unwrap())
        }
        Err(_) => [(); 2].map(|()| GroupId::tcp("127.0.0.1:0").unwrap()),
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

fn join(id: &GroupId, rank: usize, ranks: usize) -> DeviceGroup {
    let options = GroupOptions::default().with_timeout(TIMEOUT);
    DeviceGroup::join(id, rank, ranks, Device::simulator(), options).unwrap()
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

#[test]
fn two_processes_have_the_bits_of_one_device() {
    let (rank, ids) = (rank(), ids());
    let other = (rank == 0).then(|| {
        spawn(
            "processes::two_processes_have_the_bits_of_one_device",
            1,
            &ids,
        )
    });
    check_sum(&join(&ids[0], rank, 2));
    if let Some(mut other) = other {
        assert!(other.wait().unwrap().success());
    }
}

#[test]
fn a_killed_process_is_an_error_of_the_others_and_they_go_on_in_a_new_group() {
    const TEST: &str =
        "processes::a_killed_process_is_an_error_of_the_others_and_they_go_on_in_a_new_group";
    let (rank, ids) = (rank(), ids());
    let children = (rank == 0).then(|| [1, 2].map(|rank| spawn(TEST, rank, &ids)));
    let group = join(&ids[0], rank, 3);
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
    let error = loop {
        if let Err(error) = group.reduce_sum(&x) {
            break fault::<()>(Err(error));
        }
    };
    assert!(matches!(error, GroupError::PeerLost { .. }), "{error}");
    assert!(start.elapsed() < TIMEOUT / 2);
    assert_eq!(fault(group.reduce_sum(&x)), error);
    check_sum(&join(&ids[1], rank, 2));
    if let Some(mut one) = children {
        assert!(one.wait().unwrap().success());
    }
}
