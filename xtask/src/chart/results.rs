//! The files that the benchmark `compare` writes.

use crate::Result;
use serde_json::Value;
use std::fs;
use std::path::Path;

/// One run on one machine.
pub struct Run {
    pub device: String,
    /// The newest CUDA version that the driver supports.
    driver: String,
    date: String,
    commit: String,
    /// Names and versions.
    rivals: Vec<(String, String)>,
    pub contests: Vec<Contest>,
}

/// One job on one input.
pub struct Contest {
    /// `sum` or `product`.
    pub operation: String,
    pub element: String,
    /// Elements of a sum, rows and columns of a product's matrices.
    pub size: usize,
    /// The unit of speeds.
    pub unit: String,
    /// Whether all operands fit into the second-level cache.
    pub in_cache: bool,
    pub contenders: Vec<Contender>,
}

/// One who did it.
pub struct Contender {
    pub name: String,
    /// Whether it is this crate's.
    pub ours: bool,
    /// For one call.
    pub seconds: f64,
    pub speed: f64,
}

impl Run {
    pub fn read(path: &Path) -> Result<Self> {
        let text = fs::read_to_string(path)?;
        let run = serde_json::from_str(&text)
            .map_err(Into::into)
            .and_then(|value| Self::of(&value));
        run.map_err(|error| format!("{}: {error}", path.display()).into())
    }

    fn of(value: &Value) -> Result<Self> {
        let rivals = value["rivals"].as_object().into_iter().flatten();
        Ok(Self {
            device: string(&value["machine"], "device")?,
            driver: string(&value["machine"], "driver_cuda")?,
            date: string(value, "date")?,
            commit: string(value, "commit").unwrap_or_else(|_| "unknown".to_owned()),
            rivals: rivals
                .map(|(name, version)| (name.clone(), version.as_str().unwrap_or("?").to_owned()))
                .collect(),
            contests: list(value, "contests", Contest::of)?,
        })
    }

    /// The machine and the versions in one line.
    pub fn description(&self) -> String {
        let mut text = format!("{}, driver for CUDA {}", self.device, self.driver);
        for (name, version) in &self.rivals {
            text += &format!(", {name} {version}");
        }
        text + &format!("; {}, commit {}", self.date, self.commit)
    }
}

impl Contest {
    fn of(value: &Value) -> Result<Self> {
        let size = value["size"].as_u64().ok_or("a contest has no `size`")?;
        Ok(Self {
            operation: string(value, "operation")?,
            element: string(value, "element")?,
            size: usize::try_from(size)?,
            unit: string(value, "unit")?,
            in_cache: value["operands_fit_l2"] == true,
            contenders: list(value, "contenders", Contender::of)?,
        })
    }

    /// Such as `sum f32 2^28`.
    pub fn name(&self) -> String {
        let (operation, element) = (&self.operation, &self.element);
        let size = match operation.as_str() {
            "sum" if self.size.is_power_of_two() => format!("2^{}", self.size.ilog2()),
            _ => self.size.to_string(),
        };
        let cached = if self.in_cache { " (in L2)" } else { "" };
        format!("{operation} {element} {size}{cached}")
    }

    /// Decimals that a speed of this contest is told with.
    pub fn decimals(&self) -> usize {
        let fastest = self.contenders.iter().map(|contender| contender.speed);
        if fastest.fold(0.0, f64::max) < 1000.0 {
            1
        } else {
            0
        }
    }
}

impl Contender {
    fn of(value: &Value) -> Result<Self> {
        Ok(Self {
            name: string(value, "name")?,
            ours: value["ours"] == true,
            seconds: number(value, "seconds")?,
            speed: number(value, "speed")?,
        })
    }
}

fn string(value: &Value, key: &str) -> Result<String> {
    let text = value[key]
        .as_str()
        .ok_or_else(|| format!("there is no text `{key}`"))?;
    Ok(text.to_owned())
}

fn number(value: &Value, key: &str) -> Result<f64> {
    Ok(value[key]
        .as_f64()
        .ok_or_else(|| format!("there is no number `{key}`"))?)
}

fn list<T>(value: &Value, key: &str, read: fn(&Value) -> Result<T>) -> Result<Vec<T>> {
    let items = value[key]
        .as_array()
        .ok_or_else(|| format!("there is no list `{key}`"))?;
    items.iter().map(read).collect()
}
