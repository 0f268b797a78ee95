//! The file of results, which keeps the rows of earlier runs.

use super::bench::Bench;
use crate::common::{Result, machine};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::path::PathBuf;

/// The file that the options name.
pub struct File {
    path: PathBuf,
    device: String,
    cublas: Option<String>,
    /// The rows that were there when the run began.
    earlier: Vec<Value>,
}

impl File {
    /// The file and what it has, if it is of the same device and the same cuBLAS; `None` if the options name
    /// none.
    pub fn open(bench: &Bench) -> Result<Option<Self>> {
        let Some(path) = &bench.options.out else {
            return Ok(None);
        };
        let mut file = Self {
            path: path.clone(),
            device: machine::describe(&bench.device),
            cublas: bench.cublas.as_ref().map(|it| it.version().to_owned()),
            earlier: Vec::new(),
        };
        if path.exists() {
            let there: Value = serde_json::from_str(&std::fs::read_to_string(path)?)
                .map_err(|error| format!("{}: {error}", path.display()))?;
            file.keep(&there);
        }
        Ok(Some(file))
    }

    fn keep(&mut self, there: &Value) {
        let empty = self.with(Vec::new());
        let is_same = ["device", "cublas"]
            .into_iter()
            .all(|key| there[key] == empty[key]);
        match (is_same, there["products"].as_array()) {
            (true, Some(rows)) => self.earlier.clone_from(rows),
            _ => println!(
                "{} is of {} and cuBLAS {}: its rows are replaced",
                self.path.display(),
                there["device"],
                there["cublas"]
            ),
        }
    }

    /// Writes the rows of this run in the places of earlier ones of the same names, or after them.
    pub fn write(&self, rows: &[Value]) -> Result {
        let mut merged = self.earlier.clone();
        let mut places: HashMap<String, usize> = HashMap::new();
        for (place, row) in merged.iter().enumerate() {
            places.insert(row["name"].to_string(), place);
        }
        for row in rows {
            match places.get(&row["name"].to_string()) {
                Some(&place) => merged[place] = row.clone(),
                None => merged.push(row.clone()),
            }
        }
        if let Some(folder) = self.path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let text = serde_json::to_string_pretty(&self.with(merged))?;
        Ok(std::fs::write(&self.path, text)?)
    }

    fn with(&self, products: Vec<Value>) -> Value {
        json!({ "device": self.device, "cublas": self.cublas, "products": products })
    }
}
