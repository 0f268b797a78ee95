//! Products of i8 whose sums become f32, in which the epilogue is computed.

use crate::common::random::Random;
use crate::common::{devices, share};
use crate::epilogues::{CASES, Case, NOTHING, Output, Vectors};
use crate::harness::{Host, ORDERS, Shape, assert_same_bits, orders};
use crate::integers::{SHAPES, exact, random_matrix, wrapped};
use half::{bf16, f16};
use std::any::type_name;
use tilewright::tuning::{SelectionReason, TileSize};
use tilewright::{
    Activation, Arithmetic, Device, Element, ErrorKind, Matmul, MatmulInto, Matrix, Profile,
    SimulatorOptions,
};
use tilewright_test_support::assert_kind;

/// The tiles, and the compute capability of whose kernels it is one.
#[derive(Clone, Copy, Debug)]
struct Way(TileSize, (u32, u32));

const NEWEST: (u32, u32) = (u32::MAX, 0);

/// `wgmma` where the device has it, and `mma.sync`.
const WAYS: [Way; 5] = [
    Way(TileSize::Small, NEWEST),
    Way(TileSize::Large, NEWEST),
    Way(TileSize::Medium, NEWEST),
    Way(TileSize::Small, (8, 0)),
    Way(TileSize::Large, (8, 0)),
];

impl Way {
    fn of<'a>(self, product: Matmul<'a, i8, f32>) -> Matmul<'a, i8, f32> {
        let Self(tiles, (major, minor)) = self;
        product.tiles(tiles).compute_capability(major, minor)
    }
}

/// Every device that has products of warps on tensor cores.
fn capable() -> Vec<Device> {
    let mut capable = devices();
    let ampere = SimulatorOptions::default().with_profile(Profile::A100);
    capable.push(Device::simulator_with(ampere));
    capable.retain(|it| {
        let capability = it.properties().compute_capability;
        capability.is_none_or(|it| it >= (8, 0))
    });
    capable
}

/// The vectors of an epilogue on a device.
struct Uploaded {
    row_scale: tilewright::Buffer<f32>,
    column_scale: tilewright::Buffer<f32>,
    row_bias: tilewright::Buffer<f32>,
    column_bias: tilewright::Buffer<f32>,
}

impl Uploaded {
    fn new(device: &Device, vectors: &Vectors<f32>) -> Self {
        let upload = |vector: &[f32]| device.upload(vector).unwrap();
        Self {
            row_scale: upload(&vectors.row_scale),
            column_scale: upload(&vectors.column_scale),
            row_bias: upload(&vectors.row_bias),
            column_bias: upload(&vectors.column_bias),
        }
    }

    /// The product with the epilogue of a case.
    fn finish<'a>(&'a self, case: Case, product: Matmul<'a, i8, f32>) -> Matmul<'a, i8, f32> {
        let mut product = product
            .alpha(case.alpha as f32)
            .beta(case.beta as f32)
            .activation(case.activation);
        if case.row_scale {
            product = product.row_scale(&self.row_scale);
        }
        if case.column_scale {
            product = product.column_scale(&self.column_scale);
        }
        if case.row_bias {
            product = product.row_bias(&self.row_bias);
        }
        if case.column_bias {
            product = product.column_bias(&self.column_bias);
        }
        product
    }
}

/// The product that is expected of every way: the sums in i32, rounded to f32, and the epilogue on them.
fn expected<O: Output<f32>>(
    sums: &[i32],
    case: Case,
    vectors: &Vectors<f32>,
    old: &Host<O>,
) -> Vec<O> {
    let output = |(i, &sum): (usize, &i32)| {
        let place = (i / old.columns, i % old.columns);
        O::rounded(case.output(vectors, sum as f32, old.elements[i].widened(), place))
    };
    sums.iter().enumerate().map(output).collect()
}

/// Operands, their sums, and the inputs of an epilogue.
struct Operands<O> {
    a: Host<i8>,
    b: Host<i8>,
    sums: Vec<i32>,
    vectors: Vectors<f32>,
    old: Host<O>,
}

impl<O: Output<f32>> Operands<O> {
    fn new(shape: Shape) -> Self {
        let (m, n, k) = shape;
        let mut random = Random::new((m + n + k) as u64);
        let (a, b) = (
            random_matrix(&mut random, m, k),
            random_matrix(&mut random, k, n),
        );
        let sums = wrapped(&exact(&a, &b, shape));
        let vectors = Vectors::new(&mut random, (m, n));
        let old = Host::new(m, n, |_, _| O::rounded(100.0 * random.signed_unit() as f32));
        Self {
            a,
            b,
            sums,
            vectors,
            old,
        }
    }
}

