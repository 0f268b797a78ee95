//! The model of devices on which no kernel was measured.

use super::*;
use crate::matmul::plan::cost::model::{Multiprocessor, Rates};
use simt::Profile;
use std::collections::BTreeMap;
use std::{fs, path::Path};

/// Devices that are modelled.
const MODELLED: [Profile; 6] = [
    Profile::A100,
    Profile::Rtx3090,
    Profile::Orin,
    Profile::Rtx4090,
    Profile::B200,
    Profile::Rtx5090,
];

const SIDES: [usize; 10] = [16, 64, 200, 384, 512, 1000, 1280, 2048, 3072, 8192];

fn facts(profile: Profile) -> DeviceFacts {
    let sheet = profile.datasheet();
    DeviceFacts {
        multiprocessors: sheet.multiprocessors,
        compute_capability: sheet.compute_capability,
        ..A100
    }
}

fn multiprocessor(device: DeviceFacts) -> Multiprocessor {
    Multiprocessor::of(device.compute_capability.unwrap()).expect("a modelled device")
}

/// Products that are modelled on each device.
fn problems() -> impl Iterator<Item = (Problem, Arithmetic)> {
    let of_type = |(element, output, arithmetic)| {
        let shapes = SIDES.into_iter().flat_map(|m| SIDES.map(|n| (m, n)));
        shapes.flat_map(move |(m, n)| {
            [64, 1000].map(|k| {
                let orders = [Order::RowMajor, Order::ColumnMajor];
                let problem = Problem::packed((element, output), (m, n, k), orders, 256);
                (problem, arithmetic)
            })
        })
    };
    [
        (
            ElementType::F16,
            ElementType::F16,
            Arithmetic::BatchInvariant,
        ),
        (
            ElementType::Bf16,
            ElementType::F32,
            Arithmetic::BatchInvariant,
        ),
        (
            ElementType::I8,
            ElementType::I32,
            Arithmetic::BatchInvariant,
        ),
        (ElementType::F32, ElementType::F32, Arithmetic::Chain),
        (ElementType::F32, ElementType::F32, Arithmetic::Split),
        (ElementType::F64, ElementType::F64, Arithmetic::Chain),
    ]
    .into_iter()
    .flat_map(of_type)
}

/// The time of a product in tiles of each size that its method has, and of the selected kernel.
fn times(
    problem: &Problem,
    arithmetic: Arithmetic,
    (device, of): (DeviceFacts, &Multiprocessor),
) -> (Vec<u64>, u64) {
    let time = |tiles| {
        let plan = Plan::of(problem, device, Request::Fastest(arithmetic, tiles)).expect("a plan");
        let blocks = u64::from(problem.blocks(&plan.kernel.descriptor.tile).unwrap());
        let tiles = blocks.div_ceil(device.multiprocessors.into());
        of.time(plan.kernel, tiles, problem.k).expect("a time")
    };
    let sizes = [TileSize::Small, TileSize::Medium, TileSize::Large];
    (sizes.map(Some).map(time).to_vec(), time(None))
}

/// Figures of a multiprocessor, times multiprocessors and clock, are the peaks of data sheets, in TFLOP/s.
#[test]
fn rates_give_the_published_peaks() {
    let peak = |multiprocessors: u32, clock: f64, rate: u32| {
        2.0 * f64::from(multiprocessors) * clock * f64::from(rate) / 1e3
    };
    for (profile, halves, i8) in [
        (Profile::A100, 312.0, 624.0),
        (Profile::Rtx3090, 71.0, 284.0),
        (Profile::Rtx4090, 165.2, 660.6),
        (Profile::Rtx5090, 209.5, 838.0),
        // Half of the sparse peak of its GPU, 170 TOP/s.
        (Profile::Orin, 42.5, 85.0),
    ] {
        let sheet = profile.datasheet();
        let rates = Rates::of(sheet.compute_capability.unwrap()).unwrap();
        for (rate, published) in [
            (rates.halves[0], halves),
            (rates.i8, i8),
            (rates.f32, sheet.f32_peak),
            (rates.f64, sheet.f64_peak),
        ] {
            let peak = peak(sheet.multiprocessors, sheet.clock, rate);
            assert!(
                (peak / published - 1.0).abs() < 0.03,
                "{profile}: {peak} {published}"
            );
        }
    }
    // A10, L40S, RTX PRO 6000.
    for (capability, multiprocessors, clock, published) in [
        ((8, 6), 72, 1.695, 125.0),
        ((8, 9), 142, 2.52, 362.0),
        ((12, 0), 188, 2.617, 503.8),
    ] {
        let [geforce, other] = Rates::of(capability).unwrap().halves;
        let peak = peak(multiprocessors, clock, other);
        assert!(
            (peak / published - 1.0).abs() < 0.03,
            "{capability:?}: {peak}"
        );
        assert_eq!(2 * geforce, other);
    }
}

