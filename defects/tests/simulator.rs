//! The simulator finds each mistake, and nothing in the twins.

use tilewright::testing::seeds;
use tilewright_defects::page::{Measured, page};
use tilewright_defects::{MISTAKES, SCHEDULES, all};

#[test]
fn each_mistake_is_reported() {
    for mistake in MISTAKES {
        for in_parallel in [false, true] {
            let mut found = 0;
            for seed in seeds(SCHEDULES) {
                let defect = mistake.simulate_blocks(seed, in_parallel, false).unwrap();
                let Some(defect) = defect else { continue };
                assert!(
                    mistake.kinds.contains(&defect.kind),
                    "{}: {defect}",
                    mistake.name
                );
                let location = defect.location.as_ref().expect("a line of the kernels");
                assert!(location.file.contains("kernels"), "{defect}");
                found += 1;
            }
            assert!(found > 0, "{} is not found, {in_parallel}", mistake.name);
        }
        let found = mistake.report().unwrap();
        assert!(
            found.is_some(),
            "{}: {:?} is in no report",
            mistake.name,
            mistake.words
        );
    }
}

#[test]
fn no_twin_is_reported() {
    for mistake in MISTAKES {
        for in_parallel in [false, true] {
            for seed in seeds(SCHEDULES) {
                let defect = mistake.simulate_blocks(seed, in_parallel, true).unwrap();
                if let Some(defect) = defect {
                    panic!("{}_twin, {in_parallel}: {defect}", mistake.name);
                }
            }
        }
    }
}

#[test]
fn names_are_told_apart() {
    let mut names: Vec<_> = all().map(|mistake| mistake.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all().count());
}

/// The page matches the simulator's reports and the tools' measured ones.
#[test]
fn the_page_is_current() {
    let measured = Measured::parse(include_str!("../h200.csv")).unwrap();
    let page = page(&measured).unwrap();
    assert!(
        page == include_str!("../../docs/defects.md"),
        "write it: cargo run -p tilewright-defects -- --page docs/defects.md"
    );
}
