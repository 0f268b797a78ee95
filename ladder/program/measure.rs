//! Checks, times and counts the cases of a ladder.

use super::ladders::case::{Case, Ladder, Scale, Section, Trial};
use super::page::{self, Counts, Page, Row};
use crate::support::{Outcome, timed};
use indicatif::{ProgressBar, ProgressFinish, ProgressStyle};
use std::time::Duration;
use tilewright::{Device, KernelReport, LaunchReport, Operation, Profile, SimulatorOptions, Tally};

/// Samples per case. The median is reported.
const SAMPLES: usize = 11;

/// Minimum duration of a sample: shorter ones would measure the events' resolution.
const SHORTEST_SAMPLE: Duration = Duration::from_millis(1);

/// Maximum launches per sample.
const MOST_LAUNCHES: u32 = 200;

/// The profile of the simulator for counting.
const COUNTED_AS: Profile = Profile::H200;

/// Runs the sections and steps of a ladder whose name contains `only`.
pub fn ladder(device: &Device, ladder: &Ladder, only: Option<&str>) -> Outcome<Page> {
    let mut sections = (ladder.sections)(device)?;
    if let Some(only) = only {
        retain(&mut sections, only)?;
    }
    let cases = sections.iter().map(|section| section.cases.len()).sum();
    let progress = progress(cases);
    let mut measured = Vec::new();
    for section in sections {
        measured.push(measure(device, section, &progress)?);
    }
    Ok(Page {
        ladder: ladder.name,
        title: ladder.title,
        device: (!device.is_simulator()).then(|| device.name().to_owned()),
        driver: device
            .properties()
            .driver
            .map(|version| version.to_string()),
        method: format!(
            "medians of {SAMPLES} samples of at least {SHORTEST_SAMPLE:?} between events; counters \
             by the simulator as {}, for smaller inputs",
            COUNTED_AS.name()
        ),
        sections: measured,
    })
}

/// Keeps the section or the steps that `only` names.
fn retain(sections: &mut Vec<Section>, only: &str) -> Outcome {
    let names: Vec<_> = sections.iter().map(|section| section.name).collect();
    for section in sections.iter_mut() {
        if !section.name.contains(only) {
            section.cases.retain(|case| case.step.contains(only));
        }
    }
    sections.retain(|section| !section.cases.is_empty());
    if sections.is_empty() {
        return Err(format!(
            "--only {only}: no section or step of the ladder has that in its name; the sections \
             are {}",
            names.join(", ")
        )
        .into());
    }
    Ok(())
}

fn progress(cases: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("{pos}/{len} {wide_msg} {elapsed}");
    ProgressBar::new(cases as u64)
        .with_style(style.expect("the template is right"))
        .with_finish(ProgressFinish::AndClear)
}

fn measure(device: &Device, section: Section, progress: &ProgressBar) -> Outcome<page::Section> {
    let first = section.cases.first().map(|case| case.step.clone());
    let baseline = match section.baseline {
        "" => first.unwrap_or_default(),
        baseline => baseline.to_owned(),
    };
    let mut rows = Vec::new();
    for case in &section.cases {
        progress.set_message(label(case));
        let row = row(device, &section, case)
            .map_err(|failure| format!("{}, {}: {failure}", section.name, label(case)))?;
        rows.push(row);
        progress.inc(1);
    }
    Ok(page::Section {
        name: section.name,
        title: match device.is_simulator() {
            true => section.title.counted.clone(),
            false => section.title.timed,
        },
        counted: section.title.counted,
        unit: section.rate.unit(),
        parameter: section.parameter,
        baseline,
        rows,
    })
}

fn label(case: &Case) -> String {
    match case.parameter {
        Some(parameter) => format!("{} ({parameter})", case.step),
        None => case.step.clone(),
    }
}

fn row(device: &Device, section: &Section, case: &Case) -> Outcome<Row> {
    let mut row = Row {
        step: case.step.clone(),
        change: case.change,
        parameter: case.parameter,
        microseconds: None,
        rate: None,
        counts: None,
    };
    if !device.is_simulator() {
        let mut trial = (case.prepare)(device, Scale::Timed)?;
        trial.launch()?;
        trial.check()?;
        let microseconds = median_time(device, &mut *trial)?.as_secs_f64() * 1e6;
        row.microseconds = Some(microseconds);
        row.rate = Some(page::rate(trial.work(), microseconds));
    }
    if case.is_counted {
        row.counts = Some(count(case).map_err(|failure| {
            format!("{failure} ({}, on the simulator)", section.title.counted)
        })?);
    }
    Ok(row)
}

/// The median time of a launch.
fn median_time(device: &Device, trial: &mut dyn Trial) -> Outcome<Duration> {
    // Twice: the first samples raise the clocks and trigger lazy loading.
    let mut launches = 1;
    for _ in 0..2 {
        let once = sample(device, trial, launches)?;
        let needed = SHORTEST_SAMPLE.as_secs_f64() / once.as_secs_f64().max(1e-7);
        launches = (needed.ceil() as u32).clamp(1, MOST_LAUNCHES);
    }
    let mut samples = Vec::new();
    for _ in 0..SAMPLES {
        samples.push(sample(device, trial, launches)?);
    }
    samples.sort_unstable();
    Ok(samples[SAMPLES / 2])
}

/// The average time of `launches` launches.
fn sample(device: &Device, trial: &mut dyn Trial, launches: u32) -> Outcome<Duration> {
    let mut outcome = Ok(());
    let ((), time) = timed(device, || {
        outcome = (0..launches).try_for_each(|_| trial.launch());
        Ok(())
    })?;
    outcome?;
    Ok(time / launches)
}

/// Counts one launch in the simulator, and checks its result.
fn count(case: &Case) -> Outcome<Counts> {
    let simulator = Device::simulator_with(SimulatorOptions::default().with_profile(COUNTED_AS));
    let mut trial = (case.prepare)(&simulator, Scale::Counted)?;
    let (outcome, report) = simulator.with_report(|| Ok(trial.launch()))?;
    outcome?;
    trial.check()?;
    Ok(counts(&report))
}

fn counts(report: &LaunchReport) -> Counts {
    let total_of = |belongs: fn(Operation) -> bool| {
        let launches = report.launches.iter();
        launches.fold(Tally::default(), |mut sum, launch| {
            sum += launch.counts.total_of(belongs);
            sum
        })
    };
    let total = total_of(|_| true);
    let requests = |belongs| total_of(belongs).requests;
    Counts {
        global_requests: total.global.requests,
        sectors: total.global.sectors,
        sector_efficiency: total.global.sector_efficiency(),
        line_efficiency: total.global.line_efficiency(),
        conflict_ways: total.shared.conflict_ways(),
        branch_efficiency: total.branch_efficiency(),
        barriers: requests(|operation| operation == Operation::BlockBarrier),
        shuffles: requests(|operation| operation == Operation::Shuffle),
        atomics: requests(|operation| {
            matches!(operation, Operation::GlobalAtomic | Operation::SharedAtomic)
        }),
        occupancy: report.launches.first().and_then(occupancy),
    }
}

fn occupancy(launch: &KernelReport) -> Option<f64> {
    Some(launch.occupancy()?.fraction())
}
