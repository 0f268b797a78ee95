//! A program that aborts on panics: nothing unwinds, so the threads of a block with a defect are abandoned.

use std::fs;
use std::path::Path;
use std::process::Command;

/// Thread 0 lends a stack variable to a host thread and waits at a barrier; thread 1 ends the block. Later threads need
/// as much stack, and that host thread must not write to it.
const PROGRAM: &str = r#"
use simt::{BarrierId, Body, DefectKind, Launch, Options};
use std::hint::black_box;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::{scope, sleep};
use std::time::Duration;

const WORDS: usize = 16 * 1024;
static WRITES: AtomicU32 = AtomicU32::new(0);

fn lend() {
    let words: [AtomicU32; WORDS] = std::array::from_fn(|_| AtomicU32::new(0));
    scope(|scope| {
        scope.spawn(|| {
            loop {
                words.iter().for_each(|word| word.store(u32::MAX, Ordering::Relaxed));
                WRITES.fetch_add(1, Ordering::Release);
            }
        });
        simt::block_barrier(BarrierId(0), None);
    });
}

fn use_stack() {
    let mut words = [0_u32; WORDS];
    black_box(&mut words);
    let before = WRITES.load(Ordering::Acquire);
    while WRITES.load(Ordering::Acquire) < before + 2 {
        sleep(Duration::from_millis(1));
    }
    if black_box(&words).iter().any(|word| *word != 0) {
        simt::fail(DefectKind::Panic, "another thread has written to this stack".to_owned());
    }
}

fn main() {
    let options = Options { parallel_blocks: false, time_limit: None, ..Options::default() };
    let launch = |kernel, threads: u32, body: fn()| {
        let launch = Launch::new(kernel, 1, threads, &options);
        simt::run(&launch, &Body::new(body))
    };
    let defect = launch("lend", 2, || match simt::position().thread_idx.x {
        0 => lend(),
        _ => {
            while WRITES.load(Ordering::Acquire) == 0 {
                simt::yield_now();
            }
            simt::fail(DefectKind::InvalidArgument, "the end of the block".to_owned());
        }
    });
    assert_eq!(defect.unwrap_err().kind, DefectKind::InvalidArgument);
    if let Err(defect) = launch("use_stack", 1, use_stack) {
        eprintln!("{defect}");
        std::process::exit(3);
    }
    println!("done");
}
"#;

#[test]
#[ignore = "slow: cargo test -- --ignored"]
fn a_stack_that_a_left_thread_has_lent_is_not_used_again() {
    let simt = Path::new(env!("CARGO_MANIFEST_DIR"));
    let package = Path::new(env!("CARGO_TARGET_TMPDIR")).join("abort");
    let manifest = format!(
        "[package]\nname = \"abort\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
         [dependencies]\ntilewright-simt = {{ path = {simt:?} }}\n\n[profile.dev]\npanic = \"abort\"\n"
    );
    fs::create_dir_all(package.join("src")).unwrap();
    fs::write(package.join("Cargo.toml"), manifest).unwrap();
    fs::write(package.join("src/main.rs"), PROGRAM).unwrap();
    // The workspace's versions, so that nothing is downloaded.
    fs::copy(simt.join("../../Cargo.lock"), package.join("Cargo.lock")).unwrap();
    let output = Command::new(env!("CARGO"))
        .args(["run", "--quiet", "--color=never"])
        .current_dir(&package)
        .env("CARGO_TARGET_DIR", package.join("target"))
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {errors}", output.status);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "done\n");
}