/// The blocks that the model counts on fit: by shared memory, and by the registers that `ptxas` uses.
#[test]
fn resident_blocks_have_their_registers_and_shared_memory() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("ladder/registers.txt");
    let table = fs::read_to_string(file).expect("the table of registers");
    let mut lines = table.lines().filter(|it| !it.starts_with('#')).skip(2);
    let gpus: Vec<_> = lines.next().unwrap().split(' ').skip(1).collect();
    let registers: BTreeMap<_, _> = lines
        .map(|line| line.split_once(' ').unwrap())
        .map(|(name, numbers)| (name, numbers.split(' ').collect::<Vec<_>>()))
        .collect();
    let mut compared = 0;
    for device in MODELLED.map(facts) {
        let of = multiprocessor(device);
        let (major, minor) = device.compute_capability.unwrap();
        let column = gpus
            .iter()
            .position(|it| *it == format!("sm_{major}{minor}"))
            .unwrap();
        for kernel in KERNELS.iter().filter(|it| device.has(it)) {
            let shared = kernel.descriptor.dynamic_shared_bytes as u32;
            assert!(
                shared <= of.limits.shared_bytes_per_block,
                "{}",
                kernel.name
            );
            let is_modelled = match kernel.method {
                Method::Mma(_) | Method::SplitMma(_) => true,
                Method::Coarsened(_) => kernel.element != ElementType::I8,
                _ => false,
            };
            assert_eq!(
                of.time(kernel, 1, 1).is_some(),
                is_modelled,
                "{}",
                kernel.name
            );
            if !is_modelled {
                continue;
            }
            let used: u32 = registers[kernel.name][column].parse().unwrap();
            let resident = of.resident(kernel, 0);
            let threads = resident * kernel.descriptor.tile.threads;
            let of_warp = (32 * used).next_multiple_of(of.limits.register_unit);
            assert!(
                threads / 32 * of_warp <= of.limits.registers,
                "{}",
                kernel.name
            );
            assert!(threads <= 32 * of.limits.warps, "{}", kernel.name);
            compared += 1;
        }
    }
    assert!(compared > 0);
}

#[test]
fn fewer_blocks_fit_where_there_is_less_shared_memory() {
    let resident = |profile, name| {
        let kernel = KERNELS.iter().find(|it| it.name == name).unwrap();
        multiprocessor(facts(profile)).resident(kernel, 0)
    };
    for (name, on_100_kib, on_others) in [
        ("matmul_mma_f16_nt", 1, 2),
        ("matmul_mma_small_f16_nt", 3, 3),
        ("matmul_mma_split_f32", 1, 2),
        ("matmul_mma_split_small_f32", 2, 3),
    ] {
        for profile in [Profile::Rtx3090, Profile::Rtx4090, Profile::Rtx5090] {
            assert_eq!(resident(profile, name), on_100_kib, "{profile} {name}");
        }
        for profile in [Profile::A100, Profile::Orin, Profile::B200] {
            assert_eq!(resident(profile, name), on_others, "{profile} {name}");
        }
    }
}

#[test]
fn the_selected_tiles_take_the_shortest_time() {
    let mut selected = [false; 3];
    for device in MODELLED.map(facts) {
        let of = multiprocessor(device);
        for (problem, arithmetic) in problems() {
            let (times, time) = times(&problem, arithmetic, (device, &of));
            let least = *times.iter().min().unwrap();
            assert_eq!(time, least, "{problem} on {device:?}");
            selected[times.iter().position(|&it| it == least).unwrap()] = true;
        }
    }
    assert_eq!(selected, [true; 3]);
}

/// More multiprocessors, fewer rows or a shorter K take no longer.
#[test]
fn times_are_monotonic() {
    for device in MODELLED.map(facts) {
        let of = multiprocessor(device);
        let more = DeviceFacts {
            multiprocessors: device.multiprocessors + 1,
            ..device
        };
        for (problem, arithmetic) in problems() {
            let time = |problem: &Problem, device| times(problem, arithmetic, (device, &of)).1;
            let whole = time(&problem, device);
            assert!(time(&problem, more) <= whole, "{problem}");
            for part in [
                Problem {
                    m: problem.m - 1,
                    ..problem
                },
                Problem {
                    k: problem.k - 1,
                    ..problem
                },
            ] {
                assert!(time(&part, device) <= whole, "{problem}");
            }
        }
    }
}

