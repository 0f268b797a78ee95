//! Checked-in PTX with random edits, launched with random arguments: each ends in an error, a report or results, and
//! never in a panic of the simulator.

mod common;

use common::{Buffer, text};
use ptx::{Kernel, Module, Program, tokens};
use simt::{Dim3, Launch, Options};
use std::path::Path;
use std::time::Duration;
use tilewright_test_support::random::Random;

/// Kernels with barriers, atomic operations, asynchronous copies, products of warps and of warpgroups, textures and
/// clusters, each with its threads in a block.
const KERNELS: [(&str, &str, u32); 6] = [
    ("reduce_sum_f32", "sm_75", 64),
    ("softmax_block_f32", "sm_80", 128),
    ("matmul_tiled_f32_nn", "sm_75", 256),
    ("exact_combine_f64", "sm_75", 32),
    ("matmul_mma_f16_nn", "sm_80", 128),
    ("matmul_wgmma_skinny_small_f16_n", "sm_90a", 256),
];

/// Those of CUDA C++ with atomic operations of halves and vectors, calls by address, clocks, packed arithmetic,
/// approximations, `wmma`, bulk copies and `printf`, each with its file.
const CUDA_KERNELS: [(&str, &str); 9] = [
    ("half_atomics", "advanced"),
    ("votes", "advanced"),
    ("virtuals", "advanced"),
    ("pointers", "advanced"),
    ("times", "advanced"),
    ("bulk", "advanced"),
    ("half_pairs", "math"),
    ("wmma_f16", "tensor"),
    ("print_lines", "basic"),
];

/// Edited texts of each kernel.
const EDITS: u32 = 40;

/// A number below `count`.
fn below(random: &mut Random, count: usize) -> usize {
    random.integer(0..=count as i64 - 1) as usize
}

/// The text with a few tokens or lines from `start` on left out, doubled, exchanged or replaced.
fn edited(text: &str, start: usize, random: &mut Random) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for _ in 0..=below(random, 4) {
        let (at, other) = (
            start + below(random, lines.len() - start),
            below(random, lines.len()),
        );
        match below(random, 8) {
            0 => lines[at].clear(),
            1 => lines.insert(at, lines[other].clone()),
            2 => lines.swap(at, other),
            3 => lines.truncate(at.max(start + 8)),
            _ => {
                let replaced = with_other_word(&lines[at], &lines[other], random);
                lines[at] = replaced;
            }
        }
    }
    lines.join("\n")
}

/// The line with one of its words or numbers replaced: by one of another line, or by an unusual one.
fn with_other_word(line: &str, other: &str, random: &mut Random) -> String {
    const UNUSUAL: [&str; 12] = [
        "0",
        "1",
        "-1",
        "3",
        "4294967295",
        "4294967296",
        "9223372036854775807",
        "18446744073709551615",
        "0f7FC00000",
        "%tid.x",
        "_",
        "{}",
    ];
    let of_word = |it: char| it.is_ascii_alphanumeric() || matches!(it, '%' | '_' | '$');
    let split = |line: &str| -> Vec<(usize, usize)> {
        let mut found = Vec::new();
        let mut start = None;
        for (place, letter) in line.char_indices().chain([(line.len(), ' ')]) {
            match (of_word(letter), start) {
                (true, None) => start = Some(place),
                (false, Some(from)) => {
                    found.push((from, place));
                    start = None;
                }
                _ => {}
            }
        }
        found
    };
    let (own, others) = (split(line), split(other));
    if own.is_empty() {
        return line.to_owned();
    }
    let (from, to) = own[below(random, own.len())];
    let new = match others.is_empty() || below(random, 2) == 0 {
        true => UNUSUAL[below(random, UNUSUAL.len())],
        false => {
            let (from, to) = others[below(random, others.len())];
            &other[from..to]
        }
    };
    format!("{}{new}{}", &line[..from], &line[to..])
}

/// Launches a text with arguments that are addresses, small numbers or anything.
fn launched(text: &str, name: &str, threads: u32, random: &mut Random) -> Result<(), String> {
    let module: Module = text.parse().map_err(|it: ptx::ReadError| it.to_string())?;
    let program = Program::new(&module, name).map_err(|it| it.to_string())?;
    let kernel = Kernel::new(program).map_err(|it| it.to_string())?;
    let buffers: Vec<Buffer<u32>> = (0..8).map(|_| Buffer::new(&vec![1; 1 << 12])).collect();
    let sizes: Vec<usize> = kernel.program().parameters().map(|it| it.2).collect();
    // Views are an address and a length; structs have numbers.
    let arguments = sizes.iter().enumerate().map(|(place, bytes)| {
        let word = |_| match below(random, 24) {
            0 => random.bits().to_ne_bytes(),
            1 => 0_u64.to_ne_bytes(),
            _ if *bytes == 8 && place % 2 == 0 => buffers[place / 2 % 8].view()[0],
            _ => (1 + random.bits() % 32).to_ne_bytes(),
        };
        let words = (0..bytes.div_ceil(8)).flat_map(word);
        words.take(*bytes).collect::<Vec<u8>>()
    });
    let arguments: Vec<Vec<u8>> = arguments.collect();
    let arguments: Vec<&[u8]> = arguments.iter().map(Vec::as_slice).collect();
    // SAFETY: the launch refuses memory that is not registered, the buffers outlive it, and the kernels have no
    // textures.
    let body = unsafe { kernel.body(&arguments) }.map_err(|it| it.to_string())?;
    let options = Options {
        registered_memory_only: true,
        time_limit: Some(Duration::from_millis(300)),
        seed: random.bits() % 3,
        ..Options::default()
    };
    let launch = Launch {
        cluster: Dim3::from(1 + below(random, 2) as u32),
        dynamic_shared_bytes: [0, 48 << 10][below(random, 2)],
        ..Launch::new(name, 2, threads, &options)
    };
    let report = simt::run(&launch, &body);
    report.map(|_| ()).map_err(|it| it.to_string())
}

/// Launches the text and its edits, from line `start` on.
fn all_end((text, start): (&str, usize), name: &str, threads: u32) {
    let mut random = Random::new(9);
    for edit in 0..EDITS {
        let text = match edit {
            0 => text.to_owned(),
            _ => edited(text, start, &mut random),
        };
        let end = launched(&text, name, threads, &mut random);
        if let Err(message) = end {
            assert!(
                !message.contains("crates/"),
                "edit {edit} of {name}: {message}"
            );
            assert!(message.len() < 100_000);
        }
    }
}

#[test]
fn edited_kernels_end_without_a_panic_of_the_simulator() {
    for (name, arch, threads) in KERNELS {
        let text = text(name, arch).unwrap_or_else(|| panic!("no {name} for {arch}"));
        assert!(tokens(&text).is_ok());
        all_end((&text, 0), name, threads);
    }
}

#[test]
fn edited_kernels_of_cuda_end_without_a_panic_of_the_simulator() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../check/tests/kernels");
    for (name, file) in CUDA_KERNELS {
        let text = std::fs::read_to_string(folder.join(format!("{file}.ptx"))).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let entry = format!(".entry {name}(");
        let start = lines.iter().position(|it| it.contains(&entry)).unwrap();
        let end = lines[start..].iter().position(|it| *it == "}").unwrap();
        let kept = lines[..=start + end].join("\n");
        all_end((&kept, start), name, 64);
    }
}
