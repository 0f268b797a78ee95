//! `tilewright-check`: runs launch files, prints what it finds, and exits with a code for CI.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tilewright_check::{CheckError, LaunchFile, Report, listing, npy, skeleton};

/// Prints a line. The reader may have closed the pipe.
macro_rules! say {
    ($($text:tt)*) => {{
        let _ = writeln!(std::io::stdout(), $($text)*);
    }};
}

const USAGE: &str = "\
Runs kernels' PTX on the CPU under many schedules, and reports data races and other mistakes.

tilewright-check [OPTIONS] LAUNCH.toml..   run launches
tilewright-check --list FILE.ptx           the kernels of a file, and what of them cannot be run
tilewright-check --init FILE.ptx [KERNEL]  a launch file to begin with, on standard output

  --schedules N   run N schedules of each launch, instead of what its file says (16 by default)
  --seed N        begin with schedule N; `--seed N --schedules 1` repeats one
  --counters      print requests, sectors and bank conflicts of each line
  --json          print JSON, one object a line
  --quiet         print findings alone

Exit code: 0 if there are no findings, or one that a file names; 1 if there are; 2 if something cannot be run.
";

const FOUND: u8 = 1;
const FAILED: u8 = 2;

#[derive(Default)]
struct Options {
    schedules: Option<u64>,
    seed: Option<u64>,
    counters: bool,
    json: bool,
    quiet: bool,
    files: Vec<PathBuf>,
}

fn main() -> ExitCode {
    match run() {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("tilewright-check: {error}");
            ExitCode::from(FAILED)
        }
    }
}

fn run() -> Result<u8, Box<dyn std::error::Error>> {
    use lexopt::prelude::{Long, Short, Value, ValueExt};
    let mut options = Options::default();
    let mut parser = lexopt::Parser::from_env();
    while let Some(argument) = parser.next()? {
        match argument {
            Long("schedules") => options.schedules = Some(parser.value()?.parse()?),
            Long("seed") => options.seed = Some(parser.value()?.parse()?),
            Long("counters") => options.counters = true,
            Long("json") => options.json = true,
            Long("quiet") | Short('q') => options.quiet = true,
            Long("list") => return list(Path::new(&parser.value()?)),
            Long("init") => {
                let path = PathBuf::from(parser.value()?);
                let kernel = parser.optional_value().or_else(|| {
                    let mut rest = parser.raw_args().ok()?;
                    rest.next()
                });
                let kernel = kernel.map(|it| it.to_string_lossy().into_owned());
                return init(&path, kernel.as_deref());
            }
            Long("version") | Short('V') => {
                say!("tilewright-check {}", env!("CARGO_PKG_VERSION"));
                return Ok(0);
            }
            Long("help") | Short('h') => {
                say!("{}", USAGE.trim_end());
                return Ok(0);
            }
            Value(path) => options.files.push(path.into()),
            other => return Err(other.unexpected().into()),
        }
    }
    if options.files.is_empty() {
        eprintln!("{}", USAGE.trim_end());
        return Ok(FAILED);
    }
    let codes = options.files.iter().map(|path| check(path, &options));
    Ok(codes.max().unwrap_or_default())
}

fn read(path: &Path) -> Result<ptx::Module, Box<dyn std::error::Error>> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(text.parse()?)
}

fn list(path: &Path) -> Result<u8, Box<dyn std::error::Error>> {
    say!("{}", listing(&read(path)?).trim_end());
    Ok(0)
}

fn init(path: &Path, kernel: Option<&str>) -> Result<u8, Box<dyn std::error::Error>> {
    let module = read(path)?;
    let mut kernels = module.kernels();
    let kernel = kernels.find(|it| kernel.is_none_or(|name| name == it.name.as_ref()));
    let kernel = kernel.ok_or("there is no such kernel; `--list` names them")?;
    let path = path
        .to_str()
        .ok_or("the path is not UTF-8, so no launch file can name it")?;
    say!("{}", skeleton(path, kernel).trim_end());
    Ok(0)
}

/// Runs one launch file, and returns its exit code.
fn check(path: &Path, options: &Options) -> u8 {
    let checked = LaunchFile::read(path).and_then(|mut file| {
        let launch = &mut file.launch;
        launch.schedules = options.schedules.unwrap_or(launch.schedules);
        launch.first_seed = options.seed.unwrap_or(launch.first_seed);
        launch.counters = options.counters;
        let report = launch.run()?;
        save(&file, &report)?;
        Ok((file, report))
    });
    match checked {
        Ok((file, report)) => {
            match options.json {
                true => print_json(path, &file, &report),
                false => print(path, &file, &report, options.quiet),
            }
            match file.expects(&report) {
                true => 0,
                false => FOUND,
            }
        }
        Err(error) => {
            if options.json {
                let path = path.to_string_lossy();
                let error = error.to_string();
                say!("{}", serde_json::json!({ "launch": path, "error": error }));
            }
            match &error {
                // It names the path itself.
                CheckError::File { path: of, .. } if of == path => eprintln!("{error}"),
                _ => eprintln!("{}: {error}", path.display()),
            }
            FAILED
        }
    }
}

fn save(file: &LaunchFile, report: &Report) -> Result<(), CheckError> {
    for (name, path) in &file.saved {
        let Some(output) = report.output(name) else {
            continue;
        };
        let bytes = npy::write(output.element, &output.bytes);
        fs::write(path, bytes).map_err(|error| CheckError::File {
            path: path.clone(),
            message: error.to_string(),
        })?;
    }
    Ok(())
}

fn print(path: &Path, file: &LaunchFile, report: &Report, is_quiet: bool) {
    if is_quiet && file.expects(report) {
        return;
    }
    for line in &report.printed {
        say!("{}", line.trim_end_matches('\n'));
    }
    for output in file.printed.iter().filter_map(|name| report.output(name)) {
        say!("{output}");
    }
    if let Some(counts) = &report.counts {
        print_counters(counts);
    }
    say!("{}: {report}", path.display());
    if !file.known_findings.is_empty() {
        let kinds = file.known_findings.join(" or ");
        let outcome = if file.expects(report) {
            "as expected"
        } else {
            "missing"
        };
        say!("  {kinds}: {outcome}");
    }
}

fn print_counters(counts: &simt::Counts) {
    say!("  line  operation            requests     lanes   sectors  conflicts");
    for it in &counts.lines {
        let tally = &it.tally;
        say!(
            "{:>6}  {:<18} {:>10} {:>9} {:>9} {:>10}",
            it.location.line,
            it.operation.to_string(),
            tally.requests,
            tally.lanes,
            tally.global.sectors,
            tally.shared.conflicts()
        );
    }
    let (read, written) = (counts.sectors_read, counts.sectors_written);
    say!("distinct sectors of 32 bytes: {read} read, {written} written");
}

fn print_json(path: &Path, file: &LaunchFile, report: &Report) {
    let mut value = report.to_json();
    let outputs = file.printed.iter().filter_map(|name| report.output(name));
    let outputs: Vec<serde_json::Value> = outputs.map(|it| it.to_json()).collect();
    value["launch"] = path.to_string_lossy().into();
    value["outputs"] = outputs.into();
    value["as_expected"] = file.expects(report).into();
    say!("{value}");
}
