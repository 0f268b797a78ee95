//! Kernels on the simulator, with and without checks, under criterion: `cargo bench --bench simulator`, optionally
//! with a part of the names.

use criterion::{BatchSize, BenchmarkId, Criterion, SamplingMode};
use std::hint::black_box;
use std::time::Duration;
use tilewright::{Device, Matrix, SimulatorOptions};

/// Elements of a sum.
const SUMMED: usize = 1 << 24;

/// Rows and columns of products.
const SIZES: [usize; 3] = [256, 512, 1024];

/// A product of two matrices.
type Multiply = fn(&Device, &Matrix<f32>, &Matrix<f32>) -> tilewright::Result<Matrix<f32>>;

fn main() {
    let mut criterion = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(100))
        .measurement_time(Duration::from_secs(3))
        .without_plots()
        .configure_from_args();
    measure(&mut criterion, "reduce_sum of 2^24 f32", |device| {
        let x: Vec<f32> = (0..SUMMED).map(|i| (i % 7) as f32).collect();
        let x = device.upload(&x).expect("there is memory for it");
        let device = device.clone();
        let sum = move || device.reduce_sum(&x).expect("it is added");
        Box::new(move || _ = black_box(sum()))
    });
    let products: [(&str, Multiply); 2] = [
        ("matmul_tiled", |device, a, b| device.matmul_tiled(a, b)),
        ("matmul_coarsened", |device, a, b| {
            device.matmul_coarsened(a, b)
        }),
    ];
    for (name, multiply) in products {
        for size in SIZES {
            let name = format!("{name} of {size} x {size} f32");
            measure(&mut criterion, &name, |device| {
                let elements: Vec<f32> = (0..size * size).map(|i| (i % 5) as f32).collect();
                let a = device.matrix((size, size), &elements);
                let a = a.expect("there is memory for it");
                let device = device.clone();
                let product = move || multiply(&device, &a, &a).expect("it is multiplied");
                Box::new(move || _ = black_box(product()))
            });
        }
    }
    criterion.final_summary();
}

/// Measures a call, which `prepare` makes for a device, with and without checks.
fn measure(criterion: &mut Criterion, name: &str, prepare: impl Fn(&Device) -> Box<dyn FnMut()>) {
    let mut group = criterion.benchmark_group(name);
    // A call takes up to several seconds.
    group.sampling_mode(SamplingMode::Flat);
    for (checks, has_checks) in [("all checks", true), ("no checks", false)] {
        let options = SimulatorOptions::default().with_checks(has_checks);
        group.bench_function(BenchmarkId::from_parameter(checks), |bencher| {
            // Operands are created only for selected benchmarks.
            let mut call = prepare(&Device::simulator_with(options.clone()));
            bencher.iter_batched(|| (), |()| call(), BatchSize::PerIteration);
        });
    }
    group.finish();
}
