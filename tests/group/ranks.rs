//! Ranks that have a connection each, as those of several processes: threads stand for the processes.

use super::fault;
use std::io::Write as _;
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};
use tilewright::{
    Device, DeviceGroup, ErrorKind, GroupError, GroupId, GroupOptions, Matmul, Result,
    ShardedMatmul, Sharding, SimulatorError, ops,
};
use tilewright_test_support::assert_kind;

/// Long enough for a loaded machine; where a test waits for it, it is `SHORT`.
const LONG: Duration = Duration::from_secs(60);
const SHORT: Duration = Duration::from_millis(200);

fn options(timeout: Duration) -> GroupOptions {
    GroupOptions::default().with_timeout(timeout)
}

/// The results of `body` on each of `ranks` ranks of a group.
fn on_ranks<R: Send>(
    ranks: usize,
    timeout: Duration,
    body: impl Fn(usize, Result<DeviceGroup>) -> R + Sync,
) -> Vec<R> {
    let id = GroupId::tcp("127.0.0.1:0").unwrap();
    let run = |rank| {
        let group = DeviceGroup::join(&id, rank, ranks, Device::simulator(), options(timeout));
        body(rank, group)
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..ranks)
            .map(|rank| scope.spawn(move || run(rank)))
            .collect();
        threads.into_iter().map(|it| it.join().unwrap()).collect()
    })
}

#[test]
fn ranks_with_connections_compute_what_those_of_one_process_do() {
    for ranks in [1, 2, 3] {
        let data: Vec<f32> = (0..20_000).map(|index| index as f32 * 0.1).collect();
        let whole = DeviceGroup::simulated(ranks).unwrap();
        let expected = whole.reduce_sum(&whole.upload(&data).unwrap()).unwrap();
        on_ranks(ranks, LONG, |rank, group| {
            let group = group.unwrap();
            assert_eq!(
                (group.ranks(), group.local_ranks()),
                (ranks, rank..rank + 1)
            );
            let x = group.upload(&data).unwrap();
            assert_eq!(group.reduce_sum(&x).unwrap(), expected);
            assert_eq!(group.reduce(&x, ops::ArgMax).unwrap(), 19_999);
            assert_eq!(x.to_vec().unwrap(), data);
            assert!(x.shard(rank).is_some());
            let state = group.reproducible_sum(&x).unwrap();
            assert_eq!(state, data.iter().copied().collect());
            let mut own = [group.devices()[0].upload(&[rank as i32, 1]).unwrap()];
            let sums = group.all_reduce(&own, ops::Sum).unwrap();
            let all = (ranks * (ranks - 1) / 2) as i64;
            assert_eq!(sums[0].to_vec().unwrap(), [all, ranks as i64]);
            group.broadcast(ranks - 1, &mut own).unwrap();
            assert_eq!(own[0].to_vec().unwrap(), [ranks as i32 - 1, 1]);
            let a = group.matrix((4, 3), &data[..12], Sharding::Rows).unwrap();
            let b = group
                .matrix((3, 5), &data[..15], Sharding::Columns)
                .unwrap();
            let c = group.matmul(&a, &b).unwrap().to_vec().unwrap();
            let bias = group.matrix((1, 5), &data[..5], Sharding::Replicated);
            let bias = bias.unwrap();
            let product = ShardedMatmul::new(&a, &b).column_bias(&bias).alpha(0.3);
            let finished = product.run().unwrap().to_vec().unwrap();
            let one = &group.devices()[0];
            let (a, b) = (
                one.matrix((4, 3), &data[..12]).unwrap(),
                one.matrix((3, 5), &data[..15]).unwrap(),
            );
            let expected = one.matmul(&a, &b).unwrap();
            let bias = one.upload(&data[..5]).unwrap();
            let product = Matmul::new(&a, &b).column_bias(&bias).alpha(0.3);
            assert_eq!(finished, product.run().unwrap().to_vec().unwrap());
            assert_eq!(c, expected.to_vec().unwrap());
        });
    }
}

#[test]
fn a_rank_that_does_not_answer_is_an_error_after_the_timeout() {
    let (answered, wait) = std::sync::mpsc::channel();
    let wait = std::sync::Mutex::new(wait);
    on_ranks(2, SHORT, |rank, group| {
        let group = group.unwrap();
        let x = group.upload(&[1_u32, 2]).unwrap();
        if rank == 0 {
            let start = Instant::now();
            let after = SHORT;
            let expected = GroupError::PeerTimeout { rank: 1, after };
            assert_eq!(fault(group.reduce_sum(&x)), expected);
            assert!((SHORT..LONG / 2).contains(&start.elapsed()));
            // The group is over.
            assert_eq!(fault(group.reduce_sum(&x)), expected);
            answered.send(()).unwrap();
        } else {
            wait.lock().unwrap().recv().unwrap();
            let error = fault(group.reduce_sum(&x));
            assert!(
                matches!(error, GroupError::PeerLost { rank: 0, .. }),
                "{error}"
            );
        }
    });
}

