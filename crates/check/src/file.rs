//! Launches in TOML.

use crate::buffer::{Buffer, Contents, Expected};
use crate::element::{Element, Number};
use crate::error::CheckError;
use crate::launch::{Argument, DEFAULT_SCHEDULES, Launch, TensorShape};
use crate::npy;
use crate::report::{Report, check_kind};
use serde::Deserialize;
use simt::Profile;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Errors of more bytes do not quote the file's line.
const LONGEST_ERROR: usize = 1000;

/// A launch file: the launch, and the outputs of its results.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct LaunchFile {
    /// The launch.
    pub launch: Launch,
    /// Buffers whose elements are printed.
    pub printed: Vec<String>,
    /// Buffers that are saved as `.npy`, with the path.
    pub saved: Vec<(String, PathBuf)>,
    /// Known findings of the kernel, by their names in reports: `data race`. At least one must occur.
    pub known_findings: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    ptx: PathBuf,
    entry: String,
    #[serde(default = "one")]
    grid: Extent,
    #[serde(default = "one")]
    block: Extent,
    #[serde(default = "one")]
    cluster: Extent,
    #[serde(default)]
    shared: usize,
    #[serde(default)]
    cooperative: bool,
    #[serde(default)]
    arguments: Vec<TextArgument>,
    #[serde(default)]
    buffers: BTreeMap<String, TextBuffer>,
    schedules: Option<u64>,
    #[serde(default)]
    seed: u64,
    #[serde(default)]
    strict: bool,
    /// In seconds.
    time_limit: Option<f64>,
    device: Option<String>,
    finding: Option<Findings>,
}

#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "findings are a name, as in \"data race\", or a list of names"
)]
enum Findings {
    One(String),
    List(Vec<String>),
}

#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "a grid, a block or a cluster is a number of at least 1, or a list of up to three: x, y and z"
)]
enum Extent {
    Number(u32),
    List(Vec<u32>),
}

const fn one() -> Extent {
    Extent::Number(1)
}

#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "an argument is a buffer's name, a number, a list of fields, or a table: `{ buffer, offset }`, \
                 `{ value, type }` or `{ tensor_map, sizes, strides, box, swizzle }`"
)]
enum TextArgument {
    Buffer(String),
    Number(Number),
    Fields(Vec<Self>),
    Table(TextTable),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case", untagged)]
enum TextTable {
    Buffer {
        buffer: String,
        #[serde(default)]
        offset: i64,
    },
    Number {
        value: Number,
        #[serde(rename = "type")]
        element: Element,
    },
    TensorMap {
        tensor_map: String,
        sizes: Vec<u64>,
        #[serde(default)]
        strides: Vec<u64>,
        #[serde(rename = "box")]
        box_sizes: Vec<u32>,
        #[serde(default)]
        swizzle: u32,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TextBuffer {
    #[serde(rename = "type")]
    element: Option<Element>,
    length: Option<usize>,
    fill: Option<Fill>,
    values: Option<Vec<Number>>,
    file: Option<PathBuf>,
    /// Of random numbers.
    range: Option<[f64; 2]>,
    #[serde(default)]
    seed: u64,
    expect: Option<Wanted>,
    #[serde(default)]
    tolerance: f64,
    #[serde(default)]
    may_differ: bool,
    #[serde(default)]
    print: bool,
    save: Option<PathBuf>,
}

#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "`fill` is a number, \"index\", \"random\" or \"uninitialised\""
)]
enum Fill {
    Number(Number),
    Rule(Rule),
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Rule {
    Uninitialised,
    Index,
    Random,
}

#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "`expect` is a number, a list of numbers, or the path of a .npy file"
)]
enum Wanted {
    One(Number),
    List(Vec<Number>),
    File(PathBuf),
}