/// The rate of tensor cores is that of GeForce or twice that. The tiles for a mean are good for either.
#[test]
fn tiles_are_selected_for_geforce_and_for_other_cards() {
    for profile in [Profile::Rtx3090, Profile::Rtx4090, Profile::Rtx5090] {
        let device = facts(profile);
        let of = multiprocessor(device);
        for rate in of.rates.halves {
            let one = Multiprocessor {
                rates: Rates {
                    halves: [rate; 2],
                    ..of.rates
                },
                ..of
            };
            for (problem, arithmetic) in problems() {
                let (times, time) = times(&problem, arithmetic, (device, &one));
                let least = *times.iter().min().unwrap() as f64;
                assert!(
                    time as f64 <= 1.3 * least,
                    "{problem} on {profile}, {rate}: {times:?}"
                );
            }
        }
    }
}

/// Results of one small tile, and of enough large ones that only their speed counts. Tiles of f64 are equally fast.
#[test]
fn tiny_results_have_small_tiles_and_huge_ones_large_tiles() {
    for device in MODELLED.map(facts) {
        for (problem, arithmetic) in problems().filter(|(it, _)| it.m == it.n && it.k == 1000) {
            let request = Request::Fastest(arithmetic, None);
            let name = name(&problem, device, request).unwrap();
            match problem.m {
                16 => assert!(name.contains("_small_"), "{problem}: {name}"),
                8192 if arithmetic != Arithmetic::Split && problem.element != ElementType::F64 => {
                    assert!(!name.contains("_small_"), "{problem}: {name}")
                }
                _ => {}
            }
        }
    }
}

/// The model of an H200 has nearly the order of the times that were measured on one (`docs/notebook/products.md`).
#[test]
fn the_model_orders_tiles_as_they_were_measured() {
    let of = multiprocessor(H200);
    let check = |arithmetic, n: usize, measured: &[(TileSize, f64)], most: f64| {
        let problem = row_major(ElementType::F32, (n, n, n));
        let time = |tiles| {
            let warps = Request::FastestAt((8, 0), arithmetic, Some(tiles));
            let kernel = Plan::of(&problem, H200, warps).unwrap().kernel;
            let blocks = u64::from(problem.blocks(&kernel.descriptor.tile).unwrap());
            of.time(kernel, blocks.div_ceil(132), n).unwrap()
        };
        let least = measured.iter().map(|it| it.1).fold(f64::INFINITY, f64::min);
        // Of equally fast ones, the largest is selected.
        let (_, chosen) = *measured.iter().rev().min_by_key(|it| time(it.0)).unwrap();
        assert!(
            chosen <= most * least,
            "{arithmetic:?} {n}: {chosen} {least}"
        );
    };
    use TileSize::{Large, Medium, Small};
    for (n, small, medium, large) in [
        (512, 11.8, 18.5, 29.5),
        (640, 25.6, 22.8, 37.2),
        (768, 38.1, 51.0, 43.8),
        (1024, 61.7, 68.5, 57.5),
        (1280, 134.0, 128.0, 131.0),
        (1536, 199.0, 200.0, 208.0),
        (2048, 466.0, 408.0, 356.0),
        (4096, 3641.0, 3192.0, 2771.0),
    ] {
        let measured = [(Small, small), (Medium, medium), (Large, large)];
        check(Arithmetic::Chain, n, &measured, 1.03);
    }
    for (n, small, large) in [
        (1024, 50.0, 58.0),
        (1280, 106.0, 92.0),
        (1536, 135.0, 163.0),
        (2048, 266.0, 250.0),
        (3072, 857.0, 804.0),
    ] {
        let most = if n == 1024 { 1.17 } else { 1.0 };
        check(
            Arithmetic::Split,
            n,
            &[(Small, small), (Large, large)],
            most,
        );
    }
}

/// `Auto` splits f32 only on devices with fast tensor cores, and from a size at which the model agrees.
#[test]
fn split_operands_gain_where_the_rule_splits_them() {
    let problem = row_major(ElementType::F32, (1024, 1024, 1024));
    for (profile, gains) in [
        (Profile::A100, true),
        (Profile::B200, true),
        (Profile::Rtx3090, false),
        (Profile::Rtx4090, false),
        (Profile::Rtx5090, false),
    ] {
        let device = facts(profile);
        let mut of = multiprocessor(device);
        of.rates.halves = [of.rates.halves[0]; 2];
        let time = |arithmetic| times(&problem, arithmetic, (device, &of)).1;
        let split = time(Arithmetic::Split) < time(Arithmetic::Chain) / 2;
        assert_eq!(split, gains, "{profile}");
        assert_eq!(device.has_fast_halves(), gains, "{profile}");
    }
}