/// Fails unless a product has the expected bits in every order, with `mma.sync` and with `wgmma`.
fn assert_products<O: Output<f32>>(shape: Shape, first_case: usize)
where
    i8: MatmulInto<O, f32>,
{
    let operands = Operands::<O>::new(shape);
    let Operands {
        a,
        b,
        sums,
        vectors,
        old,
    } = &operands;
    for device in capable() {
        let uploaded = Uploaded::new(&device, vectors);
        for number in share((type_name::<O>(), shape), 0..8) {
            let [of_a, of_b, of_c] = orders(number);
            let (left, right) = (a.upload(&device, of_a), b.upload(&device, of_b));
            let case = CASES[(first_case + number) % CASES.len()];
            let expected = expected(sums, case, vectors, old);
            for way in [number % 3, 3 + number / 2 % 2].map(|it| WAYS[it]) {
                let mut c = old.upload(&device, of_c);
                let product = way.of(Matmul::dequantized(&left, &right));
                uploaded.finish(case, product).run_into(&mut c).unwrap();
                let case = (shape, case, way, number, &device);
                assert_same_bits(&c.to_vec().unwrap(), &expected, &case);
            }
        }
    }
}

#[test]
fn products_in_f32_have_the_stated_roundings() {
    for (number, shape) in SHAPES.into_iter().enumerate() {
        assert_products::<f32>(shape, number);
    }
}

#[test]
fn products_in_bf16_have_the_stated_roundings() {
    for (number, shape) in SHAPES.into_iter().enumerate() {
        assert_products::<bf16>(shape, number + 4);
    }
}

#[test]
fn products_in_f16_have_the_stated_roundings() {
    for (number, shape) in SHAPES.into_iter().enumerate() {
        assert_products::<f16>(shape, number + 2);
    }
}

/// K that is divided: the sums of the parts are added in i32, so the bits are those of one part.
#[test]
fn parts_of_k_are_added_before_they_are_rounded() {
    assert_products::<f32>((4, 8, 6144), 8);
    assert_products::<bf16>((66, 20, 6657), 4);
    assert_products::<f16>((66, 20, 6657), 3);
    let device = Device::simulator();
    let (a, b) = (
        device.matrix_zeros::<i8>((4, 6144)).unwrap(),
        device.matrix_zeros::<i8>((6144, 8)).unwrap(),
    );
    let plan = Matmul::dequantized(&a, &b).plan_as::<f32>().unwrap();
    assert_eq!(plan.reason, SelectionReason::InParts { parts: 6 });
}

/// Sums beyond 2^24, many of which are not f32 numbers.
#[test]
fn sums_are_rounded_to_nearest() {
    let shape = (3, 7, 2048);
    let (m, n, k) = shape;
    let mut random = Random::new(5);
    let mut large = |_, _| random.integer(96..=127) as i8;
    let (a, b) = (Host::new(m, k, &mut large), Host::new(k, n, &mut large));
    let sums = wrapped(&exact(&a, &b, shape));
    let rounded: Vec<f32> = sums.iter().map(|&it| it as f32).collect();
    let are_rounded = sums
        .iter()
        .zip(&rounded)
        .any(|(&sum, &it)| it as i32 != sum);
    assert!(are_rounded && sums.iter().all(|&it| it > 1 << 24));
    for device in capable() {
        let (a, b) = (a.upload(&device, ORDERS[0]), b.upload(&device, ORDERS[1]));
        for way in WAYS {
            let product = way.of(Matmul::dequantized(&a, &b));
            let found = product.run_as::<f32>().unwrap().to_vec().unwrap();
            assert_same_bits(&found, &rounded, &(way, &device));
        }
        let row = a.slice(..1, ..).unwrap();
        let found = Matmul::dequantized(row, &b).run_as::<f32>().unwrap();
        assert_same_bits(&found.to_vec().unwrap(), &rounded[..n], &device);
    }
}

