//! The results of a ladder's run.

use crate::support::Outcome;
use serde::Serialize;

/// A run of one ladder.
#[derive(Serialize)]
pub struct Page {
    pub ladder: &'static str,
    pub title: &'static str,
    /// The timed device; `None` on the simulator.
    pub device: Option<String>,
    /// The newest CUDA version that the driver supports.
    pub driver: Option<String>,
    /// The method of timing and counting.
    pub method: String,
    pub sections: Vec<Section>,
}

/// Comparable steps.
#[derive(Serialize)]
pub struct Section {
    pub name: &'static str,
    /// The title of the timed work or, without a GPU, of the counted work.
    pub title: String,
    /// The title of the counted work, with the size of its input.
    pub counted: String,
    /// The unit of [`Row::rate`].
    pub unit: &'static str,
    pub parameter: &'static str,
    pub baseline: String,
    pub rows: Vec<Row>,
}

/// One step with one value of its parameter.
#[derive(Serialize)]
pub struct Row {
    pub step: String,
    pub change: &'static str,
    pub parameter: Option<u32>,
    /// Median time of a launch in microseconds; `None` without a GPU.
    pub microseconds: Option<f64>,
    /// Work per second, in billions.
    pub rate: Option<f64>,
    /// The simulator's counters, for a smaller input; `None` for rivals.
    pub counts: Option<Counts>,
}

/// The simulator's counters of one launch, for tables.
#[derive(Serialize)]
pub struct Counts {
    /// Requests to global memory: warp instructions.
    pub global_requests: u64,
    /// 32-byte sectors of all those requests.
    pub sectors: u64,
    /// The requested fraction of these sectors, from 0 to 1.
    pub sector_efficiency: Option<f64>,
    /// The requested fraction of the touched 128-byte lines, from 0 to 1.
    pub line_efficiency: Option<f64>,
    /// Passes through shared memory, divided by passes without bank conflicts.
    pub conflict_ways: Option<f64>,
    /// The fraction of lanes that took part in requests, from 0 to 1.
    pub branch_efficiency: Option<f64>,
    pub barriers: u64,
    pub shuffles: u64,
    pub atomics: u64,
    /// Resident warps, as a fraction of a multiprocessor's maximum, from 0 to 1.
    pub occupancy: Option<f64>,
}

impl Page {
    pub fn to_json(&self) -> Outcome<String> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }

    /// Whether the page has times.
    pub fn is_timed(&self) -> bool {
        self.device.is_some()
    }
}

impl Section {
    /// The steps in their order, each with its rows.
    pub fn steps(&self) -> Vec<(&str, Vec<&Row>)> {
        let mut steps: Vec<(&str, Vec<&Row>)> = Vec::new();
        for row in &self.rows {
            match steps.iter_mut().find(|(step, _)| *step == row.step) {
                Some((_, rows)) => rows.push(row),
                None => steps.push((&row.step, vec![row])),
            }
        }
        steps
    }

    /// The fastest row of each step; without times, the first.
    pub fn best_rows(&self) -> Vec<&Row> {
        let best = |rows: Vec<&'_ Row>| -> Option<usize> {
            let time = |row: &Row| row.microseconds.unwrap_or(f64::INFINITY);
            let position = |row: &Row| self.rows.iter().position(|own| std::ptr::eq(own, row));
            let best = rows
                .into_iter()
                .min_by(|left, right| time(left).total_cmp(&time(right)));
            best.and_then(position)
        };
        let positions = self.steps().into_iter().filter_map(|(_, rows)| best(rows));
        positions.map(|position| &self.rows[position]).collect()
    }

    /// The speed-up of `row` over the best row of the baseline.
    pub fn speed_up(&self, row: &Row) -> Option<f64> {
        let baseline = self
            .best_rows()
            .into_iter()
            .find(|row| row.step == self.baseline)?;
        Some(baseline.microseconds? / row.microseconds?)
    }

    /// The parameters of all rows, in order.
    pub fn parameters(&self) -> Vec<u32> {
        let mut parameters: Vec<u32> = self.rows.iter().filter_map(|row| row.parameter).collect();
        parameters.sort_unstable();
        parameters.dedup();
        parameters
    }
}

/// Work per time, in billions per second.
pub fn rate(work: f64, microseconds: f64) -> f64 {
    work / microseconds * 1e-3
}
