//! The chart of square products of each type, drawn from what `cargo bench --bench products -- --out` has
//! written to `benches/results/products/`: for each file, two charts side by side.

use crate::workspace::{Result, workspace_root};
use serde::Deserialize;
use std::fs;
use std::path::PathBuf;
use tilewright_output::chart::{Lines, Series, draw_lines};
use tilewright_output::write_text;

/// Relative to the root.
const RESULTS: &str = "benches/results/products";
const DRAWING: &str = "docs/products.svg";

/// The rows that are drawn: the title of their chart, and what stands before and behind the size in their
/// names.
const CHARTS: [(&str, &str, &str); 4] = [
    ("f32", "f32 ", " uniform [-1, 1)"),
    ("bf16", "bf16 ", " B by columns"),
    ("8-bit floats (e4m3)", "e4m3 ", " B by columns"),
    ("f64", "f64 ", ""),
];

/// What a benchmark has written.
#[derive(Deserialize)]
struct Record {
    device: String,
    products: Vec<Product>,
}

/// One product; vectors have no `flops`.
#[derive(Deserialize)]
struct Product {
    name: String,
    flops: Option<f64>,
    cublas_flops: Option<f64>,
}

/// Draws the chart, if there are results.
pub fn draw() -> Result {
    let charts: Vec<_> = records()?.iter().map(charts).collect();
    let rows: Vec<_> = (charts.iter())
        .flat_map(|charts| charts.chunks(2).map(<[Lines]>::to_vec))
        .collect();
    match rows.is_empty() {
        true => Ok(()),
        false => Ok(write_text(
            &workspace_root().join(DRAWING),
            &draw_lines(&rows)?,
        )?),
    }
}

/// All results, in the order of their names.
fn records() -> Result<Vec<Record>> {
    let folder = workspace_root().join(RESULTS);
    if !folder.exists() {
        return Ok(Vec::new());
    }
    let entries = fs::read_dir(folder)?;
    let paths = entries.map(|entry| Ok(entry?.path()));
    let mut paths = paths.collect::<Result<Vec<PathBuf>>>()?;
    paths.sort();
    let read = |path: &PathBuf| {
        let text = fs::read_to_string(path)?;
        serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()).into())
    };
    paths.iter().map(read).collect()
}

/// A chart for each type that was measured.
fn charts(record: &Record) -> Vec<Lines> {
    let device = record.device.split(',').next().unwrap_or_default();
    let charts = CHARTS.map(|(title, before, behind)| {
        let size = |product: &Product| -> Option<f64> {
            let size = product.name.strip_prefix(before)?.strip_suffix(behind)?;
            size.parse().ok()
        };
        let line = |name: &str, is_rival, speed: fn(&Product) -> Option<f64>| Series {
            name: name.to_owned(),
            is_rival,
            points: (record.products.iter())
                .filter_map(|it| Some((size(it)?, speed(it)? * 1e-12)))
                .collect(),
        };
        let lines = [
            line("matmul", false, |it| it.flops),
            line("cuBLAS", true, |it| it.cublas_flops),
        ];
        Lines {
            title: format!("Product of square matrices of {title}, {device}"),
            x: "rows and columns".to_owned(),
            y: "TFLOP/s".to_owned(),
            series: (lines.into_iter())
                .filter(|line| !line.points.is_empty())
                .collect(),
        }
    });
    let charts = charts.into_iter();
    charts.filter(|chart| !chart.series.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_a_type_become_two_lines_by_size() {
        let text = r#"{"device": "NVIDIA H200, compute capability 9.0", "products": [
            {"name": "f32 1024 uniform [-1, 1)", "flops": 2e12, "cublas_flops": 1e12},
            {"name": "f32 2048 uniform [-1, 1)", "flops": 4e12, "cublas_flops": null},
            {"name": "f32 1024 uniform [-1, 1), chain", "flops": 3e12, "cublas_flops": 1e12},
            {"name": "f32 64x64 vector, rows", "bytes_per_second": 1e9},
            {"name": "e4m3 1024 B by columns", "flops": 9e12, "cublas_flops": 8e12}
        ]}"#;
        let charts = charts(&serde_json::from_str(text).unwrap());
        let titles: Vec<_> = charts.iter().map(|it| it.title.as_str()).collect();
        assert_eq!(
            titles,
            [
                "Product of square matrices of f32, NVIDIA H200",
                "Product of square matrices of 8-bit floats (e4m3), NVIDIA H200",
            ]
        );
        let [ours, rival] = &charts[0].series[..] else {
            panic!("{} lines", charts[0].series.len());
        };
        assert_eq!(ours.points, [(1024.0, 2.0), (2048.0, 4.0)]);
        assert_eq!(rival.points, [(1024.0, 1.0)]);
        assert!(rival.is_rival && !ours.is_rival);
    }
}
