//! torch's reductions and operations on rows, in a process beside the benchmark.

use crate::common::Result;
use serde_json::{Value, json};
use std::cell::RefCell;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::rc::Rc;
use std::time::Duration;
use tempfile::TempDir;
use tilewright::{Device, DeviceChoice};

const PROGRAM: &str = include_str!("torch.py");

/// A reduction or an operation on rows, and its input.
pub struct Job<'a> {
    /// A key of the Python program's table.
    pub operation: &'static str,
    /// The type of the elements, such as `f32`.
    pub element: &'static str,
    pub shape: &'a [usize],
    /// The period of the elements.
    pub period: &'a [f32],
    /// Indices and values of elements that differ from the period.
    pub others: &'a [(usize, f32)],
    /// Whether there is a second array, of the reversed elements.
    pub has_second: bool,
    /// The starts of segments, and the end of the last; empty for other reductions.
    pub offsets: &'a [usize],
    /// Elements of the result that are compared, from the first on; all if `None`.
    pub compared: Option<usize>,
}

impl<'a> Job<'a> {
    /// A job on one array of the period's elements, whose results are all compared.
    pub fn of_period(
        (operation, element): (&'static str, &'static str),
        shape: &'a [usize],
        period: &'a [f32],
    ) -> Self {
        Self {
            operation,
            element,
            shape,
            period,
            others: &[],
            has_second: false,
            offsets: &[],
            compared: None,
        }
    }
}

/// torch on one device.
pub struct Torch {
    process: RefCell<Process>,
    version: String,
}

struct Process {
    child: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Torch {
    /// Starts Python with torch.
    ///
    /// # Errors
    /// If something is missing, in one line.
    pub fn start(_device: &Device) -> Result<Self> {
        let ordinal = match DeviceChoice::from_env()? {
            Some(DeviceChoice::Cuda(ordinal)) => ordinal,
            _ => 0,
        };
        let mut child = Command::new("python3")
            .args(["-c", PROGRAM, &ordinal.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let (requests, answers) = (child.stdin.take(), child.stdout.take());
        let mut process = Process {
            child,
            requests: requests.ok_or("there is no standard input")?,
            answers: BufReader::new(answers.ok_or("there is no standard output")?),
        };
        let first = process.answer()?;
        let version = first["version"].as_str().ok_or("it names no version")?;
        Ok(Self {
            version: version.to_owned(),
            process: RefCell::new(process),
        })
    }

    /// torch's version.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The result of a job, in f64, and a function that times a number of calls, valid until the next job.
    pub fn prepare(
        self: &Rc<Self>,
        job: &Job<'_>,
    ) -> Result<(Vec<f64>, impl FnMut(u64) -> Result<Duration> + use<>)> {
        let folder = TempDir::new()?;
        let [period, offsets, result] =
            ["period", "offsets", "result"].map(|it| folder.path().join(it));
        write(&period, job.period.iter().flat_map(|it| it.to_le_bytes()))?;
        let bytes = job.offsets.iter().map(|&it| (it as i64).to_le_bytes());
        write(&offsets, bytes.flatten())?;
        self.ask(&json!({
            "operation": job.operation,
            "element": job.element,
            "shape": job.shape,
            "elements": job.shape.iter().product::<usize>(),
            "period": period,
            "period_elements": job.period.len(),
            "others": job.others,
            "has_second": job.has_second,
            "offsets": (!job.offsets.is_empty()).then_some(offsets),
            "segments": job.offsets.len().saturating_sub(1),
            "result": result,
            "compared": job.compared,
        }))?;
        let bytes = std::fs::read(&result)?;
        let (values, _) = bytes.as_chunks::<8>();
        let values = values.iter().map(|it| f64::from_le_bytes(*it)).collect();
        let torch = Rc::clone(self);
        let time = move |calls: u64| {
            let answer = torch.ask(&json!({ "time": calls }))?;
            let seconds = answer["seconds"].as_f64().ok_or("torch told no time")?;
            Ok(Duration::from_secs_f64(seconds * calls as f64))
        };
        Ok((values, time))
    }

    /// Frees the memory of the last job.
    pub fn clear(&self) -> Result {
        self.ask(&json!({})).map(drop)
    }

    fn ask(&self, request: &Value) -> Result<Value> {
        let mut process = self.process.borrow_mut();
        writeln!(process.requests, "{request}")?;
        process.requests.flush()?;
        process.answer()
    }
}

impl Process {
    fn answer(&mut self) -> Result<Value> {
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        if line.is_empty() {
            return Err("python3 with torch has ended".into());
        }
        let answer: Value = serde_json::from_str(&line)?;
        match answer["error"].as_str() {
            Some(error) => Err(error.to_owned().into()),
            None => Ok(answer),
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Fails if the process has already ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn write(path: &Path, bytes: impl Iterator<Item = u8>) -> Result {
    Ok(std::fs::write(path, bytes.collect::<Vec<u8>>())?)
}
