//! `matmul` and cuBLAS: `cargo bench --bench products`.
//!
//! Each contender is warmed up by itself and then timed, so that none has the clocks that another one
//! leaves behind: tensor-core work heats the device. The operands are random; of small ones there are
//! as many as do not fit into the second-level cache, taken in turns.

mod any_layout;
mod batches;
mod bench;
#[path = "../common/mod.rs"]
mod common;
mod groups;
mod layers;
mod options;
mod results;
#[path = "../rivals/mod.rs"]
mod rivals;
mod sets;
mod shapes;
mod squares;

use batches::{WAYS_OF_F32, WAYS_OF_HALVES};
use bench::Bench;
use common::{Result, open_device};
use half::{bf16, f16};
use options::{HELP, Options};
use results::File;
use rivals::Rivals;
use serde_json::Value;
use std::process::ExitCode;
use tilewright::cuda_std::fp8::F8E4M3;

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
    let default = match device.is_simulator() {
        true => vec![256],
        false => vec![512, 1024, 1536, 2048, 4096, 6144, 8192],
    };
    let bench = Bench {
        sizes: options.sizes.clone().unwrap_or(default),
        options,
        device,
        cublas: rivals.cublas,
        cublas_lt: rivals.cublas_lt,
    };
    println!(
        "\nerror: relative L2, and the largest over u |A||B|; that of cuBLAS in brackets\n\
         {:<26} {:>7} {:>6} {:>5}  error",
        "product", "TFLOP/s", "cuBLAS", "ratio"
    );
    let families: [Family; 27] = [
        |bench, records| bench.run_f32(records),
        |bench, records| bench.run_f64(records),
        |bench, records| bench.run_halves::<bf16>("bf16", records),
        |bench, records| bench.run_halves::<f16>("f16", records),
        |bench, records| bench.run_i8(records),
        |bench, records| bench.run_dequantized(records),
        |bench, records| bench.run_e4m3(records),
        |bench, records| bench.run_batches::<f32>("f32", WAYS_OF_F32, records),
        |bench, records| bench.run_batches::<bf16>("bf16", WAYS_OF_HALVES, records),
        |bench, records| bench.run_groups::<bf16>("bf16", records),
        |bench, records| bench.run_small_results::<f32>("f32", records),
        |bench, records| bench.run_small_results::<f64>("f64", records),
        |bench, records| bench.run_vectors::<f32>("f32", shapes::by_gemv, records),
        |bench, records| bench.run_vectors::<f64>("f64", shapes::by_gemv, records),
        |bench, records| bench.run_vectors::<bf16>("bf16", shapes::by_gemm, records),
        |bench, records| bench.run_vectors::<f16>("f16", shapes::by_gemm, records),
        |bench, records| bench.run_layers::<F8E4M3>("e4m3", records),
        |bench, records| bench.run_layers::<bf16>("bf16", records),
        |bench, records| bench.run_ragged::<f32>("f32", records),
        |bench, records| bench.run_ragged::<f64>("f64", records),
        |bench, records| bench.run_ragged::<bf16>("bf16", records),
        |bench, records| bench.run_ragged::<f16>("f16", records),
        |bench, records| bench.run_ragged_alone::<i8, i32>("i8", records),
        |bench, records| bench.run_ragged_alone::<F8E4M3, bf16>("e4m3", records),
        |bench, records| bench.run_grams::<f32>("f32", records),
        |bench, records| bench.run_grams::<f64>("f64", records),
        |bench, records| bench.run_grams::<bf16>("bf16", records),
    ];
    let file = File::open(&bench)?;
    let mut records = Vec::new();
    for run in families {
        let before = records.len();
        run(&bench, &mut records)?;
        if let (Some(file), true) = (&file, records.len() > before) {
            // A run that is interrupted keeps what it has measured.
            file.write(&records)?;
        }
    }
    if records.is_empty() {
        return Err("--only: no product has one of these texts in its name".into());
    }
    Ok(())
}

/// Products of one kind, whose results are added to the others.
type Family = fn(&Bench, &mut Vec<Value>) -> Result;
