//! `cargo xtask chart`: the results of the comparisons on GPUs, as a drawing and a table, the chart of products,
//! and the charts of the ladder of tensor cores.

mod ladder;
mod products;
mod results;

use crate::workspace::{Result, workspace_root};
use results::{Contender, Contest, Run};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use tilewright_output::chart::{Lines, Series, draw_lines};
use tilewright_output::write_text;

/// The element type whose speeds are drawn; the table has all types.
const DRAWN_ELEMENT: &str = "f32";

/// Runs the command: its arguments are the folder of the results and the drawing's file, which
/// have defaults.
pub fn run(mut arguments: lexopt::Parser) -> Result {
    let mut paths = Vec::new();
    while let Some(argument) = arguments.next()? {
        match argument {
            lexopt::Arg::Value(path) if paths.len() < 2 => paths.push(PathBuf::from(path)),
            argument => return Err(argument.unexpected().into()),
        }
    }
    let mut paths = paths.into_iter();
    let folder = paths
        .next()
        .unwrap_or_else(|| workspace_root().join("benches/results"));
    let drawing = paths
        .next()
        .unwrap_or_else(|| workspace_root().join("docs/benchmarks.svg"));
    let runs = read_all(&folder)?;
    let charts: Vec<Vec<Lines>> = runs.iter().flat_map(charts).collect();
    if let Some(folder) = drawing.parent() {
        fs::create_dir_all(folder)?;
    }
    for run in &runs {
        print!("{}", table(run));
    }
    write_text(&drawing, &draw_lines(&charts)?)?;
    products::draw()?;
    ladder::draw()
}

/// All results in the folder, in the order of their names.
fn read_all(folder: &Path) -> Result<Vec<Run>> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut paths = entries
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<Vec<_>>>()?;
    paths.retain(|path| {
        path.extension()
            .is_some_and(|extension| extension == "json")
    });
    paths.sort();
    if paths.is_empty() {
        let folder = folder.display();
        return Err(format!(
            "{folder} has no results; `cargo bench --bench compare` on a GPU writes them"
        )
        .into());
    }
    paths.iter().map(|path| Run::read(path)).collect()
}

/// The drawn matrices have this many elements; the table has all.
const DRAWN_MATRIX: usize = 1 << 28;

/// The charts of a run, two to a row.
fn charts(run: &Run) -> Vec<Vec<Lines>> {
    let of = |title: &str, x: &str, points: Points<'_>| Lines {
        title: format!("{title}, {}", run.machine.device),
        x: x.to_owned(),
        y: points
            .first()
            .map(|(contest, _)| contest.unit.clone())
            .unwrap_or_default(),
        series: series(&points),
    };
    let charts = [
        of("Sum of f32", "elements", by_size(run, "sum")),
        of("Inclusive scan of f32", "elements", by_size(run, "scan")),
        of(
            "Rows and columns of 2²⁸ f32",
            "rows of the matrix",
            by_rows(run),
        ),
        of(
            "Product of square f32 matrices",
            "rows and columns",
            by_size(run, "product"),
        ),
    ];
    let charts: Vec<Lines> = charts
        .into_iter()
        .filter(|chart| !chart.series.is_empty())
        .collect();
    charts.chunks(2).map(<[Lines]>::to_vec).collect()
}

/// Contests, and where they stand on the horizontal axis.
type Points<'a> = Vec<(&'a Contest, f64)>;

/// The contests of one operation. Sizes other than powers of two would overlap their neighbours:
/// only the table has them.
fn by_size<'a>(run: &'a Run, operation: &str) -> Points<'a> {
    run.contests
        .iter()
        .filter(|contest| contest.operation == operation && contest.element == DRAWN_ELEMENT)
        .filter(|contest| contest.size.is_power_of_two())
        .map(|contest| (contest, contest.size as f64))
        .collect()
}