#[test]
fn a_call_that_fails_on_one_rank_fails_on_the_others_at_once() {
    on_ranks(3, LONG, |rank, group| {
        let group = group.unwrap();
        let device = &group.devices()[0];
        // The simulator refuses to send memory that was never written.
        let own = match rank {
            1 => device.uninit::<f32>(4).unwrap(),
            _ => device.zeros(4).unwrap(),
        };
        let start = Instant::now();
        let error = group.all_gather(&[own]).unwrap_err();
        assert!(start.elapsed() < LONG / 2);
        match rank {
            1 => {
                assert_kind!(error is ErrorKind::Simulator(SimulatorError::NeverWritten { .. }));
                let later = [device.zeros::<f32>(4).unwrap()];
                let later = fault(group.all_gather(&later));
                assert!(matches!(later, GroupError::Over { .. }), "{later}");
            }
            _ => {
                let error = fault::<()>(Err(error));
                assert!(matches!(error, GroupError::PeerLost { .. }), "{error}");
            }
        }
    });
}

#[test]
fn ranks_at_different_calls_are_told_so() {
    let errors = on_ranks(2, LONG, |rank, group| {
        let group = group.unwrap();
        let own = [group.devices()[0].zeros::<u8>(10 + rank).unwrap()];
        fault(group.all_gather(&own))
    });
    let is_step = |error: &GroupError| matches!(error, GroupError::OutOfStep { .. });
    assert!(errors.iter().any(is_step), "{errors:?}");
}

#[test]
fn a_rank_that_does_not_come_is_an_error_of_the_others() {
    let id = GroupId::tcp("127.0.0.1:0").unwrap();
    let device = Device::simulator();
    let alone = DeviceGroup::join(&id, 0, 2, device.clone(), options(SHORT));
    let after = SHORT;
    assert_eq!(fault(alone), GroupError::PeerTimeout { rank: 1, after });
    let absent = DeviceGroup::join(&id, 2, 2, device.clone(), options(SHORT));
    assert_eq!(fault(absent), GroupError::NoRank { rank: 2, ranks: 2 });
    let parsed: GroupId = id.to_string().parse().unwrap();
    assert_eq!(parsed, id);
    let of_another = DeviceGroup::join(&parsed, 0, 1, device, options(SHORT));
    assert!(matches!(fault(of_another), GroupError::Rendezvous { .. }));
    for wrong in ["", "tcp:", "tcp:localhost:80", "udp:127.0.0.1:1"] {
        let error = fault(wrong.parse::<GroupId>());
        assert!(matches!(error, GroupError::Rendezvous { .. }), "{error}");
        assert!(error.to_string().contains("numeric address"), "{error}");
    }
}

/// The connections of earlier tries, with their hellos, wait for rank 0.
#[test]
fn ranks_that_gave_up_join_with_the_same_id() {
    let id = GroupId::tcp("127.0.0.1:0").unwrap();
    let join =
        |rank, timeout| DeviceGroup::join(&id, rank, 3, Device::simulator(), options(timeout));
    for _ in 0..2 {
        let after = SHORT;
        assert_eq!(
            fault(join(1, SHORT)),
            GroupError::PeerTimeout { rank: 0, after }
        );
    }
    thread::scope(|scope| {
        let host = scope.spawn(|| join(0, LONG));
        // Rank 0 has this try's connection, and waits for rank 2, when it ends.
        fault(join(1, SHORT));
        let others = [1, 2].map(|rank| scope.spawn(move || join(rank, LONG)));
        for joined in others.into_iter().chain([host]) {
            let group = joined.join().unwrap().unwrap();
            assert_eq!(group.ranks(), 3);
        }
    });
}

