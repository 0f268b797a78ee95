//! The description of the machine.

use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};
use tilewright::Device;
use tilewright_output::figures;

/// The environment variable with the commit, for programs that run outside their repository.
const COMMIT_VARIABLE: &str = "TILEWRIGHT_COMMIT";

/// The device in one line.
pub fn describe(device: &Device) -> String {
    let properties = device.properties();
    let (Some((major, minor)), Some(driver)) = (properties.compute_capability, properties.driver)
    else {
        return properties.name.clone();
    };
    format!(
        "{}, compute capability {major}.{minor}, {} multiprocessors, {} MiB of L2, driver for CUDA {driver}",
        properties.name,
        properties.multiprocessors,
        properties.l2_cache_bytes >> 20,
    )
}

/// The device, one of `count`, for files of figures.
pub fn record(device: &Device, count: usize) -> figures::Device {
    let properties = device.properties();
    let capability = properties.compute_capability;
    figures::Device {
        name: properties.name.clone(),
        count,
        compute_capability: capability.map(|(major, minor)| format!("{major}.{minor}")),
        multiprocessors: Some(properties.multiprocessors),
        l2_cache_bytes: Some(properties.l2_cache_bytes),
        memory_bytes: Some(properties.memory_bytes),
    }
}

/// The newest CUDA version that the driver supports.
pub fn driver(device: &Device) -> Option<String> {
    device.properties().driver.map(|driver| driver.to_string())
}

/// The checked-out commit, marked if files differ from it; `None` if unknown.
pub fn commit() -> Option<String> {
    if let Ok(commit) = std::env::var(COMMIT_VARIABLE) {
        return Some(commit);
    }
    let git = Command::new("git")
        .args([
            "describe",
            "--always",
            "--dirty",
            "--abbrev=12",
            "--exclude=*",
        ])
        .output()
        .ok()?;
    let commit = String::from_utf8(git.stdout).ok()?;
    git.status.success().then(|| commit.trim().to_owned())
}

/// Today in UTC, such as `2026-01-31`.
pub fn date() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let days = now.map_or(0, |since| since.as_secs() / 86_400);
    let (year, month, day) = civil_date(days);
    format!("{year:04}-{month:02}-{day:02}")
}

/// Year, month and day of the given number of days after 1970-01-01 (Hinnant, "chrono-Compatible
/// Low-Level Date Algorithms", `civil_from_days`).
fn civil_date(days: u64) -> (u64, u64, u64) {
    // Years start in March here, so that a leap day is a year's last.
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 {
        shifted_month + 3
    } else {
        shifted_month - 9
    };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    (year, month, day)
}
