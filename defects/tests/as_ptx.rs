//! The kernels as the PTX that is compiled from them: each schedule finds what it finds in the Rust source.

use ptx::Kernels;
use tilewright::testing::seeds;
use tilewright::{KernelBodies, KernelCall, SimulatorOptions};
use tilewright_defects::{DefectKind, Mistake, SCHEDULES, all};

/// Mistakes that the compiler has removed: it has moved the access behind the comparison that guards it, or has made
/// it accesses that are aligned.
const REMOVED: [&str; 3] = [
    "load_without_the_mask",
    "read_before_the_comparison",
    "vectors_behind_the_sums",
];

/// Options of devices on which each kernel runs as its PTX.
fn of_ptx() -> SimulatorOptions {
    let kernels = Kernels::default();
    let choose = move |call: &KernelCall<'_>| {
        let (_, text) = call.images.first().expect("PTX of the kernel");
        let kernel = kernels.get(call.module, call.name, || Some(text));
        let kernel = kernel.unwrap_or_else(|it| panic!("{it}"));
        // SAFETY: the parameters are the kernel's, and simulated devices refuse memory that is not theirs.
        Some(unsafe { kernel.body(&call.parameters) }.unwrap_or_else(|it| panic!("{it}")))
    };
    // SAFETY: the PTX was compiled from the kernels.
    let bodies = unsafe { KernelBodies::new(choose) };
    SimulatorOptions::default().with_bodies(bodies)
}

/// The finding of each schedule. Blocks run one after the other, so that a schedule has one finding.
fn findings(
    mistake: &Mistake,
    options: &SimulatorOptions,
    is_twin: bool,
) -> Vec<Option<DefectKind>> {
    let options = options.clone().with_parallel_blocks(false);
    let finding = |seed| mistake.simulate_with(options.clone(), seed, is_twin);
    let kind = |seed| finding(seed).unwrap().map(|defect| defect.kind);
    seeds(SCHEDULES).map(kind).collect()
}

#[test]
fn schedules_find_in_ptx_what_they_find_in_rust() {
    let (of_ptx, of_rust) = (of_ptx(), SimulatorOptions::default());
    for mistake in all() {
        let name = mistake.name;
        let found = findings(mistake, &of_ptx, false);
        if REMOVED.contains(&name) {
            assert!(found.iter().all(Option::is_none), "{name}: {found:?}");
            continue;
        }
        assert!(found.iter().any(Option::is_some), "{name} is not found");
        assert_eq!(found, findings(mistake, &of_rust, false), "{name}");
    }
}

#[test]
fn nothing_is_found_in_the_ptx_of_a_twin() {
    let of_ptx = of_ptx();
    for twin in all() {
        let found = findings(twin, &of_ptx, true);
        let name = twin.name;
        assert!(found.iter().all(Option::is_none), "{name}_twin: {found:?}");
    }
}
