//! Checks that the OpenCL C kernels match the table.

use crate::{Mistake, PUBLIC};

/// A line of `opencl/launches.csv`: an OpenCL C kernel, or the reason why there is none.
struct Launch {
    name: &'static str,
    /// The file of the kernel; `None` if it cannot be written.
    file: Option<&'static str>,
    shape: (u32, u32),
    /// The feature that OpenCL C lacks for the kernel.
    lacks: &'static str,
}

fn launches() -> Vec<Launch> {
    let lines = include_str!("../opencl/launches.csv").lines().skip(1);
    lines
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            let [name, file, blocks, threads, _standard, lacks] = cells[..] else {
                panic!("`{line}` has too few cells, or too many");
            };
            Launch {
                name,
                file: (file != "-").then_some(file),
                shape: (blocks.parse().unwrap(), threads.parse().unwrap()),
                lacks,
            }
        })
        .collect()
}

#[test]
fn launches_are_those_of_the_table() {
    let launches = launches();
    let names_and_shapes: Vec<_> = launches.iter().map(|it| (it.name, it.shape)).collect();
    let of_table = |it: &Mistake| (it.name, it.shape);
    assert_eq!(
        names_and_shapes,
        PUBLIC.iter().map(of_table).collect::<Vec<_>>()
    );
}

#[test]
fn each_kernel_is_written_or_its_lack_is_named() {
    for launch in launches() {
        let Some(file) = launch.file else {
            assert!(!launch.lacks.is_empty(), "{}", launch.name);
            continue;
        };
        assert_eq!(launch.lacks, "", "{}", launch.name);
        let path = format!("{}/opencl/{file}", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).unwrap();
        let head = format!("DEFECT({})", launch.name);
        assert_eq!(text.matches(&head).count(), 1, "{head} in {file}");
    }
}

#[test]
fn each_launch_was_measured() {
    let measured = include_str!("../oclgrind.csv");
    for launch in launches() {
        for name in [launch.name.to_owned(), format!("{}_twin", launch.name)] {
            let start = format!("{name},oclgrind,");
            let line = measured.lines().find(|line| line.starts_with(&start));
            let outcome = line.and_then(|line| line.split(',').nth(2));
            let outcome = outcome.unwrap_or_else(|| panic!("{name} has no line"));
            let is_written = outcome != "unwritable";
            assert_eq!(is_written, launch.file.is_some(), "{name}: {outcome}");
        }
    }
}
