//! The simulator finds each defect from public bug histories, with blocks one by one and in parallel, and nothing in
//! the twins.

use tilewright_defects::page::{Measured, public_page};
use tilewright_defects::{Mistake, PUBLIC, SCHEDULES};

/// Whether a schedule finds the defect. Every finding must have one of its kinds, at a line of the kernels.
fn is_found(mistake: &Mistake, in_parallel: bool) -> bool {
    (0..SCHEDULES).any(|seed| {
        let found = mistake.simulate_blocks(seed, in_parallel, false).unwrap();
        found.is_some_and(|defect| {
            let name = mistake.name;
            assert!(mistake.kinds.contains(&defect.kind), "{name}: {defect}");
            let location = defect.location.as_ref().expect("a line of the kernels");
            assert!(location.file.contains("kernels"), "{defect}");
            true
        })
    })
}

#[test]
fn each_defect_is_found() {
    let is_missed = |mistake: &&Mistake| {
        ![false, true].iter().all(|it| is_found(mistake, *it))
            || mistake.report().unwrap().is_none()
    };
    let missed: Vec<&str> = PUBLIC.iter().filter(is_missed).map(|it| it.name).collect();
    assert!(missed.is_empty(), "{missed:?}");
}

#[test]
fn no_twin_is_reported() {
    for mistake in PUBLIC {
        for (seed, in_parallel) in (0..SCHEDULES).flat_map(|seed| [(seed, false), (seed, true)]) {
            let found = mistake.simulate_blocks(seed, in_parallel, true).unwrap();
            if let Some(defect) = found {
                panic!("{}_twin: {defect}", mistake.name);
            }
        }
    }
}

#[test]
fn each_defect_has_a_source() {
    for mistake in PUBLIC {
        assert!(!mistake.source.is_empty(), "{}", mistake.name);
    }
}

/// The page matches the simulator's reports and the tools' measured ones.
#[test]
fn the_page_is_current() {
    let on_gpu = Measured::parse(include_str!("../h200.csv")).unwrap();
    let with_oclgrind = Measured::parse(include_str!("../oclgrind.csv")).unwrap();
    let page = public_page(&on_gpu.with(with_oclgrind)).unwrap();
    assert!(!page.contains("| not measured |"), "a defect has no result");
    assert!(
        page == include_str!("../../docs/public_defects.md"),
        "write it: cargo run -p tilewright-defects -- --public-page docs/public_defects.md"
    );
}
