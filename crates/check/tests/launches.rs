//! PTX of nvcc and Triton, against what NumPy computes, and kernels with known findings.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tilewright_check::{
    Argument, Buffer, Contents, DefectKind, Element, Expected, Launch, LaunchFile, Number,
};

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// The launch files of a folder whose PTX is there.
fn launch_files(name: &str) -> Vec<PathBuf> {
    let files = fs::read_dir(folder(name)).unwrap();
    let files = files.map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = files
        .filter(|path| path.extension().is_some_and(|it| it == "toml"))
        .collect();
    files.sort();
    // The PTX of CUB's collectives is not checked in.
    files.retain(|path| {
        !path
            .file_name()
            .unwrap()
            .to_string_lossy()
            .starts_with("cub.")
    });
    assert!(!files.is_empty());
    files
}

/// Lanes of a warp store sums to one word that differ in the last bit: Triton has fused the first addition of each
/// lane's butterfly into its own product.
const WITH_FINDINGS: [&str; 2] = [
    "triton80_layer_norm.layer_norm.toml",
    "triton90_layer_norm.layer_norm.toml",
];

/// Runs the launches of a folder, and returns how many ran.
fn run_all(name: &str) -> usize {
    let mut ran = 0;
    for path in launch_files(name) {
        let stem = path.file_name().unwrap().to_string_lossy().into_owned();
        let file = LaunchFile::read(&path).unwrap_or_else(|it| panic!("{stem}: {it}"));
        let report = file.launch.run();
        let report = report.unwrap_or_else(|it| panic!("{stem}: {it}"));
        assert!(report.mismatches.is_empty(), "{stem}: {report}");
        assert!(report.differing.is_empty(), "{stem}: {report}");
        let is_known = WITH_FINDINGS.contains(&stem.as_str());
        assert_eq!(
            report.has(DefectKind::DataRace),
            is_known,
            "{stem}: {report}"
        );
        assert_eq!(report.findings.is_empty(), !is_known, "{stem}: {report}");
        ran += 1;
    }
    ran
}

#[test]
fn kernels_of_nvcc_are_right() {
    assert_eq!(run_all("tests/kernels"), 52);
}

#[test]
fn kernels_of_triton_are_right() {
    assert_eq!(run_all("tests/kernels/triton/compiled"), 30);
}

#[test]
fn what_is_not_supported_has_a_line() {
    let path = folder("tests/kernels/advanced.ptx");
    let module: ptx::Module = fs::read_to_string(path).unwrap().parse().unwrap();
    let refused = module.kernels().filter_map(|kernel| {
        let error = ptx::Program::new(&module, &kernel.name).err()?;
        assert!(error.errors.iter().all(|it| it.line > 0), "{error}");
        Some(kernel.name.to_string())
    });
    let refused: Vec<String> = refused.collect();
    assert_eq!(refused, ["recursion", "heap", "bulk_reduce", "wide_cas"]);
}

#[test]
fn an_assertion_of_the_kernel_is_a_finding() {
    let path = folder("tests/kernels/advanced.asserts.toml");
    let mut launch = LaunchFile::read(&path).unwrap().launch;
    launch.arguments[1] = Argument::number(2);
    let report = launch.run().unwrap();
    let text = report.to_string();
    assert!(
        report.has(DefectKind::Panic) && text.contains("too small"),
        "{text}"
    );
}

#[test]
fn a_wrong_output_is_found() {
    let path = folder("tests/kernels/basic.vector_add.toml");
    let mut launch = LaunchFile::read(&path).unwrap().launch;
    let expected = launch.buffers.get_mut("c").unwrap().expected.as_mut();
    expected.unwrap().values[7] = 100.0.into();
    let report = launch.run().unwrap();
    assert_eq!(report.mismatches[0].index, 7);
    assert!(!report.is_clean());
}

/// The last of two warps that exchange a word leaves its first lane's number there.
const LAST_WARP: &str = "
    .version 7.0
    .target sm_75
    .address_size 64
    .visible .entry last_warp(.param .u64 to) {
        .reg .b32 %r<3>;
        .reg .b64 %rd<2>;
        .reg .pred %p<2>;
        ld.param.u64 %rd1, [to];
        mov.u32 %r1, %tid.x;
        and.b32 %r2, %r1, 31;
        setp.eq.u32 %p1, %r2, 0;
        @%p1 atom.global.exch.b32 %r2, [%rd1], %r1;
        ret;
    }
