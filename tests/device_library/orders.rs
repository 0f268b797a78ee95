use crate::{hoppers, launch, machines, numbers, output, small_integers, upload, warp_threads};
use cuda_std_test_kernels::{IMAGES, cluster_orders, orders as kernels};
use tilewright::LaunchConfig;

/// The operations of an integer kernel, by their names in PTX.
const OPERATIONS: [&str; 8] = ["add", "min", "max", "and", "or", "xor", "exch", "cas"];

/// The orders of PTX, in that of the words of a kernel.
const ORDERS: [&str; kernels::ORDERS] = ["relaxed", "acquire", "release", "acq_rel"];

/// An integer as the kernels work on it.
trait Integer: Copy + Ord + std::fmt::Debug {
    fn add(self, other: Self) -> Self;
    fn and(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    fn xor(self, other: Self) -> Self;
    fn next(self) -> Self;
}

macro_rules! integers {
    ($($integer:ty),*) => {$(
        impl Integer for $integer {
            fn add(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            fn and(self, other: Self) -> Self {
                self & other
            }
            fn or(self, other: Self) -> Self {
                self | other
            }
            fn xor(self, other: Self) -> Self {
                self ^ other
            }
            fn next(self) -> Self {
                self.wrapping_add(1)
            }
        }
    )*};
}
integers!(u32, i32, u64, i64);

/// Fails unless the words of a kernel, initially `initial`, are the results of the operations on `x`.
fn assert_words<T: Integer>(words: &[T], initial: &[T], x: &[T], device: &str) {
    for (number, (word, initial)) in words.iter().zip(initial).enumerate() {
        let with =
            |operation: fn(T, T) -> T| x.iter().fold(*initial, |word, x| operation(word, *x));
        let expected = match OPERATIONS[number / kernels::ORDERS] {
            "add" => with(T::add),
            "min" => with(Ord::min),
            "max" => with(Ord::max),
            "and" => with(T::and),
            "or" => with(T::or),
            "xor" => with(T::xor),
            // One of those that were written, whichever was the last.
            "exch" => *x.iter().find(|x| *x == word).unwrap_or(initial),
            _ => with(|word, _| word.next()),
        };
        assert_eq!(*word, expected, "word {number} on {device}");
    }
}

macro_rules! check_integers {
    ($element:ty, $kernel:expr, $config:expr) => {{
        let config: LaunchConfig = $config;
        let threads = (config.grid.x * config.block.x) as usize;
        for device in machines() {
            let x: Vec<$element> = numbers(5).map(|n| n as $element).take(threads).collect();
            let initial: Vec<$element> = numbers(6)
                .map(|n| n as $element)
                .take(kernels::WORDS)
                .collect();
            let mut words = upload(&device, &initial);
            let arguments = (&upload(&device, &x), &mut words);
            launch(&device, $kernel, config, arguments);
            assert_words(&words.to_vec().unwrap(), &initial, &x, device.name());
        }
    }};
}

#[test]
fn words_of_global_memory() {
    let config = LaunchConfig::new(3, 70);
    check_integers!(u32, kernels::ordered_u32, config);
    check_integers!(i32, kernels::ordered_i32, config);
    check_integers!(u64, kernels::ordered_u64, config);
    check_integers!(i64, kernels::ordered_i64, config);
    check_integers!(u32, kernels::ordered_in_system, config);
}

#[test]
fn words_of_one_block() {
    let config = LaunchConfig::new(1, 70);
    check_integers!(u32, kernels::ordered_in_block, config);
    check_integers!(u32, kernels::ordered_shared, config);
}

#[test]
fn sums_of_floats() {
    for device in machines() {
        let x = small_integers(3, 96);
        let sum: i32 = x.iter().sum();
        let narrow: Vec<f32> = x.iter().map(|x| *x as f32).collect();
        let wide: Vec<f64> = x.iter().map(|x| f64::from(*x)).collect();
        let mut sums = upload(&device, &[0.0_f32; kernels::ORDERS]);
        let arguments = (&upload(&device, &narrow), &mut sums);
        launch(
            &device,
            kernels::ordered_f32,
            LaunchConfig::new(2, 48),
            arguments,
        );
        assert_eq!(sums.to_vec().unwrap(), [sum as f32; kernels::ORDERS]);
        let mut sums = upload(&device, &[0.0_f64; kernels::ORDERS]);
        let arguments = (&upload(&device, &wide), &mut sums);
        launch(
            &device,
            kernels::ordered_f64,
            LaunchConfig::new(2, 48),
            arguments,
        );
        assert_eq!(sums.to_vec().unwrap(), [f64::from(sum); kernels::ORDERS]);
    }
}

/// The value that a relay passes on.
fn carried(x: &[u32]) -> u32 {
    x.iter()
        .fold(0_u32, |sum, x| sum.wrapping_mul(31).wrapping_add(*x))
}

fn some_numbers(count: usize) -> Vec<u32> {
    numbers(9).map(|n| n as u32).take(count).collect()
}

#[test]
fn blocks_hand_a_number_on() {
    for device in machines() {
        for blocks in [1, 2, 37, 300] {
            let x = some_numbers(blocks);
            let mut number = upload(&device, &[0_u32]);
            let mut flags = upload(&device, &vec![0_u32; blocks]);
            let arguments = (&upload(&device, &x), &mut number, &mut flags);
            let config = LaunchConfig::new(blocks as u32, 32);
            launch(&device, kernels::relay, config, arguments);
            assert_eq!(number.to_vec().unwrap(), [carried(&x)], "{blocks} blocks");
        }
    }
}

#[test]
fn warps_hand_a_number_on() {
    for device in machines() {
        let x = some_numbers(8);
        let mut number = output::<u32>(&device, 1);
        let config = LaunchConfig::new(1, 8 * warp_threads(&device));
        let arguments = (&upload(&device, &x), &mut number);
        launch(&device, kernels::relay_in_block, config, arguments);
        assert_eq!(number.to_vec().unwrap(), [carried(&x)]);
    }
}

#[test]
fn the_last_ticket_sees_what_the_others_released() {
    for device in machines() {
        for blocks in [1, 2, 37, 1000] {
            let x = some_numbers(blocks);
            let mut sums = output::<u32>(&device, blocks);
            let (mut tickets, mut result) = (upload(&device, &[0_u32]), output::<u32>(&device, 1));
            let arguments = (&upload(&device, &x), &mut sums, &mut tickets, &mut result);
            let config = LaunchConfig::new(blocks as u32, 32);
            launch(&device, kernels::last_ticket_adds, config, arguments);
            assert_eq!(result.to_vec().unwrap(), [carried(&x)], "{blocks} blocks");
        }
    }
}

#[test]
fn the_last_block_of_a_cluster_sees_what_the_other_released() {
    for device in hoppers() {
        let x = some_numbers(8).iter().map(|x| x >> 1).collect::<Vec<_>>();
        let (mut out, mut counts) = (output::<u32>(&device, 8), upload(&device, &[0_u32; 4]));
        let arguments = (&upload(&device, &x), &mut out, &mut counts);
        let config = LaunchConfig::new(8, 32);
        launch(
            &device,
            cluster_orders::last_of_cluster_adds,
            config,
            arguments,
        );
        let out = out.to_vec().unwrap();
        for (out, x) in out.chunks(2).zip(x.chunks(2)) {
            let sum = x[0] + x[1];
            assert!(out == [sum, x[1]] || out == [x[0], sum], "{out:?} of {x:?}");
        }
    }
}

#[test]
fn words_of_another_block() {
    let blocks = 4;
    for device in hoppers() {
        let x: Vec<u32> = numbers(5).map(|n| n as u32).take(blocks * 70).collect();
        let initial: Vec<u32> = numbers(6).map(|n| n as u32).take(kernels::WORDS).collect();
        let mut words = upload(&device, &initial);
        let arguments = (&upload(&device, &x), &mut words);
        let config = LaunchConfig::new(blocks as u32, 70);
        launch(&device, cluster_orders::ordered_remote, config, arguments);
        assert_words(&words.to_vec().unwrap(), &initial, &x, device.name());
    }
}

#[test]
fn blocks_count_in_the_memory_of_one() {
    for device in hoppers() {
        let (clusters, threads) = (3, 70);
        let mut counters = output::<u32>(&device, clusters as usize * cluster_orders::COUNTERS);
        let config = LaunchConfig::new(4 * clusters, threads);
        launch(
            &device,
            cluster_orders::count_remote,
            config,
            (&mut counters,),
        );
        let ranks = || 0..4 * threads;
        let sum: u32 = ranks().sum();
        let xor = ranks().fold(0, |xor, rank| xor ^ rank);
        let expected = [sum, 1, 4 * threads - 1, 0, u32::MAX, xor, 8 * threads, sum];
        for counters in counters.to_vec().unwrap().chunks(expected.len()) {
            assert_eq!(counters, expected, "{}", device.name());
        }
    }
}

#[test]
fn blocks_of_a_cluster_hand_a_number_on() {
    for device in hoppers() {
        let x = some_numbers(12);
        let mut out = output::<u32>(&device, 3);
        let arguments = (&upload(&device, &x), &mut out);
        let config = LaunchConfig::new(12, 32);
        launch(&device, cluster_orders::relay_in_cluster, config, arguments);
        let expected: Vec<u32> = x.chunks(4).map(carried).collect();
        assert_eq!(out.to_vec().unwrap(), expected, "{}", device.name());
    }
}

/// The lines of a kernel in each image that has it; none where no toolchain has built the images.
pub fn codes(kernel: &str) -> Vec<&'static str> {
    let entry = format!(".entry {kernel}(");
    let of_image = |(_, ptx): &(&str, &'static str)| {
        let start = ptx.find(&entry)?;
        let end = ptx[start..].find("\n}")?;
        Some(&ptx[start..start + end])
    };
    IMAGES.iter().filter_map(of_image).collect()
}

/// Fails unless each image has the instruction once in the kernel.
#[track_caller]
fn assert_once(kernel: &str, instruction: &str) {
    let codes = codes(kernel);
    assert!(
        IMAGES.is_empty() || !codes.is_empty(),
        "{kernel} is in no image"
    );
    for code in codes {
        let count = code.matches(&format!("{instruction} ")).count();
        assert_eq!(count, 1, "`{instruction}` in:\n{code}");
    }
}

#[test]
fn each_operation_is_one_instruction() {
    let kernels = [
        ("ordered_u32", "gpu.global", "u32", "b32"),
        ("ordered_i32", "gpu.global", "s32", "b32"),
        ("ordered_u64", "gpu.global", "u64", "b64"),
        ("ordered_i64", "gpu.global", "s64", "b64"),
        ("ordered_in_block", "cta.global", "u32", "b32"),
        ("ordered_in_system", "sys.global", "u32", "b32"),
        ("ordered_shared", "cta.shared", "u32", "b32"),
        ("ordered_remote", "cluster.shared::cluster", "u32", "b32"),
    ];
    for (kernel, place, number, bits) in kernels {
        for operation in OPERATIONS {
            let of = match operation {
                // Two's complement: one addition serves signed and unsigned integers.
                "add" => number.replace('s', "u"),
                "min" | "max" => number.to_owned(),
                _ => bits.to_owned(),
            };
            for order in ORDERS {
                assert_once(kernel, &format!("atom.{order}.{place}.{operation}.{of}"));
            }
        }
    }
    for order in ORDERS {
        assert_once("ordered_f32", &format!("atom.{order}.gpu.global.add.f32"));
        assert_once("ordered_f64", &format!("atom.{order}.gpu.global.add.f64"));
    }
}

#[test]
fn loads_and_stores_are_one_instruction_and_no_fence() {
    let instructions = [
        ("relay", "ld.acquire.gpu.global.b32"),
        ("relay", "st.release.gpu.global.b32"),
        ("relay_in_block", "ld.acquire.cta.shared.b32"),
        ("relay_in_block", "st.relaxed.cta.shared.b32"),
        ("relay_in_block", "atom.release.cta.shared.add.u32"),
        ("last_ticket_adds", "atom.acq_rel.gpu.global.add.u32"),
        (
            "last_of_cluster_adds",
            "atom.acq_rel.cluster.global.add.u32",
        ),
        ("relay_in_cluster", "ld.acquire.cluster.shared.b32"),
        ("relay_in_cluster", "ld.acquire.cluster.shared::cluster.b32"),
        ("relay_in_cluster", "st.release.cluster.shared::cluster.b32"),
        ("relay_in_cluster", "atom.release.cluster.shared.add.u32"),
    ];
    for (kernel, instruction) in instructions {
        assert_once(kernel, instruction);
        for code in codes(kernel) {
            let has_fence = code.contains("membar") || code.contains("fence.");
            assert!(!has_fence, "{code}");
        }
    }
}

/// Without an order, too, and without a step by way of generic addresses.
#[test]
fn operations_on_another_block_are_one_instruction() {
    for (operation, of) in [
        ("add", "u32"),
        ("min", "u32"),
        ("max", "u32"),
        ("and", "b32"),
        ("or", "b32"),
        ("xor", "b32"),
        ("exch", "b32"),
        ("cas", "b32"),
    ] {
        assert_once(
            "count_remote",
            &format!("atom.shared::cluster.{operation}.{of}"),
        );
    }
    for code in codes("count_remote") {
        for instruction in ["ld", "st"] {
            let instruction = format!("{instruction}.relaxed.gpu.shared::cluster.b32 ");
            assert!(code.contains(&instruction), "`{instruction}` in:\n{code}");
        }
    }
}