impl LaunchFile {
    /// Whether the report is clean, or, if the file names findings, has one of them.
    #[must_use]
    pub fn expects(&self, report: &Report) -> bool {
        if self.known_findings.is_empty() {
            return report.is_clean();
        }
        let mut findings = report.findings.iter();
        findings.any(|it| self.known_findings.contains(&it.defect.kind.to_string()))
    }

    /// Reads a launch file. Paths in it are relative to its folder.
    ///
    /// # Errors
    /// [`CheckError`] if it, or a file that it names, cannot be used.
    pub fn read(path: &Path) -> Result<Self, CheckError> {
        let text = read_text(path)?;
        Self::parse(&text, path.parent().unwrap_or(Path::new("")))
    }

    /// A launch file's text. Paths in it are relative to `folder`.
    ///
    /// # Errors
    /// [`CheckError`] if it, or a file that it names, cannot be used.
    pub fn parse(text: &str, folder: &Path) -> Result<Self, CheckError> {
        let text: Text = toml::from_str(text).map_err(|it| toml_error(&it))?;
        let path = folder.join(&text.ptx);
        let mut launch = Launch::new(&path.to_string_lossy(), &read_text(&path)?, &text.entry);
        launch.grid = extent(&text.grid)?;
        launch.block = extent(&text.block)?;
        launch.cluster = extent(&text.cluster)?;
        launch.shared_bytes = text.shared;
        launch.is_cooperative = text.cooperative;
        launch.is_strict = text.strict;
        launch.first_seed = text.seed;
        launch.schedules = text.schedules.unwrap_or(DEFAULT_SCHEDULES);
        if let Some(seconds) = text.time_limit {
            let limit = Duration::try_from_secs_f64(seconds);
            launch.time_limit = limit.map_err(|it| CheckError::Toml(it.to_string()))?;
        }
        if let Some(device) = text.device {
            let profile: Result<Profile, _> = device.parse();
            launch.profile = Some(profile.map_err(|it| CheckError::Toml(it.to_string()))?);
        }
        launch.arguments = text.arguments.into_iter().map(argument).collect();
        let known_findings = match text.finding {
            None => Vec::new(),
            Some(Findings::One(kind)) => vec![kind],
            Some(Findings::List(kinds)) => kinds,
        };
        known_findings.iter().try_for_each(|it| check_kind(it))?;
        let (mut printed, mut saved) = (Vec::new(), Vec::new());
        for (name, it) in text.buffers {
            if it.print {
                printed.push(name.clone());
            }
            if let Some(path) = &it.save {
                saved.push((name.clone(), folder.join(path)));
            }
            let made = buffer(it, folder).map_err(|error| CheckError::Buffer {
                name: name.clone(),
                message: error.to_string(),
            });
            launch.buffers.insert(name, made?);
        }
        Ok(Self {
            launch,
            printed,
            saved,
            known_findings,
        })
    }
}

/// An error of the format, with the line unless that is long.
fn toml_error(error: &toml::de::Error) -> CheckError {
    let text = error.to_string();
    CheckError::Toml(match (text.len() > LONGEST_ERROR, error.span()) {
        (true, Some(place)) => format!("at byte {}: {}", place.start, error.message()),
        _ => text,
    })
}

fn read_text(path: &Path) -> Result<String, CheckError> {
    fs::read_to_string(path).map_err(|error| file_error(path, &error))
}

pub(crate) fn file_error(path: &Path, error: &std::io::Error) -> CheckError {
    CheckError::File {
        path: path.to_owned(),
        message: error.to_string(),
    }
}

fn extent(text: &Extent) -> Result<[u32; 3], CheckError> {
    let list = match text {
        Extent::Number(x) => std::slice::from_ref(x),
        Extent::List(list) => list,
    };
    if !(1..=3).contains(&list.len()) {
        let message = format!("{} dimensions: there can be 1 to 3", list.len());
        return Err(CheckError::Toml(message));
    }
    Ok(std::array::from_fn(|axis| {
        list.get(axis).copied().unwrap_or(1)
    }))
}

