//! `matmul` and cuBLAS: `cargo bench --bench products`.
//!
//! Each contender is warmed up and timed separately, so that none inherits another's clocks: tensor-core work heats
//! the device. Operands are random. Small ones rotate through more sets than fit into L2.

mod any_layout;
mod batches;
mod bench;
#[path = "../common/mod.rs"]
mod common;
mod exact;
mod groups;
mod layers;
mod options;
#[path = "../rivals/mod.rs"]
mod rivals;
mod sets;
mod shapes;
mod squares;

use batches::{WAYS_OF_F32, WAYS_OF_HALVES};
use bench::Bench;
use common::record::Record;
use common::{Result, open_device};
use half::{bf16, f16};
use options::{HELP, Options};
use rivals::Rivals;
use std::process::ExitCode;
use tilewright::cuda_std::fp8::F8E4M3;
use tilewright_output::figures::Row;

fn main() -> ExitCode {
    common::exit(run())
}

fn run() -> Result {
    let Some(options) = Options::from_arguments()? else {
        print!("{HELP}");
        return Ok(());
    };
    let device = open_device()?;
    let rivals = Rivals::of_products(&device);
    for (name, version) in rivals.versions() {
        println!("rival: {name} {}", version.unwrap_or_default());
    }
    let default = match device.is_simulator() {
        true => vec![256],
        false => vec![512, 1024, 1536, 2048, 4096, 6144, 8192],
    };
    let bench = Bench {
        sizes: options.sizes.clone().unwrap_or(default),
        options,
        device,
        cublas: rivals.cublas.clone(),
        cublas_lt: rivals.cublas_lt.clone(),
    };
    println!(
        "\nerror: relative L2, and the largest over u |A||B|; that of the fastest rival in brackets\n\
         {:<48} {:>15} {:>16} {:>5}  error",
        "product", "speed", "fastest rival", "ratio"
    );
    let families: [Family; 31] = [
        |bench, rows| bench.run_f32(rows),
        |bench, rows| bench.run_f64(rows),
        |bench, rows| bench.run_exact::<f64>("f64", rows),
        |bench, rows| bench.run_exact::<f32>("f32", rows),
        |bench, rows| bench.run_halves::<bf16>("bf16", rows),
        |bench, rows| bench.run_halves::<f16>("f16", rows),
        |bench, rows| bench.run_i8(rows),
        |bench, rows| bench.run_dequantized(rows),
        |bench, rows| bench.run_e4m3(rows),
        |bench, rows| bench.run_batches::<f32>("f32", WAYS_OF_F32, rows),
        |bench, rows| bench.run_batches::<bf16>("bf16", WAYS_OF_HALVES, rows),
        |bench, rows| bench.run_groups::<bf16>("bf16", rows),
        |bench, rows| bench.run_small_results::<f32>("f32", rows),
        |bench, rows| bench.run_small_results::<f64>("f64", rows),
        |bench, rows| bench.run_vectors::<f32>("f32", shapes::by_gemv, rows),
        |bench, rows| bench.run_vectors::<f64>("f64", shapes::by_gemv, rows),
        |bench, rows| bench.run_vectors::<bf16>("bf16", shapes::by_gemm, rows),
        |bench, rows| bench.run_vectors::<f16>("f16", shapes::by_gemm, rows),
        |bench, rows| bench.run_layers::<F8E4M3>("e4m3", rows),
        |bench, rows| bench.run_scaled_layers(rows),
        |bench, rows| bench.run_layers::<bf16>("bf16", rows),
        |bench, rows| bench.run_invariant_layers::<bf16>("bf16", rows),
        |bench, rows| bench.run_ragged::<f32>("f32", rows),
        |bench, rows| bench.run_ragged::<f64>("f64", rows),
        |bench, rows| bench.run_ragged::<bf16>("bf16", rows),
        |bench, rows| bench.run_ragged::<f16>("f16", rows),
        |bench, rows| bench.run_ragged_bytes::<i8, i32>("i8", rows),
        |bench, rows| bench.run_ragged_bytes::<F8E4M3, bf16>("e4m3", rows),
        |bench, rows| bench.run_grams::<f32>("f32", rows),
        |bench, rows| bench.run_grams::<f64>("f64", rows),
        |bench, rows| bench.run_grams::<bf16>("bf16", rows),
    ];
    let method = format!(
        "medians of samples of one contender, after it ran alone for {:?}; cuBLASLt: the fastest of its heuristics' first ten",
        bench.options.warm_up
    );
    let record = (bench.options.out.as_ref()).map(|path| {
        Record::open(
            path,
            "products",
            (&bench.device, 1),
            &method,
            rivals.versions(),
        )
    });
    let record = record.transpose()?;
    let mut rows = Vec::new();
    for run in families {
        let before = rows.len();
        run(&bench, &mut rows)?;
        if let (Some(record), true) = (&record, rows.len() > before) {
            // An interrupted run keeps its measurements.
            record.write(&rows)?;
        }
    }
    if rows.is_empty() {
        return Err("--only: no product has one of these texts in its name".into());
    }
    Ok(())
}

/// A family of products, which adds its rows to the others.
type Family = fn(&Bench, &mut Vec<Row>) -> Result;
