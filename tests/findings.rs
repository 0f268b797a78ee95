//! Reports of the simulator as a program has them: names, several findings, suppressions, seeds.

use cuda_std::prelude::*;
use simt::{Defect, DefectKind, Suppression};
use tilewright::{Device, ErrorKind, LaunchConfig, ModuleSource, SimulatorOptions, testing};

/// Each thread adds its element to a total without an atomic update, and reads the element after the total.
///
/// # Safety
/// 1. `x` has an element for each thread, `total` has one.
#[kernel]
pub unsafe fn add_up(x: Global<u32>, total: GlobalMut<u32>) {
    let me = thread::thread_idx_x() as usize;
    // SAFETY: (1) is (1). The tests check the simulator's reports of the rest.
    unsafe {
        total.store(0, total.load(0) + x.load(me));
        thread::sync_threads();
        total.store(1, 0);
    }
}

// SAFETY: (1) there are no images, so none that could differ from the kernel.
static KERNELS: ModuleSource = unsafe { ModuleSource::new("findings", &[]) };

const THREADS: u32 = 64;

fn add_up_on(device: &Device) -> Box<Defect> {
    let x = device.upload(&[1_u32; THREADS as usize]).unwrap();
    let mut total = device.zeros::<u32>(1).unwrap().named("sum");
    let module = device.load(&KERNELS).unwrap();
    // SAFETY: (1) `x` and `total` are as long.
    let launched =
        unsafe { module.launch_unsafe(add_up, LaunchConfig::new(1, THREADS), (&x, &mut total)) };
    match launched.unwrap_err().kind() {
        ErrorKind::KernelDefect(defect) => defect.clone(),
        other => panic!("{other}"),
    }
}

#[test]
fn reports_have_the_names_of_buffers_and_of_parameters() {
    let defect = add_up_on(&Device::simulator());
    let messages: Vec<&str> = defect.all().map(|it| it.message.as_str()).collect();
    let [first, .., last] = messages[..] else {
        panic!("{defect}");
    };
    assert_eq!(defect.kind, DefectKind::DataRace);
    let place = "byte 0 (element 0 of 4 bytes) of buffer `sum` of 4 bytes (parameter `total`)";
    assert!(first.contains(place), "{defect}");
    assert!(
        last.contains(
            "byte 4 (element 1 of 4 bytes) of a global view of 4 bytes of buffer `sum` (parameter \
             `total`), whose length is 1"
        ),
        "{defect}"
    );
}

#[test]
fn the_first_finding_can_be_the_last() {
    let options = SimulatorOptions::default().with_finding_limit(1);
    let defect = add_up_on(&Device::simulator_with(options));
    assert!(defect.further.is_empty(), "{defect}");
    assert_eq!(defect.kind, DefectKind::DataRace);
}

#[test]
fn known_findings_are_left_out() {
    let known = Suppression::new("add_up", "an estimate will do").of_kind(DefectKind::DataRace);
    let options = SimulatorOptions::default().with_suppression(known.clone());
    let defect = add_up_on(&Device::simulator_with(options));
    assert_eq!(defect.kind, DefectKind::OutOfBounds, "{defect}");
    assert!(defect.further.is_empty(), "{defect}");
    assert!(known.matches() > u64::from(THREADS));
}

/// Only one test reads the variable: others run concurrently.
#[test]
fn the_environment_says_how_many_seeds() {
    assert_eq!(testing::seeds(4), 0..4);
    // SAFETY: no other test of this program reads or writes the environment.
    unsafe { std::env::set_var("TILEWRIGHT_SEEDS", "2") };
    assert_eq!(testing::seeds(4), 0..2);
    let mut runs = 0;
    testing::under_seeds(testing::seeds(4), |_| runs += 1);
    assert_eq!(runs, 2);
    for value in ["few", "0"] {
        // SAFETY: as above.
        unsafe { std::env::set_var("TILEWRIGHT_SEEDS", value) };
        let refused = std::panic::catch_unwind(|| testing::seeds(4)).unwrap_err();
        let message = refused.downcast_ref::<String>().unwrap();
        let expected = format!("TILEWRIGHT_SEEDS is `{value}`");
        assert!(message.contains(&expected), "{message}");
    }
}
