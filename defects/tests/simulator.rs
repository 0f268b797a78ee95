//! The simulator finds each mistake, and nothing in the twins.

use tilewright::testing::seeds;
use tilewright_defects::page::{Measured, page};
use tilewright_defects::{MISTAKES, SCHEDULES, all};

#[test]
fn each_mistake_is_reported() {
    for mistake in MISTAKES {
        for seed in seeds(SCHEDULES) {
            if let Some(defect) = mistake.simulate(seed, false).unwrap() {
                assert!(
                    mistake.kinds.contains(&defect.kind),
                    "{}: {defect}",
                    mistake.name
                );
                let location = defect.location.as_ref().expect("a line of the kernels");
                assert!(location.file.contains("kernels"), "{defect}");
            }
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
        for seed in seeds(SCHEDULES) {
            if let Some(defect) = mistake.simulate(seed, true).unwrap() {
                panic!("{}_twin: {defect}", mistake.name);
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

/// The page is what the simulator reports and the tools were seen to report.
#[test]
fn the_page_is_current() {
    let measured = Measured::parse(include_str!("../h200.csv")).unwrap();
    let page = page(&measured).unwrap();
    assert!(
        page == include_str!("../../docs/defects.md"),
        "write it: cargo run -p tilewright-defects -- --page docs/defects.md"
    );
}
