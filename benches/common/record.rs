//! The figures of a run, in the format of the files in `results/`.

use super::Result;
use super::contest::{Contender, Contest};
use super::machine;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tilewright::Device;
use tilewright_output::figures::{Figure, Figures, Row, Run};

/// The times of one contender for one call, in seconds.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    pub median: f64,
    pub lower_quartile: f64,
    pub upper_quartile: f64,
}

impl Times {
    /// The median and the quartiles of `seconds`, which must not be empty.
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

/// The row of a contest, from the times of its contenders, in order.
pub fn row(contest: &Contest, times: &[Times]) -> Row {
    let figures = |ours: bool| {
        let contenders = contest.contenders.iter().zip(times);
        let contenders = contenders.filter(|(contender, _)| contender.ours == ours);
        contenders
            .map(|(contender, times)| figure(contest, contender, times))
            .collect()
    };
    Row {
        work: contest.operation.to_owned(),
        element: contest.element.to_owned(),
        shape: contest.size_label.clone(),
        size: Some(contest.size as u64),
        detail: String::new(),
        unit: contest.work.unit(),
        in_l2: Some(contest.fits_cache()),
        ours: figures(true),
        rivals: figures(false),
    }
}

fn figure(contest: &Contest, contender: &Contender, times: &Times) -> Figure {
    Figure {
        name: contender.name.to_owned(),
        // The simulator's time says nothing about a GPU's.
        value: (!contest.device.is_simulator()).then(|| contest.work.speed(times.median)),
        seconds: Some(times.median),
        seconds_quartiles: Some([times.lower_quartile, times.upper_quartile]),
        ..Figure::default()
    }
}

/// A file of figures that a run is added to.
pub struct Record {
    path: PathBuf,
    /// The file's contents when the run began.
    earlier: Figures,
    run: Run,
}

impl Record {
    /// A run of `program` on `count` devices like `device`, for the file at `path`. Figures of another device or
    /// driver will be replaced.
    ///
    /// # Errors
    /// If the file exists and is not one of figures.
    pub fn open(
        path: &Path,
        program: &str,
        (device, count): (&Device, usize),
        method: &str,
        rivals: BTreeMap<String, Option<String>>,
    ) -> Result<Self> {
        let (described, driver) = (machine::record(device, count), machine::driver(device));
        let mut earlier = Figures {
            device: described,
            driver,
            runs: Vec::new(),
        };
        if path.exists() {
            let there = Figures::read(path)?;
            if (&there.device, &there.driver) == (&earlier.device, &earlier.driver) {
                earlier = there;
            } else {
                println!(
                    "{} is of {} x {}, driver for CUDA {:?}: it will be replaced",
                    path.display(),
                    there.device.count,
                    there.device.name,
                    there.driver
                );
            }
        }
        // Without the folder of the file, which is of one machine.
        let (given, name) = (path.to_string_lossy(), path.file_name());
        let name = name.map_or(given.clone(), |it| it.to_string_lossy());
        let arguments: Vec<String> = std::env::args()
            .skip(1)
            .map(|argument| argument.replace(&*given, &name))
            .collect();
        let command = format!("{program} {}", arguments.join(" "));
        Ok(Self {
            path: path.to_owned(),
            earlier,
            run: Run {
                date: machine::date(),
                commit: machine::commit(),
                command: Some(command.trim_end().to_owned()),
                method: Some(method.to_owned()),
                rivals,
                rows: Vec::new(),
            },
        })
    }

    /// Writes the file, with these rows of the run.
    pub fn write(&self, rows: &[Row]) -> Result {
        let mut figures = self.earlier.clone();
        figures.add(Run {
            rows: rows.to_vec(),
            ..self.run.clone()
        });
        figures.write(&self.path)
    }
}
