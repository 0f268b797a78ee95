//! The files that the benchmark `compare` writes.

use crate::workspace::Result;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// One run on one machine.
#[derive(Deserialize)]
pub struct Run {
    pub machine: Machine,
    date: String,
    /// Unknown where the program ran outside of a repository.
    commit: Option<String>,
    /// Names and versions.
    rivals: BTreeMap<String, String>,
    pub contests: Vec<Contest>,
}

#[derive(Deserialize)]
pub struct Machine {
    pub device: String,
    /// The newest CUDA version that the driver supports.
    driver_cuda: String,
}

/// One job on one input.
#[derive(Deserialize)]
pub struct Contest {
    /// Such as `sum`, `rows` or `product`.
    pub operation: String,
    pub element: String,
    /// Elements of an array, rows and columns of a product's matrices.
    pub size: usize,
    /// The size as it is written: `2^28`, `16384x16384`.
    pub label: String,
    /// The unit of speeds.
    pub unit: String,
    /// Whether all operands fit into the second-level cache.
    pub operands_fit_l2: bool,
    pub contenders: Vec<Contender>,
}

/// A library in a contest.
#[derive(Deserialize)]
pub struct Contender {
    pub name: String,
    /// Whether it is this crate.
    pub ours: bool,
    /// For one call.
    pub seconds: f64,
    pub speed: f64,
}

impl Run {
    pub fn read(path: &Path) -> Result<Self> {
        let text = fs::read_to_string(path)?;
        serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()).into())
    }

    /// The machine and the versions in one line.
    pub fn description(&self) -> String {
        let Machine {
            device,
            driver_cuda,
        } = &self.machine;
        let mut text = format!("{device}, driver for CUDA {driver_cuda}");
        for (name, version) in &self.rivals {
            text += &format!(", {name} {version}");
        }
        let commit = self.commit.as_deref().unwrap_or("unknown");
        text + &format!("; {}, commit {commit}", self.date)
    }
}

impl Contest {
    /// Such as `sum f32 2^28`.
    pub fn name(&self) -> String {
        let Self {
            operation,
            element,
            label,
            ..
        } = self;
        let cached = if self.operands_fit_l2 { " (in L2)" } else { "" };
        format!("{operation} {element} {label}{cached}")
    }

    /// The rows of `rows x columns`.
    pub fn rows(&self) -> Option<usize> {
        self.label.split_once('x')?.0.parse().ok()
    }

    /// The decimals of this contest's speeds.
    pub fn decimals(&self) -> usize {
        let fastest = self.contenders.iter().map(|contender| contender.speed);
        if fastest.fold(0.0, f64::max) < 1000.0 {
            1
        } else {
            0
        }
    }
}