";

#[test]
fn what_is_expected_holds_under_each_schedule() {
    let mut launch = Launch::new("last_warp.ptx", LAST_WARP, "last_warp");
    launch.block = [64, 1, 1];
    let word = Buffer::new(Element::U32, 1, Contents::Constant(Number::Integer(7)));
    launch.buffers.insert("to".to_owned(), word);
    launch.arguments = vec![Argument::buffer("to")];
    let first = launch.run().unwrap();
    assert_eq!(first.differing.len(), 1, "{first}");
    let found = first.outputs[0].elements().next().unwrap();
    let buffer = launch.buffers.get_mut("to").unwrap();
    buffer.may_differ = true;
    buffer.expected = Some(Expected {
        values: vec![Number::Integer(found.parse().unwrap())],
        tolerance: 0.0,
    });
    let report = launch.run().unwrap();
    assert!(!report.is_clean());
    let [mismatch] = &report.mismatches[..] else {
        panic!("{report}");
    };
    assert_eq!(mismatch.seed, Some(first.differing[0].seed));
    assert!(report.to_string().contains("with seed"), "{report}");
    launch.buffers.get_mut("to").unwrap().expected = None;
    assert!(launch.run().unwrap().is_clean());
}

#[test]
fn writes_of_one_value_are_findings_on_request() {
    let path = folder("tests/kernels/triton/compiled/triton80_softmax.softmax.toml");
    let mut launch = LaunchFile::read(&path).unwrap().launch;
    launch.is_strict = true;
    assert!(launch.run().unwrap().has(DefectKind::DataRace));
}

#[test]
fn kernels_print() {
    let path = folder("tests/kernels/basic.print_lines.toml");
    let report = LaunchFile::read(&path).unwrap().launch.run().unwrap();
    let mut printed = report.printed;
    printed.sort();
    let line = |thread: u32| {
        let half = f64::from(thread) * 0.5;
        format!("thread {thread:2} of block: {half:5.2} 1099511627776%\n")
    };
    assert_eq!(printed, [line(0), line(1), line(2)]);
}

fn program(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tilewright-check"));
    command
        .args(arguments)
        .current_dir(folder("examples/races"));
    command.output().unwrap()
}

#[test]
fn each_race_is_found_and_no_twin_is_blamed() {
    for path in launch_files("examples/races") {
        let file = LaunchFile::read(&path).unwrap();
        let report = file.launch.run().unwrap();
        assert!(file.expects(&report), "{}: {report}", path.display());
    }
}

#[test]
fn exit_codes_tell_findings_from_failures() {
    let as_expected = program(&["total_lost.toml", "total_kept.toml"]);
    assert_eq!(as_expected.status.code(), Some(0));
    let text = String::from_utf8(as_expected.stdout).unwrap();
    assert!(
        text.contains("races.ptx:") && text.contains("(races.cu:"),
        "{text}"
    );

    let elsewhere = tempfile::tempdir().unwrap();
    let launch = fs::read_to_string(folder("examples/races/total_lost.toml")).unwrap();
    let ptx = folder("examples/races/races.ptx");
    let launch = launch.replace("finding = \"data race\"\n", "");
    let launch = launch.replace("races.ptx", &ptx.to_string_lossy());
    let path = elsewhere.path().join("unexpected.toml");
    fs::write(&path, launch).unwrap();
    let path = path.to_string_lossy();
    assert_eq!(program(&[&path]).status.code(), Some(1));
    assert_eq!(program(&[&path, "nowhere.toml"]).status.code(), Some(2));
    assert_eq!(program(&[]).status.code(), Some(2));
}

#[test]
fn reports_are_json() {
    let output = program(&[
        "--json",
        "--counters",
        "--schedules",
        "2",
        "total_kept.toml",
    ]);
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(value["clean"], true);
    assert_eq!(value["schedules"], 2);
    assert_eq!(value["outputs"][0]["elements"][0], 8128);
    let lines = value["counters"]["lines"].as_array().unwrap();
    assert!(
        lines.iter().any(|it| it["operation"] == "global atomic"),
        "{value}"
    );
}

#[test]
fn the_kernels_of_a_file_are_listed() {
    let output = program(&["--list", "races.ptx"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text.lines().count(), 10, "{text}");
    let output = program(&["--init", "races.ptx", "total_kept"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.contains("entry = \"total_kept\"") && text.contains("[buffers.p1]"),
        "{text}"
    );
}