/// The contests of the rows and the columns of matrices, from few long rows to many short ones.
fn by_rows(run: &Run) -> Points<'_> {
    let mut points: Points<'_> = run
        .contests
        .iter()
        .filter(|contest| ["rows", "columns"].contains(&contest.operation.as_str()))
        .filter(|contest| contest.element == DRAWN_ELEMENT && contest.size == DRAWN_MATRIX)
        .filter_map(|contest| Some((contest, contest.rows()? as f64)))
        .collect();
    points.sort_by(|(_, left), (_, right)| left.total_cmp(right));
    points
}

/// A line for each contender, in the order in which they first appear.
fn series(points: &[(&Contest, f64)]) -> Vec<Series> {
    let mut all: Vec<Series> = Vec::new();
    for (contest, x) in points {
        for contender in &contest.contenders {
            let point = (*x, contender.speed);
            match all.iter_mut().find(|series| series.name == contender.name) {
                Some(series) => series.points.push(point),
                None => all.push(Series {
                    name: contender.name.clone(),
                    is_rival: !contender.ours,
                    points: vec![point],
                }),
            }
        }
    }
    all
}

/// The run as a Markdown table, with the machine above it.
fn table(run: &Run) -> String {
    let mut text = format!("{}\n\n", run.description());
    text += "| work | kernel | speed | rival | of rival |\n|---|---|---:|---:|---:|\n";
    for contest in &run.contests {
        let rival = contest.contenders.iter().find(|contender| !contender.ours);
        for ours in contest.contenders.iter().filter(|contender| contender.ours) {
            writeln!(text, "{}", row(contest, ours, rival)).expect("a string takes all text");
        }
    }
    text
}

fn row(contest: &Contest, ours: &Contender, rival: Option<&Contender>) -> String {
    let speed = |contender: &Contender| {
        format!(
            "{:.*} {}",
            contest.decimals(),
            contender.speed,
            contest.unit
        )
    };
    let (other, ratio) = match rival {
        Some(rival) => {
            let ratio = format!("{:.2}", rival.seconds / ours.seconds);
            (format!("{} {}", rival.name, speed(rival)), ratio)
        }
        None => (String::new(), String::new()),
    };
    let (work, kernel) = (contest.name(), &ours.name);
    format!(
        "| {work} | `{kernel}` | {} | {other} | {ratio} |",
        speed(ours)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contest(size: usize, speeds: &[(&str, bool, f64)]) -> Contest {
        let contenders = speeds.iter().map(|&(name, ours, speed)| Contender {
            name: name.to_owned(),
            ours,
            seconds: 1.0 / speed,
            speed,
        });
        Contest {
            operation: "sum".to_owned(),
            element: "f32".to_owned(),
            size,
            label: format!("2^{}", size.ilog2()),
            unit: "GB/s".to_owned(),
            operands_fit_l2: size < 1 << 20,
            contenders: contenders.collect(),
        }
    }

    #[test]
    fn a_row_compares_ours_with_the_rival() {
        let contest = contest(
            1 << 28,
            &[("reduce_sum", true, 4400.0), ("CUB", false, 4000.0)],
        );
        let row = row(&contest, &contest.contenders[0], contest.contenders.get(1));
        let expected = "| sum f32 2^28 | `reduce_sum` | 4400 GB/s | CUB 4000 GB/s | 1.10 |";
        assert_eq!(row, expected);
    }

    #[test]
    fn a_missing_rival_leaves_its_line_shorter() {
        let both = contest(1 << 16, &[("reduce_sum", true, 20.0), ("CUB", false, 10.0)]);
        let alone = contest(1 << 20, &[("reduce_sum", true, 300.0)]);
        let points = [&both, &alone].map(|contest| (contest, contest.size as f64));
        let series = series(&points);
        assert_eq!(series[0].points, [(65_536.0, 20.0), (1_048_576.0, 300.0)]);
        assert_eq!(series[1].points, [(65_536.0, 10.0)]);
    }
}
