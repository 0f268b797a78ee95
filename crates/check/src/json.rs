//! Reports as JSON.

use crate::report::{Finding, Output, Report};
use ptx::SourcePlace;
use serde_json::{Value, json};
use simt::{Counts, Defect, Dim3, SourceLocation};

impl Report {
    /// The report as JSON. `docs/check.md` has its keys.
    ///
    /// Floats of outputs are numbers, except for NaN and infinities, which are texts.
    #[must_use]
    pub fn to_json(&self) -> Value {
        json!({
            "kernel": self.kernel,
            "file": self.file,
            "schedules": self.schedules,
            "clean": self.is_clean(),
            "findings": self.findings.iter().map(finding).collect::<Vec<_>>(),
            "mismatches": self.mismatches.iter().map(|it| json!({
                "buffer": it.buffer, "index": it.index, "found": it.found, "expected": it.expected,
                "count": it.count, "seed": it.seed,
            })).collect::<Vec<_>>(),
            "differing": self.differing.iter().map(|it| json!({
                "buffer": it.buffer, "seed": it.seed, "index": it.index, "values": it.values,
            })).collect::<Vec<_>>(),
            "printed": self.printed,
            "counters": self.counts.as_deref().map(counters),
        })
    }
}

impl Output {
    /// Its name, its type and its elements.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let elements = self.elements().map(|text| match text.parse() {
            Ok(Value::Number(number)) => Value::Number(number),
            _ => Value::String(text),
        });
        let elements: Vec<Value> = elements.collect();
        json!({ "name": self.name, "type": self.element.name(), "elements": elements })
    }
}

fn finding(it: &Finding) -> Value {
    let Defect {
        kind,
        message,
        location,
        block,
        thread,
        times,
        seed,
        ..
    } = &it.defect;
    let related = it.defect.related.iter().map(|related| {
        json!({
            "note": related.note,
            "location": related.location.as_ref().map(place),
        })
    });
    json!({
        "kind": kind.to_string(),
        "message": message,
        "location": location.as_ref().map(place),
        "source": it.source.as_ref().map(source),
        "block": block.map(extent),
        "thread": thread.map(extent),
        "times": times,
        "seed": seed,
        "schedules": it.schedules,
        "missing": it.defect.remedy(),
        "related": related.collect::<Vec<_>>(),
        "text": it.text,
    })
}

fn place(it: &SourceLocation) -> Value {
    json!({ "file": it.file, "line": it.line })
}

fn source(it: &SourcePlace) -> Value {
    json!({ "file": &*it.file, "line": it.line, "column": it.column })
}

fn extent(it: Dim3) -> Value {
    json!([it.x, it.y, it.z])
}

fn counters(counts: &Counts) -> Value {
    let lines = counts.lines.iter().map(|it| {
        json!({
            "line": it.location.line,
            "operation": it.operation.to_string(),
            "requests": it.tally.requests,
            "lanes": it.tally.lanes,
            "sectors": it.tally.global.sectors,
            "bytes": it.tally.global.bytes_asked + it.tally.shared.bytes_asked,
            "wavefronts": it.tally.shared.wavefronts,
            "conflicts": it.tally.shared.conflicts(),
        })
    });
    json!({
        "sectors_read": counts.sectors_read,
        "sectors_written": counts.sectors_written,
        "lines": lines.collect::<Vec<_>>(),
    })
}
