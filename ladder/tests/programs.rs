//! The programs `ladder` and `lab`: their output, their files, and their errors.

#[path = "../../tests/common/mod.rs"]
#[macro_use]
mod common;

use common::programs::{assert_failed, fail, program, run};
use std::process::Command;
use tempfile::TempDir;

#[test]
fn lab_reports_kernels_and_steps_of_ladders() {
    let folder = TempDir::new().unwrap();
    for (kernel, entry) in [
        ("reduce_sum", "reduce_sum_f32 on"),
        ("matmul_tiled --size 40", "matmul_tiled_f32_nn on"),
        ("sum/interleaved", "sum_interleaved on"),
    ] {
        let arguments: Vec<_> = kernel.split(' ').collect();
        let output = run("lab", folder.path(), &arguments);
        assert!(output.status.success(), "{kernel}");
        let report = String::from_utf8(output.stdout).unwrap();
        assert!(report.contains(entry), "{report}");
        assert!(report.contains("bottleneck: "), "{report}");
    }
    let parts = ["no such step", "neighboured", "reduce_sum"];
    fail("lab", folder.path(), &["sum/nonsense"], &parts);
    fail(
        "lab",
        folder.path(),
        &["nonsense/sum"],
        &["no ladder `nonsense`"],
    );
}

#[test]
fn lab_knows_the_registers_without_an_assembler() {
    let folder = TempDir::new().unwrap();
    let lab = |kernel: &str, profile: &str| {
        let output = Command::new(program("lab"))
            .args([kernel, "--profile", profile])
            .env_remove("PTXAS")
            .env("PATH", "")
            .current_dir(folder.path())
            .output()
            .unwrap();
        assert!(output.status.success(), "{kernel}");
        String::from_utf8(output.stdout).unwrap()
    };
    for profile in ["t4", "h200", "rtx5090"] {
        let report = lab("sum/interleaved", profile);
        assert!(report.contains(" per thread, by ptxas 1"), "{report}");
        assert!(!report.contains("unknown"), "{report}");
    }
    // A device without compute capability, which no assembler knows.
    assert!(lab("sum/interleaved", "wave64").contains("unknown, as the registers"));
}

#[test]
fn lab_shows_what_a_change_changed() {
    let folder = TempDir::new().unwrap();
    let json = run(
        "lab",
        folder.path(),
        &["reduce_sum", "--size", "5000", "--json"],
    );
    std::fs::write(folder.path().join("before.json"), json.stdout).unwrap();
    let arguments = "reduce_sum --size 50000 --baseline before.json";
    let arguments: Vec<_> = arguments.split(' ').collect();
    let output = run("lab", folder.path(), &arguments);
    assert!(output.status.success());
    let table = String::from_utf8(output.stdout).unwrap();
    for part in ["before", "after", "change", "estimated time", ".rs:", " +"] {
        assert!(table.contains(part), "{part} is missing in:\n{table}");
    }
    std::fs::write(folder.path().join("before.json"), "{}").unwrap();
    let parts = ["before.json", "no report"];
    fail("lab", folder.path(), &arguments, &parts);
}

#[test]
fn a_named_assembler_that_is_missing_is_an_error() {
    let output = Command::new(program("lab"))
        .arg("sum/interleaved")
        .env("PTXAS", "nowhere/ptxas")
        .output()
        .unwrap();
    assert_failed(&output, &["PTXAS", "nowhere/ptxas"]);
}

#[test]
fn a_ladder_writes_tables_charts_and_a_page() {
    let folder = TempDir::new().unwrap();
    let options = "histogram --device sim --only half-warp --json run.json --markdown run.md \
                   --html run.html --charts charts";
    let options: Vec<_> = options.split_whitespace().collect();
    let output = run("ladder", folder.path(), &options);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{stderr}");
    let table = String::from_utf8(output.stdout).unwrap();
    // Half of the lanes take each path: the simulator counts 50 %.
    assert!(
        table.contains("half-warp branch") && table.contains("50."),
        "{table}"
    );
    assert!(
        table.contains("each of 2^12 f32"),
        "the heading has the size that was counted:\n{table}"
    );
    assert!(!table.contains('\u{1b}'), "no colours but on a terminal");

    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    let json: serde_json::Value = serde_json::from_str(&read("run.json")).unwrap();
    let row = &json["sections"][0]["rows"][0];
    assert_eq!(row["step"], "half-warp branch");
    assert!(row["counts"]["branch_efficiency"].as_f64().unwrap() < 0.6);
    assert!(
        row["microseconds"].is_null(),
        "the simulator's time is no GPU's"
    );
    assert!(read("run.md").contains("| half-warp branch |"));
    let page = read("run.html");
    assert!(page.contains("<svg"));
    for line in page.split("<tr>").skip(2) {
        let line = line.split("</tr>").next().unwrap();
        let head = page.matches("<th>").count();
        assert_eq!(line.matches("<td>").count(), head, "{line}");
    }
    let charts = std::fs::read_dir(folder.path().join("charts")).unwrap();
    assert_eq!(charts.count(), 1);

    fail(
        "ladder",
        folder.path(),
        &["histogram", "--device", "sim", "--only", "nonsense"],
        &["--only nonsense", "uniform, skewed"],
    );
    fail(
        "ladder",
        folder.path(),
        &["nonsense"],
        &["no ladder `nonsense`", "histogram"],
    );
}

#[cfg(unix)]
mod output {
    use crate::common::programs::{broken_output, run_limited};
    use std::fs;
    use tempfile::TempDir;

    /// The arguments of each program: a computation, and its help.
    const RUNS: [(&str, &str); 4] = [
        ("lab", "sum/interleaved"),
        ("lab", "--help"),
        ("ladder", "histogram --device sim --only half-warp"),
        ("ladder", "--help"),
    ];

    #[test]
    fn pages_and_tables_leave_the_old_file_whole() {
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join("page.html"), "years of work").unwrap();
        let ladder = "histogram --device sim --only half-warp --html page.html";
        for (example, arguments) in [
            ("lab", "sum/interleaved --html page.html"),
            ("ladder", ladder),
        ] {
            let arguments: Vec<_> = arguments.split(' ').collect();
            let limits = "trap '' XFSZ; ulimit -f 1";
            let output = run_limited(limits, folder.path(), example, &arguments);
            let stderr = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(1), "{stderr}");
            assert!(stderr.contains("page.html cannot be written"), "{stderr}");
            let old = fs::read_to_string(folder.path().join("page.html")).unwrap();
            assert_eq!(old, "years of work");
        }
    }

    #[test]
    fn a_closed_standard_output_ends_the_programs_quietly() {
        broken_output::closed_ends_quietly(TempDir::new().unwrap().path(), &RUNS);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_standard_output_ends_the_programs_with_one_line() {
        broken_output::full_ends_with_one_line(TempDir::new().unwrap().path(), &RUNS);
    }
}
