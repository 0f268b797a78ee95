//! The report as JSON.

use super::{KernelReport, LaunchReport, Roofline};
use simt::{LineCounts, Tally};
use std::fmt::Write as _;

/// A JSON object under construction.
struct Object(String);

impl Object {
    fn new() -> Self {
        Self("{".to_owned())
    }

    /// Adds a field whose value is JSON already: a number, an object, a list.
    fn raw(mut self, name: &str, value: impl std::fmt::Display) -> Self {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        let _ = write!(self.0, "{}:{value}", quoted(name));
        self
    }

    fn text(self, name: &str, value: &str) -> Self {
        self.raw(name, quoted(value))
    }

    /// Adds a number; JSON has none that is not finite.
    fn number(self, name: &str, value: Option<f64>) -> Self {
        match value.filter(|value| value.is_finite()) {
            Some(value) => self.raw(name, value),
            None => self.raw(name, "null"),
        }
    }

    fn finish(mut self) -> String {
        self.0.push('}');
        self.0
    }
}

fn list(values: impl Iterator<Item = String>) -> String {
    format!("[{}]", values.collect::<Vec<_>>().join(","))
}

fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            control if control < ' ' => {
                let _ = write!(quoted, "\\u{:04x}", u32::from(control));
            }
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

impl LaunchReport {
    /// The report as JSON: the profile, and for each kernel and shape of launch its counters, in
    /// total and by line. Efficiencies are from 0 to 1, times in seconds.
    #[must_use]
    pub fn to_json(&self) -> String {
        Object::new()
            .text("profile", self.profile.name())
            .raw("kernels", list(self.by_kernel().iter().map(kernel)))
            .finish()
    }
}

fn kernel(report: &KernelReport) -> String {
    let counts = &report.counts;
    let extent = |extent: simt::Dim3| format!("[{},{},{}]", extent.x, extent.y, extent.z);
    let occupancy = report.occupancy();
    Object::new()
        .text("kernel", &report.kernel)
        .raw("launches", report.launches)
        .raw("grid", extent(report.grid))
        .raw("block", extent(report.block))
        .raw("shared_bytes", report.shared_bytes())
        .raw("registers", report.registers)
        .number("occupancy", Some(occupancy.fraction()))
        .raw("blocks_per_multiprocessor", occupancy.blocks)
        .text("occupancy_limiter", &occupancy.limiter.to_string())
        .raw("sectors_read", counts.sectors_read)
        .raw("sectors_written", counts.sectors_written)
        .raw("total", tally(&counts.total()))
        .raw("roofline", roofline(&report.roofline()))
        .raw("lines", list(counts.lines.iter().map(line)))
        .finish()
}

fn roofline(roofline: &Roofline) -> String {
    Object::new()
        .text("bottleneck", &roofline.bottleneck.to_string())
        .text("advice", &roofline.advice)
        .number("dram_seconds", Some(roofline.dram_seconds))
        .number("l2_seconds", Some(roofline.l2_seconds))
        .number("shared_seconds", Some(roofline.shared_seconds))
        .number("arithmetic_seconds", Some(roofline.arithmetic_seconds))
        .number("latency_seconds", Some(roofline.latency_seconds))
        .finish()
}

fn line(line: &LineCounts) -> String {
    Object::new()
        .text("file", &line.location.file)
        .raw("line", line.location.line)
        .raw("column", line.location.column)
        .text("operation", &line.operation.to_string())
        .raw("tally", tally(&line.tally))
        .finish()
}

fn tally(tally: &Tally) -> String {
    let (global, shared) = (&tally.global, &tally.shared);
    let global = Object::new()
        .raw("requests", global.requests)
        .raw("sectors", global.sectors)
        .raw("lines", global.lines)
        .raw("bytes_asked", global.bytes_asked)
        .raw("bytes_distinct", global.bytes_distinct)
        .number("sector_efficiency", global.sector_efficiency())
        .number("line_efficiency", global.line_efficiency())
        .finish();
    let shared = Object::new()
        .raw("requests", shared.requests)
        .raw("wavefronts", shared.wavefronts)
        .raw("ideal_wavefronts", shared.ideal_wavefronts)
        .raw("bank_conflicts", shared.conflicts())
        .raw("bytes_asked", shared.bytes_asked)
        .finish();
    Object::new()
        .raw("requests", tally.requests)
        .raw("lanes", tally.lanes)
        .number("branch_efficiency", tally.branch_efficiency())
        .raw("flops_f32", tally.flops_f32)
        .raw("flops_f64", tally.flops_f64)
        .number("arithmetic_intensity", tally.arithmetic_intensity())
        .raw("global", global)
        .raw("shared", shared)
        .finish()
}

#[cfg(test)]
mod tests {
    use super::{Object, list, quoted};

    #[test]
    fn text_is_escaped() {
        assert_eq!(quoted("a \"b\" \\ \n"), "\"a \\\"b\\\" \\\\ \\u000a\"");
    }

    #[test]
    fn what_is_no_number_is_null() {
        let object = Object::new()
            .number("a", Some(f64::NAN))
            .raw("b", list(std::iter::empty()));
        assert_eq!(object.finish(), "{\"a\":null,\"b\":[]}");
    }
}
