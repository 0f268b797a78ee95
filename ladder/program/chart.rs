//! The chart of a section: bars for steps, lines where a parameter varies.

use super::page::{Row, Section};
use crate::support::Outcome;
use tilewright_output::chart::{Bars, Lines, Series, draw_lines};

/// The chart of a section as SVG: lines if most steps vary with the parameter, otherwise a bar for
/// each step. It shows times if there are any, otherwise sectors moved.
pub fn draw(section: &Section) -> Outcome<String> {
    let is_timed = section.rows.iter().any(|row| row.microseconds.is_some());
    let steps = section.steps();
    let varying = steps.iter().filter(|(_, rows)| rows.len() > 2).count();
    if is_timed && 2 * varying > steps.len() {
        draw_lines(&[vec![lines(section)]])
    } else {
        bars(section, is_timed).draw()
    }
}

/// A bar for each step: its rate, or the sectors that it moves.
fn bars(section: &Section, is_timed: bool) -> Bars {
    let value = |row: &Row| match is_timed {
        true => row.rate,
        false => row.counts.as_ref().map(|counts| counts.sectors as f64),
    };
    let unit = match is_timed {
        true => section.unit,
        false => "32-byte sectors of global memory",
    };
    let rows = section.best_rows().into_iter();
    Bars {
        title: section.title.clone(),
        unit: unit.to_owned(),
        bars: rows
            .map(|row| (row.step.clone(), value(row).unwrap_or(0.0)))
            .collect(),
    }
}

/// A line for each step that has the parameter: its speed-up over the baseline.
fn lines(section: &Section) -> Lines {
    let point = |row: &&Row| Some((f64::from(row.parameter?), section.speed_up(row)?));
    let series = section.steps().into_iter().map(|(step, rows)| Series {
        name: step.to_owned(),
        is_rival: false,
        points: rows.iter().filter_map(point).collect(),
    });
    Lines {
        title: section.title.clone(),
        x: section.parameter.to_owned(),
        y: format!("speed-up over {}", section.baseline),
        series: series.filter(|series| series.points.len() > 1).collect(),
    }
}
