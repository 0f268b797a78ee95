//! The results of a comparison as JSON.

use super::Result;
use super::contest::{Contender, Contest};
use super::machine;
use crate::rivals::Rivals;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use tilewright::Device;

/// The times of one contender for one call, in seconds.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    pub median: f64,
    pub lower_quartile: f64,
    pub upper_quartile: f64,
}

impl Times {
    /// The median and the quartiles of `seconds`, of which there has to be at least one.
    pub fn of(mut seconds: Vec<f64>) -> Self {
        seconds.sort_by(f64::total_cmp);
        let at = |quarters: usize| seconds[(seconds.len() - 1) * quarters / 4];
        Self {
            median: at(2),
            lower_quartile: at(1),
            upper_quartile: at(3),
        }
    }
}

/// One contest as JSON; `times` are those of its contenders, in order.
pub fn contest(contest: &Contest, times: &[Times]) -> Value {
    let contenders = contest.contenders.iter().zip(times);
    let contenders: Vec<Value> = contenders
        .map(|(contender, times)| entry(contest, contender, times))
        .collect();
    json!({
        "operation": contest.operation,
        "element": contest.element,
        "size": contest.size,
        "label": contest.size_label,
        "operands_fit_l2": contest.fits_cache(),
        "unit": contest.work.unit(),
        "contenders": contenders,
    })
}

fn entry(contest: &Contest, contender: &Contender, times: &Times) -> Value {
    json!({
        "name": contender.name,
        "ours": contender.ours,
        "seconds": times.median,
        "seconds_quartiles": [times.lower_quartile, times.upper_quartile],
        // The simulator's time is no GPU's.
        "speed": (!contest.device.is_simulator()).then(|| contest.work.speed(times.median)),
    })
}

/// The whole run as JSON.
pub fn run(device: &Device, rivals: &Rivals, method: &str, contests: Vec<Value>) -> Value {
    let rivals: BTreeMap<_, _> = rivals.versions().into_iter().collect();
    let command: Vec<String> = std::env::args().skip(1).collect();
    json!({
        "machine": machine::record(device),
        "date": machine::date(),
        "crate_version": env!("CARGO_PKG_VERSION"),
        "commit": machine::commit(),
        "command": format!("compare {}", command.join(" ")).trim_end(),
        "method": method,
        "rivals": rivals,
        "contests": contests,
    })
}

/// Writes `record` to the file at `path`, whose folder is made.
pub fn write(record: &Value, path: &Path) -> Result {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let text = serde_json::to_string_pretty(record)? + "\n";
    tilewright_output::write_text(path, &text)
}
