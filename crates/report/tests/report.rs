//! The forms of reports.

use serde_json::Value;
use std::io::Write as _;
use std::path::Path;
use tilewright::{Device, Element, LaunchReport, ReduceElement, Result};

fn report_of_sum<T: Element + ReduceElement>(elements: &[T]) -> Result<LaunchReport> {
    let device = Device::simulator();
    let x = device.upload(elements)?;
    let (_, report) = device.with_report(|| device.reduce_sum(&x))?;
    Ok(report)
}

#[test]
fn the_table_has_kernels_bottlenecks_and_lines() -> Result<()> {
    let table = tilewright_report::table(&report_of_sum(&[0.5_f32; 5000])?);
    for part in [
        "reduce_sum_f32 on H200\n",
        "bottleneck: latency and occupancy\n",
        "kernels/reduce/reduction.rs:",
        "global load",
        "100.0 %",
        " % of the time, by ",
        "estimate: ",
        "instructions: ",
    ] {
        assert!(table.contains(part), "{part} is missing in:\n{table}");
    }
    let is_trimmed = |line: &str| line.trim_end() == line;
    assert!(table.lines().all(is_trimmed), "{table}");
    Ok(())
}

#[test]
fn tables_fit_terminals_of_80_and_of_200_columns() -> Result<()> {
    let report = report_of_sum(&[0.5_f32; 5000])?;
    let widest = |table: &str| table.lines().map(|it| it.chars().count()).max();
    let whole = tilewright_report::table(&report);
    assert!(widest(&whole) > Some(80), "{whole}");
    for columns in [80, 200] {
        let table = tilewright_report::table_within(&report, columns);
        assert!(widest(&table) <= Some(columns), "{table}");
        let on_one_line = table.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(on_one_line.contains("unknown, as the registers"), "{table}");
    }
    Ok(())
}

#[test]
fn no_launch_is_one_line() -> Result<()> {
    let (_, report) = Device::simulator().with_report(|| Ok(()))?;
    assert_eq!(
        tilewright_report::table(&report),
        "no kernel was launched\n"
    );
    Ok(())
}

#[test]
fn json_has_the_documented_layout() -> Result<()> {
    let json = tilewright_report::json(&report_of_sum(&[0.5_f32; 5000])?);
    let json: Value = serde_json::from_str(&json).expect("it is JSON");
    assert_eq!(json["profile"], "h200");
    let kernel = &json["kernels"][0];
    assert_eq!(kernel["kernel"], "reduce_sum_f32");
    assert_eq!(kernel["roofline"]["bottleneck"], "latency");
    assert_eq!(kernel["advice"]["kind"], "fill_device");
    assert_eq!(kernel["advice"]["multiprocessors"], 132);
    assert!(kernel["lines"][0]["tally"]["shared"]["bank_conflicts"].is_u64());
    let lines = kernel["lines"].as_array().expect("a list");
    let sectors = lines
        .iter()
        .map(|line| line["tally"]["global"]["sectors"].as_u64());
    let sum: u64 = sectors.map(|sectors| sectors.expect("a number")).sum();
    assert_eq!(Some(sum), kernel["total"]["global"]["sectors"].as_u64());
    Ok(())
}

#[test]
fn lines_share_the_estimated_time() -> Result<()> {
    let report = report_of_sum(&[0.5_f32; 5000])?;
    let json = tilewright_report::json(&report);
    let json: Value = serde_json::from_str(&json).expect("it is JSON");
    let kernel = &json["kernels"][0];
    let lines = kernel["source_lines"].as_array().expect("a list");
    let sum = |field: &str| -> f64 {
        let numbers = lines.iter().map(|line| line[field].as_f64());
        numbers.map(|number| number.expect("a number")).sum()
    };
    assert!((sum("estimated_share") - 1.0).abs() < 1e-9);
    // All except the launch overhead of 2 microseconds.
    let seconds = kernel["estimated_seconds"].as_f64().expect("a time");
    assert!((sum("estimated_seconds") + 2e-6 - seconds).abs() < 1e-12);
    let most = lines.iter().max_by(|a, b| {
        let share = |line: &Value| line["estimated_share"].as_f64().expect("a share");
        share(a).total_cmp(&share(b))
    });
    assert_eq!(most.expect("a line")["bound"], "l2_cache");
    let mix = kernel["instruction_mix"].as_array().expect("a list");
    let instructions = mix.iter().map(|it| it["instructions"].as_u64());
    let instructions: u64 = instructions.map(|it| it.expect("a number")).sum();
    assert_eq!(sum("instructions") as u64, instructions);
    Ok(())
}

#[test]
fn the_page_shows_the_source() -> Result<()> {
    let page = tilewright_report::html(&report_of_sum(&[1.0_f64; 5000])?);
    assert!(page.starts_with("<!DOCTYPE html>"));
    assert!(page.contains("<h3>kernels/reduce/reduction.rs</h3>"));
    if Path::new("../../kernels/reduce/reduction.rs").exists() {
        assert!(page.contains("x.load::"), "the source is there");
    } else {
        // The test harness would hide the output of `eprintln!`.
        let _ = writeln!(
            std::io::stderr(),
            "skipped: the source's lines, where the sources are not"
        );
    }
    assert!(
        !page.contains("Global<T>"),
        "what looks like a tag is escaped"
    );
    assert!(!page.contains("http"), "it needs no other file");
    Ok(())
}

#[test]
fn a_comparison_has_what_changed_and_fits_80_columns() -> Result<()> {
    let report = report_of_sum(&[0.5_f32; 5000])?;
    let larger = report_of_sum(&[0.5_f32; 500_000])?;
    let baseline = tilewright_report::json(&report);
    let same = tilewright_report::comparison(&baseline, &report, 80).expect("a baseline");
    assert!(!same.contains(".rs:"), "{same}");
    let other = tilewright_report::comparison(&baseline, &larger, 80).expect("a baseline");
    for part in [
        "reduce_sum_f32\n",
        "estimated time, µs",
        " +",
        "global load: sectors",
        "estimated time, ns",
        ".rs:",
    ] {
        assert!(other.contains(part), "{part} is missing in:\n{other}");
    }
    assert!(other.lines().all(|it| it.chars().count() <= 80), "{other}");
    let of_other = baseline.replace("\"h200\"", "\"t4\"");
    assert!(tilewright_report::comparison(&of_other, &report, 80).is_err());
    assert!(tilewright_report::comparison("{}", &report, 80).is_err());
    Ok(())
}
