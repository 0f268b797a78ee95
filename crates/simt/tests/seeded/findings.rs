//! Several findings of one launch: which are listed, their counts, the limit, and suppressed ones.

use crate::harness::{ELEMENTS, Memory, SEEDS, Shared, Words, block, me, run_and_read, shared};
use cuda_std::prelude::*;
use simt::DefectKind::{DataRace, OutOfBounds, UninitialisedRead};
use simt::{Defect, DefectKind, Options, Suppression};

/// The findings of a launch of one block under a schedule without switches.
#[track_caller]
fn found(options: &Options, kernel: impl Fn(&Memory) + Sync) -> Box<Defect> {
    let options = Options {
        parallel_blocks: false,
        ..options.clone()
    };
    run_and_read(crate::borrowed::run, &options, (1, 64), &kernel)
        .expect_err("the kernel has defects")
}

fn kinds(defect: &Defect) -> Vec<DefectKind> {
    defect.all().map(|finding| finding.kind).collect()
}

/// Three rounds of uninitialised reads, then 64 threads write one word, then one thread writes past the end.
fn three_mistakes(memory: &Memory) {
    for round in 0..3 {
        let _ = memory.output.get(64 * round + me());
    }
    memory.input.set(5, me() as u32);
    thread::sync_threads();
    if me() == 63 {
        memory.counters.set(ELEMENTS, 1);
    }
}

#[test]
fn a_launch_goes_on_after_what_it_survives() {
    let defect = found(&Options::default(), three_mistakes);
    assert_eq!(
        kinds(&defect),
        [UninitialisedRead, DataRace, OutOfBounds],
        "{defect}"
    );
    let times: Vec<u64> = defect.all().map(|finding| finding.times).collect();
    // 64 threads: each write of the word except the first races.
    assert_eq!(times[0], 64 * 3);
    assert!(times[1] > 1, "{defect}");
    assert_eq!(times[2], 1);
    let text = defect.to_string();
    assert!(text.contains("found 192 times"), "{text}");
    assert!(
        text.contains("2 further findings of the launch:\nkernel `seeded`: data race"),
        "{text}"
    );
}

#[test]
fn the_limit_counts_different_findings() {
    for (limit, expected) in [
        (1, &[UninitialisedRead][..]),
        (2, &[UninitialisedRead, DataRace]),
    ] {
        let options = Options {
            finding_limit: limit,
            ..Options::default()
        };
        let defect = found(&options, three_mistakes);
        assert_eq!(kinds(&defect), expected, "{defect}");
    }
}

/// The racing write counts as the last one: the vector's other words are written, and accesses after the barrier are
/// correct.
#[test]
fn what_follows_a_finding_is_none() {
    let defect = found(&Options::default(), |_| {
        let words = shared!(u32; 64);
        if me() == 0 {
            words.set(2, 1);
        }
        if me() == 32 {
            words.set4(0, [7; 4]);
        }
        thread::sync_threads();
        let _ = words.get(me() % 4);
    });
    assert_eq!(kinds(&defect), [DataRace], "{defect}");
    assert_eq!(defect.times, 1);
}

#[test]
fn a_loop_on_what_nothing_orders_ends() {
    let defect = found(&Options::default(), |memory| {
        if me() == 0 {
            memory.input.set(0, 2);
        }
        if me() == 32 {
            while memory.input.get(0) != 3 {
                simt::yield_now();
            }
        }
    });
    assert_eq!(kinds(&defect), [DataRace], "{defect}");
    assert!(defect.times > 1 << 15, "{}", defect.times);
}

/// Lines of a function that is called with one buffer, or array in shared memory, and then with another.
#[test]
fn each_memory_of_two_lines_has_its_finding() {
    let words = |words: Words<'_>| words.set(5, me() as u32);
    let array = |words: Shared<'_, u32, 64>| words.set(5, me() as u32);
    let defect = found(&Options::default(), |memory| {
        let (one, other) = (shared!(u32; 64), shared!(u32; 64));
        words(memory.input);
        words(memory.counters);
        words(memory.input);
        array(one);
        array(other);
        array(one);
    });
    assert_eq!(kinds(&defect), [DataRace; 4], "{defect}");
}

/// Every block makes the same two mistakes. Of equal findings, the lowest block's is listed, on any number of host
/// threads.
#[test]
fn blocks_share_a_list() {
    let kernel = |memory: &Memory| {
        let words = shared!(u32; 64);
        let _ = words.get(32 + me());
        words.set(0, block() as u32);
        let _ = memory.input.get(me());
    };
    for parallel_blocks in [false, true] {
        let options = Options {
            parallel_blocks,
            ..Options::default()
        };
        let defect = run_and_read(crate::borrowed::run, &options, (8, 32), &kernel).unwrap_err();
        assert_eq!(kinds(&defect), [UninitialisedRead, DataRace], "{defect}");
        assert_eq!(defect.block, Some(simt::Dim3::new(0, 0, 0)), "{defect}");
        assert_eq!(defect.times, 8 * 32);
    }
}

