//! Compares the counters of random kernels with a slow, obviously correct model, and both with an H200's counts.

use crate::program::{Access, COPY, Elements, Place, Program, Step};
use crate::{kernel, model, strategies};
use model::Cost;
use proptest::prelude::*;
use simt::{AccessKind, Operation, Space};

/// The simulator's counts that the model determines.
fn counted(program: &Program, seed: u64) -> Cost {
    let counts = kernel::cost(program, seed);
    let lines = counts.lines.iter();
    Cost {
        lines: lines.map(|line| (line.operation, line.tally)).collect(),
        sectors_read: counts.sectors_read,
        sectors_written: counts.sectors_written,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn kernels_cost_what_the_model_says(program in strategies::without_exits(), seed in 0_u64..4) {
        prop_assert_eq!(counted(&program, seed), model::cost(&program));
    }

    #[test]
    fn lanes_may_exit(program in strategies::with_exits(), seed in 0_u64..4) {
        prop_assert_eq!(counted(&program, seed), model::cost(&program));
    }
}

/// Each line: operation, bytes, passes, conflicts, and each lane's offset or `-`.
const MEASURED: &str = include_str!("../measured/shared_wavefronts_h200.txt");

/// A warp that makes the request of a line, and its passes and conflicts.
fn measured(line: &str) -> (Program, Operation, (u64, u64)) {
    let fields: Vec<_> = line.split_whitespace().collect();
    let number = |field: &str| field.parse::<usize>().expect("a number");
    let (operation, place, kind) = match fields[0] {
        "load" => (Operation::SharedLoad, 0, AccessKind::Read),
        "store" => (Operation::SharedStore, 0, AccessKind::Write),
        "atomic" => (Operation::SharedAtomic, 0, AccessKind::Atomic),
        "copy" => (Operation::AsyncCopyWrite, COPY, AccessKind::AsyncWrite),
        other => panic!("no operation: {other}"),
    };
    let bytes = number(fields[1]);
    let offsets = fields[4..].iter().enumerate();
    let mut access = Access {
        place,
        view: 0,
        active: 0,
        zeros: 0,
        elements: Elements(vec![0; offsets.len()]),
        is_packed: false,
    };
    for (lane, offset) in offsets.filter(|(_, offset)| **offset != "-") {
        access.active |= 1 << lane;
        access.elements.0[lane] = number(offset) / bytes;
    }
    let program = Program {
        warp_width: 32,
        blocks: 1,
        threads: 32,
        places: [Place {
            space: Space::Shared,
            kind,
            bytes,
        }; _],
        exits: Vec::new(),
        steps: vec![Step::Access(access)],
    };
    let passes = (number(fields[2]) as u64, number(fields[3]) as u64);
    (program, operation, passes)
}

#[test]
fn an_h200_counts_the_same() {
    let patterns = MEASURED.lines().filter(|line| !line.starts_with('#'));
    for (number, line) in patterns.enumerate() {
        let (program, operation, passes) = measured(line);
        for cost in [counted(&program, 0), model::cost(&program)] {
            let of_line = cost.lines.iter().find(|(found, _)| *found == operation);
            let shared = of_line.expect("the request is counted").1.shared;
            let found = (shared.wavefronts, shared.conflicts());
            assert_eq!(found, passes, "pattern {number}: {line}");
        }
    }
}