fn argument(text: TextArgument) -> Argument {
    match text {
        TextArgument::Buffer(name) => Argument::buffer(&name),
        TextArgument::Number(value) => Argument::number(value),
        TextArgument::Fields(fields) => {
            Argument::Fields(fields.into_iter().map(argument).collect())
        }
        TextArgument::Table(TextTable::Buffer { buffer, offset }) => Argument::Buffer {
            name: buffer,
            offset,
        },
        TextArgument::Table(TextTable::Number { value, element }) => Argument::Number {
            value,
            element: Some(element),
        },
        TextArgument::Table(TextTable::TensorMap {
            tensor_map,
            sizes,
            strides,
            box_sizes,
            swizzle,
        }) => Argument::TensorMap(TensorShape {
            buffer: tensor_map,
            sizes,
            strides,
            box_sizes,
            swizzle,
        }),
    }
}

fn read_array(path: &Path) -> Result<npy::Array, CheckError> {
    let file = fs::read(path).map_err(|error| file_error(path, &error))?;
    Ok(npy::read(&file)?)
}

fn buffer(text: TextBuffer, folder: &Path) -> Result<Buffer, CheckError> {
    let toml = |message: &str| CheckError::Toml(message.to_owned());
    let sources = [
        text.fill.is_some(),
        text.values.is_some(),
        text.file.is_some(),
    ];
    if sources.iter().filter(|it| **it).count() > 1 {
        return Err(toml("one of `fill`, `values` and `file`"));
    }
    let mut buffer = match (text.file, text.values, text.element) {
        (Some(path), _, element) => {
            let array = read_array(&folder.join(path))?;
            let element = element.unwrap_or(array.element);
            // NumPy has no bf16.
            if element != array.element && (element, array.element) != (Element::Bf16, Element::U16)
            {
                let (found, wanted) = (array.element.name(), element.name());
                return Err(toml(&format!(
                    "the file has elements of type {found}, not {wanted}"
                )));
            }
            let length = array.bytes.len() / element.bytes();
            Buffer::new(element, length, Contents::Bytes(array.bytes))
        }
        (None, Some(values), Some(element)) => Buffer::of(element, &values)?,
        (None, None, Some(element)) => {
            let length = text.length.ok_or_else(|| toml("the `length` is missing"))?;
            let [least, most] = text.range.unwrap_or(match element.is_float() {
                true => [-1.0, 1.0],
                false => [0.0, 100.0],
            });
            let contents = match text.fill {
                None | Some(Fill::Rule(Rule::Uninitialised)) => Contents::Uninitialised,
                Some(Fill::Number(number)) => Contents::Constant(number),
                Some(Fill::Rule(Rule::Index)) => Contents::Index,
                Some(Fill::Rule(Rule::Random)) => Contents::Random {
                    seed: text.seed,
                    least,
                    most,
                },
            };
            Buffer::new(element, length, contents)
        }
        (None, _, None) => return Err(toml("the `type` is missing")),
    };
    if text.length.is_some_and(|length| length != buffer.length) {
        let message = format!("it has {} elements, not its `length`", buffer.length);
        return Err(CheckError::Toml(message));
    }
    let is_list = !matches!(text.expect, Some(Wanted::One(_)));
    let values = match text.expect {
        None => None,
        Some(Wanted::One(number)) => Some(vec![number]),
        Some(Wanted::List(numbers)) => Some(numbers),
        Some(Wanted::File(path)) => Some(read_array(&folder.join(path))?.numbers(buffer.element)),
    };
    // One number alone is for all elements.
    if let Some(values) = &values
        && is_list
        && values.len() != buffer.length
    {
        let message = format!("{} expected elements of {}", values.len(), buffer.length);
        return Err(CheckError::Toml(message));
    }
    let tolerance = text.tolerance;
    buffer.expected = values.map(|values| Expected { values, tolerance });
    buffer.may_differ = text.may_differ;
    Ok(buffer)
}
