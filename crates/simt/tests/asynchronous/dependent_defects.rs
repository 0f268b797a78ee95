//! Threads of a dependent launch, with and without a wait for the launches before.

use crate::harness::{
    Memory, barrier, launch, me, own_word, serial, shared, store, sync, write_line,
};
use simt::DefectKind::MissingLaunchWait;
use simt::{Defect, Options, Report};

type Access = fn(&Memory);

fn run(access: Access, waits: bool, is_dependent: bool) -> Result<Report, Box<Defect>> {
    let memory = Memory::new();
    let options = Options {
        is_dependent,
        ..serial(0)
    };
    let body = || {
        if waits {
            simt::dependent_launch_wait();
        }
        access(&memory);
    };
    launch(&options, (1, 1, 32), &body)
}

#[track_caller]
fn check(what: &str, access: Access) {
    for (waits, is_dependent) in [(true, true), (true, false), (false, false)] {
        if let Err(defect) = run(access, waits, is_dependent) {
            panic!("waits: {waits}, dependent: {is_dependent}: {defect}");
        }
    }
    let defect = run(access, false, true).unwrap_err();
    assert_eq!(defect.kind, MissingLaunchWait, "{defect}");
    assert!(defect.message.contains(what), "{defect}");
    assert!(defect.location.is_some(), "{defect}");
}

#[test]
fn loads() {
    check("read", |memory| {
        memory.words.get(me() as usize);
    });
}

#[test]
fn stores() {
    check("write", |memory| memory.words.set(me() as usize, 1));
}

#[test]
fn asynchronous_copies() {
    check("asynchronous copy", |memory| {
        let source = memory.words.pointer().cast_const().cast();
        // SAFETY: the buffer outlives the launch, and the copy is waited for.
        unsafe { simt::async_copy(own_word(), source, 4, 4) };
        simt::async_commit();
        simt::async_wait(0);
    });
}

#[test]
fn bulk_copies_of_tiles() {
    check("bulk copy", |memory| {
        memory.start_tile(0);
        simt::mbarrier_wait(barrier(0), false);
    });
}

#[test]
fn bulk_stores() {
    check("bulk copy", |memory| {
        write_line();
        if me() == 0 {
            memory.store_group();
            simt::bulk_wait(0);
        } else {
            simt::dependent_launch_wait();
        }
    });
}

/// Also before the wait.
#[test]
fn shared_memory_needs_no_wait() {
    let access: Access = |_| {
        store(own_word(), me());
        sync();
        store(shared(4 * (31 - me()) as usize), 1_u32);
        simt::dependent_launch_wait();
    };
    run(access, false, true).unwrap();
}

/// The next launch would not wait for the one before this.
#[test]
fn a_thread_does_not_end_without_a_wait() {
    let access: Access = |_| store(own_word(), me());
    for (waits, is_dependent) in [(true, true), (true, false), (false, false)] {
        run(access, waits, is_dependent).unwrap();
    }
    let defect = run(access, false, true).unwrap_err();
    assert_eq!(defect.kind, MissingLaunchWait, "{defect}");
    assert!(defect.message.contains("exited"), "{defect}");

    // One of them.
    let access: Access = |_| {
        if me() != 7 {
            simt::dependent_launch_wait();
        }
    };
    let defect = run(access, false, true).unwrap_err();
    assert_eq!(defect.kind, MissingLaunchWait, "{defect}");
    assert_eq!(defect.thread.map(|it| it.x), Some(7), "{defect}");
}
