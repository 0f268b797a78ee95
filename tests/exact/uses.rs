//! Exact products in every form: epilogues, batches, orders, parts of matrices, older kernels, graphs.

use crate::common::random::Random;
use crate::common::{devices, some_machines};
use crate::reference::{Float, dot};
use crate::{Host, Kind, assert_exact, bits, element, expected};
use tilewright::tuning::{Staging, TileSize};
use tilewright::{Activation, Arithmetic, Device, ErrorKind, Matmul, Matrix, SimulatorOptions};
use tilewright_test_support::assert_kind;

fn operands(device: &Device, (m, n, k): (usize, usize, usize)) -> [(Host<f64>, Matrix<f64>); 2] {
    let mut random = Random::new((m + n + k) as u64);
    [(m, k), (k, n)].map(|shape| {
        let host = Host::new(shape, |_, l| element(Kind::Uniform, &mut random, l));
        let matrix = host.on(device);
        (host, matrix)
    })
}

/// The kernels of each compute capability: warpgroups, warps, and CUDA cores, whose products of residues are i32.
#[test]
fn the_bits_are_those_of_every_compute_capability() {
    let shape = (33, 47, 70);
    for device in devices() {
        let [(a, da), (b, db)] = operands(&device, shape);
        let expected = expected(&a, &b, shape);
        for (capability, kernel) in [
            ((9, 0), "matmul_wgmma_small_i8_residues"),
            ((8, 0), "matmul_mma_small_i8_residues"),
            ((7, 5), "matmul_coarsened_small_i8"),
        ] {
            let product = Matmul::new(&da, &db).arithmetic(Arithmetic::Exact);
            let product = product.tiles(TileSize::Small);
            let product = product.compute_capability(capability.0, capability.1);
            let plan = product.plan().expect("a plan");
            if device.is_simulator() {
                assert_eq!(plan.kernel, kernel);
            }
            assert_eq!(plan.fallback_kernel, Some("exact_dots_f64"));
            assert_eq!(plan.staging, [Staging::InPlace, Staging::Transposed]);
            let way = format!("{capability:?}");
            assert_exact(
                Kind::Uniform,
                shape,
                &way,
                &product.run().expect("a product"),
                &expected,
            );
        }
    }
}

/// The epilogue sees the rounded sum, whichever kernel computed it.
#[test]
fn epilogues_are_applied_to_the_rounded_sum() {
    let (m, n, k) = (20, 31, 40);
    for device in some_machines("epilogues_are_applied_to_the_rounded_sum") {
        let [(a, da), (b, db)] = operands(&device, (m, n, k));
        let old: Vec<f64> = (0..m * n).map(|i| i as f64 / 7.0).collect();
        let bias: Vec<f64> = (0..n).map(|j| j as f64 / 3.0 - 5.0).collect();
        let scale: Vec<f64> = (0..m).map(|i| 1.0 + i as f64 / 9.0).collect();
        let (d_bias, d_scale) = (device.upload(&bias), device.upload(&scale));
        let (d_bias, d_scale) = (d_bias.expect("a bias"), d_scale.expect("a scale"));
        let expected: Vec<u64> = (0..m * n)
            .map(|at| {
                let (i, j) = (at / n, at % n);
                let sum = dot((0..k).map(|l| (a.at(i, l), b.at(l, j))));
                let scaled = (0.5 * scale[i]) * sum;
                let output = (-2.0_f64).mul_add(old[at], scaled) + bias[j];
                output.max(0.0).to_u64()
            })
            .collect();
        for tiles in [None, Some(TileSize::Small)] {
            let mut c = device.matrix((m, n), &old).expect("a matrix");
            let product = Matmul::new(&da, &db).arithmetic(Arithmetic::Exact);
            let product = tiles.into_iter().fold(product, Matmul::tiles);
            let product = product.alpha(0.5).beta(-2.0).row_scale(&d_scale);
            let product = product.column_bias(&d_bias).activation(Activation::Relu);
            match product.run_into(&mut c) {
                Ok(()) => assert_eq!(bits(&c), expected, "{tiles:?}"),
                // Its kernels are for warps of 32.
                Err(error) => assert!(
                    matches!(error.kind(), ErrorKind::NoKernel { .. }),
                    "{error}"
                ),
            }
        }
    }
}

#[test]
fn batches_views_and_column_major_results_have_the_bits_of_single_products() {
    let (m, n, k, count) = (9, 14, 33, 3);
    for device in devices() {
        let [(a, da), (b, db)] = operands(&device, (count * m, n, k));
        let expected = expected(&a, &b, (count * m, n, k));
        let batch = da.view().batch_rows(count).expect("a batch");
        let product = Matmul::new(batch, &db).arithmetic(Arithmetic::Exact);
        for product in [product, product.tiles(TileSize::Small)] {
            assert_eq!(bits(&product.run().expect("products")), expected);
        }
        // A part of a column-major matrix, between elements that are kept.
        let (rows, columns) = (count * m, n);
        let mut c = device.matrix(
            (columns + 3, rows + 5),
            &vec![7.0; (columns + 3) * (rows + 5)],
        );
        let c = c.as_mut().expect("a matrix");
        let product = Matmul::new(&da, &db)
            .arithmetic(Arithmetic::Exact)
            .tiles(TileSize::Small);
        let mut part = c
            .slice_mut(1..=columns, 2..2 + rows)
            .expect("a part")
            .into_transposed();
        product.run_into(&mut part).expect("a product");
        let all = c.to_vec().expect("elements");
        for (at, found) in all.into_iter().enumerate() {
            let (j, i) = (at / (rows + 5), at % (rows + 5));
            let inside = (1..=columns).contains(&j) && (2..2 + rows).contains(&i);
            let expected = match inside {
                true => expected[(i - 2) * columns + j - 1],
                false => 7.0_f64.to_bits(),
            };
            assert_eq!(found.to_bits(), expected, "{i} {j}");
        }
    }
}