#[test]
fn what_is_suppressed_is_not_listed() {
    let race = Suppression::new("seeded", "the last one may win").of_kind(DataRace);
    let elsewhere = Suppression::new("another", "of another kernel");
    let line = line!() + 1;
    let read_padding = |memory: &Memory| memory.output.get(me());
    let read = Suppression::new("seeded", "padding").at(file!(), line);
    let options = Options {
        suppressions: [&race, &elsewhere, &read].map(Clone::clone).into(),
        parallel_blocks: false,
        ..Options::default()
    };
    let all: &(dyn Fn(&Memory) + Sync) = &|memory| memory.input.set(5, me() as u32);
    assert!(run_and_read(crate::borrowed::run, &options, (1, 64), all).is_ok());
    assert!(race.matches() > 1);
    let defect = found(&options, |memory| {
        let _ = read_padding(memory);
        let _ = memory.output.get(64 + me());
        thread::sync_threads();
        memory.input.set(ELEMENTS + me(), 1);
    });
    assert_eq!(kinds(&defect), [UninitialisedRead, OutOfBounds], "{defect}");
    assert_ne!(defect.location.as_ref().unwrap().line, line);
    assert_eq!((read.matches(), elsewhere.matches()), (64, 0));
}

#[inline(never)]
fn helper(memory: &Memory) {
    memory.input.set(0, me() as u32);
}

#[inline(never)]
fn calls_the_helper(memory: &Memory) {
    helper(memory);
    // Prevents a tail call.
    thread::sync_threads();
}

#[test]
fn the_way_to_a_helper_is_told() {
    let defect = found(&Options::default(), calls_the_helper);
    let calls: Vec<String> = defect.calls.iter().map(ToString::to_string).collect();
    let caller = calls.iter().find(|call| call.contains("calls_the_helper"));
    let caller = caller.unwrap_or_else(|| panic!("{defect}"));
    assert!(caller.contains("findings.rs:"), "{caller}");
    assert!(
        !calls.iter().any(|call| call.contains("simt::runner")),
        "{defect}"
    );
    assert!(defect.to_string().contains("called by `"), "{defect}");
}

/// Block 0 waits for a word that block 1 would write, but block 1 never starts beside it.
#[test]
fn a_deadlock_names_the_word_and_the_blocks_that_have_not_started() {
    let options = Options {
        parallel_blocks: false,
        yield_limit: 1 << 10,
        ..Options::default()
    };
    let kernel = |memory: &Memory| {
        if block() == 1 {
            memory.counters.atomic_set(7, 1);
        }
        while block() == 0 && memory.counters.atomic_get(7) == 0 {
            simt::yield_now();
        }
    };
    let defect = run_and_read(crate::borrowed::run, &options, (3, 32), &kernel).unwrap_err();
    assert_eq!(kinds(&defect), [DefectKind::Deadlock], "{defect}");
    let word = "the word at byte 28 (element 7 of 4 bytes) of a buffer of 4096 bytes";
    assert!(defect.message.contains(word), "{defect}");
    let text = defect.to_string();
    assert!(
        text.contains(
            "2 of the 3 blocks of the launch have not started, (1, 0, 0), (2, 0, 0): a block can"
        ),
        "{text}"
    );
    let unchanged = "no thread of the launch has changed the word";
    assert!(text.contains(unchanged), "{text}");
}

/// The blocks that spin here do so few times before that is a deadlock.
fn spinning(seed: u64) -> Options {
    Options {
        seed,
        parallel_blocks: false,
        yield_limit: 1 << 10,
        ..Options::default()
    }
}

/// Runs a kernel that spins forever under several seeds. The report has each of the lines.
fn assert_spins_with(size: (u32, u32), kernel: fn(&Memory), lines: &[&str]) {
    for seed in 0..SEEDS {
        let defect =
            run_and_read(crate::borrowed::run, &spinning(seed), size, &kernel).unwrap_err();
        assert_eq!(kinds(&defect), [DefectKind::Deadlock], "{defect}");
        let text = defect.to_string();
        for line in lines {
            assert!(text.contains(line), "{line}: {text}");
        }
    }
}

/// A thread exits while it holds a lock, which the others try to take again and again.
#[test]
fn a_deadlock_names_the_holder_of_a_lock() {
    let kernel = |memory: &Memory| {
        if me() == 5 {
            memory.counters.atomic_swap(3, 1);
        }
        thread::sync_threads();
        if me() == 7 {
            while memory.counters.atomic_compare_exchange(3, 0, 1) != 0 {}
        }
    };
    let holder = "last change of the word: thread (5, 0, 0) of block (0, 0, 0), ";
    assert_spins_with((1, 32), kernel, &[holder]);
}

/// A plain write comes after the atomic ones.
#[test]
fn a_deadlock_names_a_plain_writer() {
    let kernel = |memory: &Memory| {
        if me() == 5 {
            memory.counters.atomic_set(3, 1);
        }
        thread::sync_threads();
        if me() == 6 {
            memory.counters.set(3, 2);
        }
        thread::sync_threads();
        while me() == 7 && memory.counters.atomic_get(3) == 2 {}
    };
    let writer = "last write of the word: thread (6, 0, 0) of block (0, 0, 0): a write, ";
    assert_spins_with((1, 32), kernel, &[writer]);
}

/// Two threads wait for each other. The report names both words, which are in shared memory.
#[test]
fn a_deadlock_names_the_words_of_all_that_wait() {
    let kernel = |_: &Memory| {
        let locks = shared![u32; 2];
        if me() < 2 {
            locks.set(me(), 0);
        }
        thread::sync_threads();
        if let own @ 0..2 = me() {
            locks.add(own, 1);
            warp::sync(LaneMask::from_bits(0b11));
            while locks.add(1 - own, 0) != 0 {}
        }
    };
    let writers = [0, 1].map(|it| format!("last change of the word: thread ({it}, 0, 0) of block"));
    let place = "looks at the word at byte";
    assert_spins_with((1, 32), kernel, &[&writers[0], &writers[1], place]);
}
