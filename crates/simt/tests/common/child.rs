//! Runs tests that may end or hang the process in a child process.

use std::io::Read;
use std::process::{Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The environment variable that names the child's test.
const VARIABLE: &str = "TILEWRIGHT_TEST_CHILD";

/// A child that runs longer counts as hanging.
const LIMIT: Duration = Duration::from_secs(30);

/// Runs `test`, the body of the test function `name`, in a child process. Fails if the child fails, is killed by a
/// signal or hangs.
#[track_caller]
pub fn in_child(name: &str, test: impl FnOnce()) {
    if let Some(status) = run_in_child(name, test, Stdio::inherit(), &mut String::new()) {
        assert!(status.success(), "`{name}`: {status}");
    }
}

/// Runs `test`, the body of the test function `name`, in a child process, which it must abort within `limit`. Returns
/// the child's standard error; in the child, `None`.
#[cfg(unix)]
#[track_caller]
#[allow(dead_code, reason = "few tests abort")]
pub fn aborts_in_child(name: &str, limit: Duration, test: impl FnOnce()) -> Option<String> {
    use std::os::unix::process::ExitStatusExt;
    const ABORT: i32 = 6;
    let (begin, mut errors) = (Instant::now(), String::new());
    let status = run_in_child(name, test, Stdio::piped(), &mut errors)?;
    let elapsed = begin.elapsed();
    assert_eq!(status.signal(), Some(ABORT), "`{name}`: {status}: {errors}");
    assert!(elapsed < limit, "`{name}`: {elapsed:?}: {errors}");
    Some(errors)
}

/// The child's exit status, with its standard error in `errors`; `None` in the child.
#[track_caller]
fn run_in_child(
    name: &str,
    test: impl FnOnce(),
    stderr: Stdio,
    errors: &mut String,
) -> Option<ExitStatus> {
    if std::env::var(VARIABLE).as_deref() == Ok(name) {
        test();
        return None;
    }
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture"])
        .env(VARIABLE, name)
        .stdout(Stdio::null())
        .stderr(stderr)
        .spawn()
        .unwrap();
    let begin = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if begin.elapsed() > LIMIT {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("`{name}` hangs");
        }
        sleep(Duration::from_millis(5));
    };
    // A pipe's buffer holds what these tests write.
    if let Some(mut stderr) = child.stderr.take() {
        stderr.read_to_string(errors).unwrap();
    }
    Some(status)
}

/// Limits the process's address space to `more_bytes` more than it has.
#[cfg(target_os = "linux")]
#[allow(dead_code, reason = "few tests need a limit")]
pub fn limit_address_space(more_bytes: u64) {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = pages.split(' ').next().unwrap().parse().unwrap();
    let limit = libc::rlimit {
        rlim_cur: (pages * 4096).saturating_add(more_bytes),
        rlim_max: libc::RLIM_INFINITY,
    };
    // SAFETY: the limit is a valid structure.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &limit) }, 0);
}