/// The products of a batch have the bits of each, also with a vector.
#[test]
fn batches_have_the_bits_of_each() {
    const COUNT: usize = 3;
    let k = 48;
    for (m, n) in [(20, 36), (17, 1)] {
        let mut random = Random::new(11);
        let (a, b) = (
            random_matrix(&mut random, COUNT * m, k),
            random_matrix(&mut random, COUNT * k, n),
        );
        let scale: Vec<f32> = (0..m).map(|row| 0.1 * (row as f32 + 1.0)).collect();
        for (number, device) in capable().into_iter().enumerate() {
            let cases = ORDERS.into_iter().flat_map(|it| WAYS.map(|way| (it, way)));
            for (order, way) in share(("batches", n, number), cases) {
                let (a, b) = (a.upload(&device, order), b.upload(&device, order));
                let scale = device.upload(&scale).unwrap();
                let run = |product: Matmul<'_, i8, f32>, way: Way| -> Vec<bf16> {
                    let product = way.of(product).row_scale(&scale);
                    let product = product.activation(Activation::Silu);
                    product.run_as::<bf16>().unwrap().to_vec().unwrap()
                };
                let (all_a, all_b) = (
                    a.view().batch_rows(COUNT).unwrap(),
                    b.view().batch_rows(COUNT).unwrap(),
                );
                let found = run(Matmul::dequantized(all_a, all_b), way);
                for (i, found) in found.chunks(m * n).enumerate() {
                    let a = a.slice(i * m..(i + 1) * m, ..).unwrap();
                    let b = b.slice(i * k..(i + 1) * k, ..).unwrap();
                    let alone = run(Matmul::dequantized(a, b), WAYS[0]);
                    assert_same_bits(found, &alone, &(i, order, way, &device));
                }
            }
        }
    }
}

/// Without an epilogue outputs are the rounded sums, in parts of larger matrices whose rows start anywhere, too.
#[test]
fn sums_alone_go_into_parts_of_matrices() {
    let shape = (34, 21, 50);
    let (m, n, _) = shape;
    let Operands {
        a,
        b,
        sums,
        vectors,
        ..
    } = Operands::<bf16>::new(shape);
    let zeros = Host::new(m, n, |_, _| bf16::ZERO);
    let expected = expected(&sums, NOTHING, &vectors, &zeros);
    for device in capable() {
        let (a, b) = (a.upload(&device, ORDERS[0]), b.upload(&device, ORDERS[0]));
        for way in WAYS {
            let mut whole = device.matrix_zeros::<bf16>((m + 2, n + 3)).unwrap();
            let mut part = whole.slice_mut(1..m + 1, 1..n + 1).unwrap();
            let product = way.of(Matmul::dequantized(&a, &b));
            product.run_into(&mut part).unwrap();
            let found = part.view().to_vec().unwrap();
            assert_same_bits(&found, &expected, &(way, &device));
            let all = whole.to_vec().unwrap();
            let around = all.iter().enumerate().filter(|&(i, _)| {
                let (row, column) = (i / (n + 3), i % (n + 3));
                !((1..=m).contains(&row) && (1..=n).contains(&column))
            });
            assert!(around.into_iter().all(|(_, &it)| it == bf16::ZERO));
        }
    }
}

#[test]
fn the_plan_says_which_kernel_it_is() {
    fn kernel<O: Element>(device: &Device, n: usize) -> &'static str
    where
        i8: MatmulInto<O, f32>,
    {
        let a: Matrix<i8> = device.matrix_zeros((40, 40)).unwrap();
        let b = a.slice(.., ..n).unwrap();
        Matmul::dequantized(&a, b).plan_as::<O>().unwrap().kernel
    }
    let device = Device::simulator();
    assert_eq!(kernel::<f32>(&device, 40), "matmul_wgmma_deep_i8_f32");
    assert_eq!(kernel::<f32>(&device, 1), "matvec_i8_f32");
    let ampere = SimulatorOptions::default().with_profile(Profile::A100);
    let ampere = Device::simulator_with(ampere);
    assert_eq!(kernel::<f32>(&ampere, 40), "matmul_mma_small_i8_f32");
    assert_eq!(kernel::<f32>(&ampere, 1), "matvec_i8_f32");
}

/// On the CUDA cores, and on the oldest devices, there is none.
#[test]
fn other_ways_have_no_kernel() {
    let oldest = SimulatorOptions::default().with_profile(Profile::T4);
    for (device, arithmetic) in [
        (Device::simulator(), Arithmetic::Chain),
        (Device::simulator_with(oldest), Arithmetic::Auto),
    ] {
        let a: Matrix<i8> = device.matrix_zeros((8, 8)).unwrap();
        let product = Matmul::dequantized(&a, &a).arithmetic(arithmetic);
        let error = product.run_as::<bf16>().unwrap_err();
        assert_kind!(error is ErrorKind::NoKernel { .. });
    }
}
