//! Classifies the rows of a NumPy file with a network whose layers are NumPy files.
//!
//! ```text
//! cargo run --release [--features cuda] -- MODEL INPUT.npy OUTPUT.npy
//! ```
//!
//! The folder MODEL has `weights1.npy` (inputs x outputs), `bias1.npy`, `weights2.npy` and so on. All files are of
//! f32. OUTPUT gets the probabilities, a row for each row of INPUT.

use ndarray::{Array1, Array2};
use ndarray_npy::{ReadableElement, read_npy, write_npy};
use network::Network;
use std::env;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;
use tilewright::Device;

const USAGE: &str = "usage: network MODEL INPUT.npy OUTPUT.npy";

/// The number of rows in a batch.
const BATCH: usize = 4096;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<PathBuf> = env::args_os().skip(1).map(PathBuf::from).collect();
    let [model, input, output] = arguments.as_slice() else {
        return Err(USAGE.into());
    };
    let device = Device::from_env()?;
    let network = read_network(&device, model)?;
    let rows: Array2<f32> = read(input)?;

    let start = Instant::now();
    let input = device.matrix_from_array(rows.view())?;
    let probabilities = network.probabilities(&input, BATCH)?.to_array2()?;
    let seconds = start.elapsed().as_secs_f64();

    write_npy(output, &probabilities)?;
    println!(
        "{}: {} rows, {} classes, in {seconds:.3} s",
        device.name(),
        probabilities.nrows(),
        probabilities.ncols()
    );
    Ok(())
}

fn read_network(device: &Device, folder: &Path) -> Result<Network, Box<dyn Error>> {
    let mut network = Network::new(device);
    for number in 1.. {
        let weights = folder.join(format!("weights{number}.npy"));
        if number > 1 && !weights.exists() {
            break;
        }
        let weights: Array2<f32> = read(&weights)?;
        let bias: Array1<f32> = read(&folder.join(format!("bias{number}.npy")))?;
        network.push(weights.view(), bias.view())?;
    }
    Ok(network)
}

fn read<D: ndarray::Dimension>(path: &Path) -> Result<ndarray::Array<f32, D>, String>
where
    f32: ReadableElement,
{
    read_npy(path).map_err(|error| format!("{}: {error}", path.display()))
}