/// Sums of products of residues are exact up to 2^16 elements, so K is cut.
#[test]
fn long_sums_are_exact() {
    for device in devices() {
        let (m, n, k) = (2, 3, (1 << 16) + 37);
        let mut random = Random::new(17);
        let of_kind = |kind, random: &mut Random| {
            let a = Host::<f32>::new((m, k), |_, l| element(kind, random, l));
            (a, Host::<f32>::new((k, n), |l, _| element(kind, random, l)))
        };
        let kind = Kind::Uniform;
        {
            let (a, b) = of_kind(kind, &mut random);
            let expected = expected(&a, &b, (m, n, k));
            let (da, db) = (a.on(&device), b.on(&device));
            for tiles in [None, Some(TileSize::Small)] {
                let product = Matmul::new(&da, &db).arithmetic(Arithmetic::Exact);
                let product = tiles.into_iter().fold(product, Matmul::tiles);
                // The smallest tiles are those of CUDA cores.
                let product = match device.is_simulator() {
                    true => product.compute_capability(7, 5),
                    false => product,
                };
                let c = product.run().expect("a product");
                assert_exact(kind, (m, n, k), &format!("{tiles:?}"), &c, &expected);
            }
        }
    }
}

#[test]
fn products_of_other_types_are_refused() {
    let device = Device::simulator();
    let a = device.matrix((1, 2), &[1_i8, 2]).expect("a matrix");
    let product = Matmul::new(&a, a.t()).arithmetic(Arithmetic::Exact);
    let error = product.run().expect_err("no kernel").to_string();
    assert!(
        error.contains("Arithmetic::Exact is for f32 and f64, not for i8"),
        "{error}"
    );
}

#[test]
fn a_device_with_little_memory_computes_smaller_panels() {
    let mut random = Random::new(7);
    let mut draw = |_, _| element::<f64>(Kind::Uniform, &mut random, 0);
    for (m, n) in [(1100, 40), (40, 1100)] {
        let (a, b) = (Host::new((m, 16), &mut draw), Host::new((16, n), &mut draw));
        let product = |memory: u64| -> tilewright::Result<Vec<u64>> {
            let options = SimulatorOptions::default().with_memory_bytes(memory);
            let device = Device::simulator_with(options);
            let (a, b) = (a.on(&device), b.on(&device));
            let product = Matmul::new(&a, &b).arithmetic(Arithmetic::Exact);
            Ok(bits(&product.tiles(TileSize::Small).run()?))
        };
        let whole = product(5 << 20).expect("a product");
        // Bytes: 350,000 of the result, 150,000 of the operands, 330,000 of their residues, and 790,000 of the products
        // of residues of all outputs.
        assert!(whole == product(1_400_000).expect("a product in panels"));
        let error = product(1_000_000).expect_err("there is no memory for the smallest panels");
        assert_kind!(error is ErrorKind::OutOfMemory { .. });
    }
}

/// Two of three terms cancel, and the third is 2^100 times as small: the result is still exact.
#[test]
fn sums_of_condition_2_to_the_100_are_exact() {
    let (m, n, k) = (35, 40, 63);
    let small = 2f64.powi(-100);
    let mut random = Random::new(100);
    let mut a = Host::new((m, k), |_, _| random.signed_unit());
    let mut b = Host::new((k, n), |_, _| random.signed_unit());
    for first in (0..k).step_by(3) {
        for row in 0..m {
            a.elements[row * k + first + 1] = -a.at(row, first);
            a.elements[row * k + first + 2] *= small;
        }
        for column in 0..n {
            b.elements[(first + 1) * n + column] = b.at(first, column);
        }
    }
    let expected = expected(&a, &b, (m, n, k));
    for device in devices() {
        let (a, b) = (a.on(&device), b.on(&device));
        let one_by_one = Matmul::new(&a, &b).arithmetic(Arithmetic::Exact);
        for product in [one_by_one, one_by_one.tiles(TileSize::Small)] {
            let c = product.run().expect("a product");
            assert_exact(Kind::Cancelling, (m, n, k), "2^100", &c, &expected);
        }
    }
}

/// Products without outputs, whatever their K.
#[test]
fn no_outputs_of_any_k() {
    let device = Device::simulator();
    for k in [0, 1 << 40, usize::MAX / 2 + 2, usize::MAX] {
        let a = device.matrix_zeros::<f64>((0, k)).expect("a matrix");
        let b = device.matrix_zeros::<f64>((k, 0)).expect("a matrix");
        for tiles in [None, Some(TileSize::Small)] {
            for arithmetic in [Arithmetic::Exact, Arithmetic::Auto, Arithmetic::Chain] {
                let product = Matmul::new(&a, &b).arithmetic(arithmetic);
                let product = tiles.into_iter().fold(product, Matmul::tiles);
                product.plan().expect("a plan");
                assert!(product.run().expect("a product").is_empty());
            }
        }
    }
}