/// Otherwise the next call of that rank would answer the others' current one.
#[test]
fn a_call_with_wrong_arguments_on_one_rank_is_an_error_of_all() {
    /// A call with operands at a device, which may be that of no rank.
    type Call = fn(&DeviceGroup, &Device) -> Result<()>;
    let calls: [Call; 8] = [
        |group, at| {
            let own = [at.zeros::<f32>(2)?];
            group.all_reduce(&own, ops::Sum).map(drop)
        },
        |group, at| {
            let own = [at.zeros::<f32>(2)?];
            group.reduce_scatter(&own, ops::Sum).map(drop)
        },
        |group, at| group.all_gather(&[at.zeros::<f32>(2)?]).map(drop),
        |group, at| group.broadcast(1, &mut [at.zeros::<f32>(2)?]),
        |group, at| {
            let x = group.zeros::<f32>(2)?;
            group.reduce_into(&x, ops::Sum, &mut [at.zeros(1)?])
        },
        |group, at| {
            let x = group_at(group, at)?.zeros::<f64>(2)?;
            group.reduce_sum(&x).map(drop)
        },
        |group, at| {
            let x = group_at(group, at)?.zeros::<f64>(2)?;
            group.reproducible_sum(&x).map(drop)
        },
        |group, at| {
            let a = group.matrix((2, 2), &[1.0_f32; 4], Sharding::Rows)?;
            let b = group_at(group, at)?.matrix((2, 2), &[1.0; 4], Sharding::Columns)?;
            group.matmul(&a, &b).map(drop)
        },
    ];
    for call in calls {
        on_ranks(2, LONG, |rank, group| {
            let group = group.unwrap();
            let own = &group.devices()[0];
            let start = Instant::now();
            if rank == 1 {
                call(&group, &Device::simulator()).unwrap_err();
                let later = fault(call(&group, own));
                assert!(matches!(later, GroupError::Over { .. }), "{later}");
            } else {
                let error = fault(call(&group, own));
                let is_loss = matches!(error, GroupError::PeerLost { rank: 1, .. });
                assert!(is_loss, "{error}");
            }
            assert!(start.elapsed() < LONG / 2);
        });
    }
}

/// `group` if it has the device, and otherwise another one of that device.
fn group_at(group: &DeviceGroup, at: &Device) -> Result<DeviceGroup> {
    match at.is_same(&group.devices()[0]) {
        true => Ok(group.clone()),
        false => DeviceGroup::from_devices([at.clone()]),
    }
}

#[test]
fn elements_of_another_size_are_another_call() {
    let errors = on_ranks(2, LONG, |rank, group| {
        let group = group.unwrap();
        let device = &group.devices()[0];
        match rank {
            0 => fault(group.all_gather(&[device.zeros::<u64>(1).unwrap()])),
            _ => fault(group.all_gather(&[device.zeros::<f32>(2).unwrap()])),
        }
    });
    let is_step = |error: &GroupError| matches!(error, GroupError::OutOfStep { .. });
    assert!(errors.iter().any(is_step), "{errors:?}");
    let words = format!("{errors:?}");
    assert!(words.contains("8 bytes an element"), "{words}");
}

#[test]
fn two_processes_that_join_as_one_rank_are_errors() {
    let id = GroupId::tcp("127.0.0.1:0").unwrap();
    let join = |rank| {
        let device = Device::simulator();
        fault(DeviceGroup::join(&id, rank, 3, device, options(LONG)))
    };
    let errors = thread::scope(|scope| {
        let others = [scope.spawn(|| join(1)), scope.spawn(|| join(1))];
        let host = join(0);
        assert!(
            matches!(&host, GroupError::Rendezvous { reason } if reason.contains("rank 1")),
            "{host}"
        );
        others.map(|it| it.join().unwrap())
    });
    for error in errors {
        assert!(
            matches!(error, GroupError::PeerLost { rank: 0, .. }),
            "{error}"
        );
    }
}

#[test]
fn connections_of_other_programs_do_not_keep_ranks_apart() {
    let id = GroupId::tcp("127.0.0.1:0").unwrap();
    let address = id.to_string();
    let address = address.strip_prefix("tcp:").unwrap();
    // One that says nothing, one that says something else, and one that says that it is rank 7 of 2.
    let silent = TcpStream::connect(address).unwrap();
    let mut other = TcpStream::connect(address).unwrap();
    other.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    let mut absent = TcpStream::connect(address).unwrap();
    absent
        .write_all(b"tilewrt2\x07\0\0\0\x02\0\0\0\0\0")
        .unwrap();
    let join = |rank| {
        let group = DeviceGroup::join(&id, rank, 2, Device::simulator(), options(LONG));
        assert_eq!(group.unwrap().ranks(), 2);
    };
    thread::scope(|scope| {
        scope.spawn(|| join(1));
        join(0);
    });
    drop(silent);
}

/// The length that another program sends is not trusted.
#[test]
fn another_program_at_the_address_of_rank_0_is_an_error() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let id = format!("tcp:{}", listener.local_addr().unwrap());
    let id: GroupId = id.parse().unwrap();
    thread::scope(|scope| {
        let other = scope.spawn(|| {
            let (mut stream, _) = listener.accept().unwrap();
            stream.write_all(&u32::MAX.to_le_bytes()).unwrap();
            stream
        });
        let joined = DeviceGroup::join(&id, 1, 2, Device::simulator(), options(LONG));
        let error = fault(joined);
        assert!(
            matches!(&error, GroupError::Rendezvous { reason } if reason.contains("4294967295 bytes")),
            "{error}"
        );
        drop(other.join().unwrap());
    });
}
