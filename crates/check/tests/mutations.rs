//! Which barriers, fences and waits of other compilers' kernels can be removed without a finding.
//!
//! `cargo test -p tilewright-check --test mutations -- --ignored --nocapture`

use std::fs;
use std::path::{Path, PathBuf};
use tilewright_check::{DefectKind, Launch, LaunchFile};

/// Instructions that order something, by the start of their names.
const ORDERING: [&str; 9] = [
    "bar.sync",
    "barrier.sync",
    "barrier.cluster",
    "bar.warp.sync",
    "membar",
    "fence",
    "cp.async.wait",
    "cp.async.bulk.wait",
    "wgmma.wait",
];

const SCHEDULES: u64 = 16;

fn launch_files(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let files = fs::read_dir(folder).unwrap();
    let files = files.map(|entry| entry.unwrap().path());
    let is_launch = |path: &PathBuf| path.extension().is_some_and(|it| it == "toml");
    let mut files: Vec<PathBuf> = files.filter(is_launch).collect();
    files.retain(|path| {
        !path
            .file_name()
            .unwrap()
            .to_string_lossy()
            .starts_with("cub.")
    });
    files.sort();
    files
}

/// The numbers of the lines of a kernel that order something.
fn ordering_lines(launch: &Launch) -> Vec<usize> {
    let start = format!(".entry {}(", launch.entry);
    let mut is_inside = false;
    let mut found = Vec::new();
    for (number, line) in launch.ptx.lines().enumerate() {
        if line.contains(".entry ") || line.starts_with(".func") || line.starts_with(".visible") {
            is_inside = line.contains(&start);
        }
        let words = line.trim_start();
        // The guard of a branch does not count.
        let name = match words.strip_prefix('@') {
            Some(guarded) => guarded.split_once(' ').map_or("", |it| it.1.trim_start()),
            None => words,
        };
        if is_inside && ORDERING.iter().any(|it| name.starts_with(it)) {
            found.push(number);
        }
    }
    found
}

/// The launch with other text in place of a line.
fn with_line(launch: &Launch, changed: usize, text: &str, schedules: u64) -> Launch {
    let lines = launch.ptx.lines().enumerate();
    let lines = lines.map(|(number, line)| if number == changed { text } else { line });
    let lines: Vec<&str> = lines.collect();
    Launch {
        ptx: lines.join("\n"),
        schedules,
        ..launch.clone()
    }
}

#[test]
#[ignore = "half a minute"]
fn removed_barriers_are_found() {
    let (mut all, mut found) = (0, 0);
    for folder in ["tests/kernels", "tests/kernels/triton/compiled"] {
        for path in launch_files(folder) {
            let launch = LaunchFile::read(&path).unwrap().launch;
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            let Ok(whole) = launch.run() else {
                continue;
            };
            for line in ordering_lines(&launch) {
                // What is not executed is no mutant.
                let trapped = with_line(&launch, line, "trap;", 1).run().unwrap();
                if !trapped.has(DefectKind::Panic) {
                    continue;
                }
                all += 1;
                let report = with_line(&launch, line, "", SCHEDULES).run().unwrap();
                let is_found = report.findings.len() > whole.findings.len()
                    || !report.mismatches.is_empty()
                    || !report.differing.is_empty();
                found += usize::from(is_found);
                if !is_found {
                    let text = launch.ptx.lines().nth(line).unwrap_or("").trim();
                    println!("not found: {name}, line {}: {text}", line + 1);
                }
            }
        }
    }
    println!("{found} of {all} removed instructions are found");
    assert!(all > 140 && found * 100 >= all * 85, "{found} of {all}");
}
