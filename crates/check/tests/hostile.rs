//! Launch files whose numbers are at the ends of their types: each is an error that says which, and never a clean
//! report of what was not run.

use std::fs;
use tilewright_check::{Argument, Buffer, CheckError, Contents, Element, Launch, LaunchFile};
use tilewright_check::{TensorShape, npy};

const PTX: &str = "
    .version 7.8
    .target sm_90a
    .address_size 64
    .visible .entry one(.param .u64 to)
    {
        .reg .b64 %rd<2>;
        ld.param.u64 %rd1, [to];
        st.global.u32 [%rd1], 1;
        ret;
    }
    .visible .entry mapped(.param .align 64 .b8 map[128])
    {
        ret;
    }
";

fn launch(ptx: &str, buffer: Buffer) -> Launch {
    let mut launch = Launch::new("hostile.ptx", ptx, "one");
    launch.buffers.insert("b".to_owned(), buffer);
    launch.arguments = vec![Argument::buffer("b")];
    launch
}

fn small() -> Buffer {
    Buffer::new(Element::U32, 1, Contents::Constant(0.into()))
}

#[test]
fn no_report_is_of_no_schedule() {
    for (first_seed, schedules) in [(0, 0), (u64::MAX, 2), (2, u64::MAX)] {
        let mut launch = launch(PTX, small().expecting(vec![5.into()], 0.0));
        (launch.first_seed, launch.schedules) = (first_seed, schedules);
        let error = launch.run().unwrap_err();
        let expected = CheckError::Schedules {
            first_seed,
            schedules,
        };
        assert_eq!(error, expected);
    }
    let mut last = launch(PTX, small().expecting(vec![1.into()], 0.0));
    (last.first_seed, last.schedules) = (u64::MAX, 1);
    assert!(last.run().unwrap().is_clean());
}

#[test]
fn buffers_that_no_memory_has_are_errors() {
    for contents in [Contents::Uninitialised, Contents::Constant(1.into())] {
        for length in [1 << 61, usize::MAX, 1 << 50] {
            let buffer = Buffer::new(Element::F64, length, contents.clone());
            let error = launch(PTX, buffer).run().unwrap_err().to_string();
            assert!(error.contains("memory"), "{error}");
        }
    }
}

#[test]
fn ranges_of_random_numbers_are_finite() {
    for (least, most) in [
        (-1e308, 1e308),
        (1.0, 0.0),
        (f64::NAN, 1.0),
        (0.0, f64::INFINITY),
    ] {
        let seed = 0;
        let contents = Contents::Random { seed, least, most };
        let error = launch(PTX, Buffer::new(Element::F64, 4, contents)).run();
        assert!(
            matches!(error, Err(CheckError::Range(..))),
            "{least} {most}"
        );
    }
}

#[test]
fn strides_of_tensors_do_not_wrap() {
    let run = |sizes: &[u64], strides: &[u64]| {
        let mut launch = launch(PTX, small());
        launch.entry = "mapped".to_owned();
        launch.arguments = vec![Argument::TensorMap(TensorShape {
            buffer: "b".to_owned(),
            sizes: sizes.to_vec(),
            strides: strides.to_vec(),
            box_sizes: vec![4; sizes.len()],
            swizzle: 0,
        })];
        launch.run().map_err(|error| error.to_string())
    };
    let error = run(&[1 << 62, 1 << 62, 2], &[]).unwrap_err();
    assert!(error.contains("2^64 bytes"), "{error}");
    let error = run(&[4, 4], &[4, 16]).unwrap_err();
    assert!(error.contains("2 strides"), "{error}");
    assert!(run(&[1 << 62, 1 << 62, 2], &[64, 64]).unwrap().is_clean());
}

#[test]
fn bounds_of_kernels_do_not_wrap() {
    let bounded =
        |bound: &str| PTX.replacen("(.param .u64 to)", &format!("(.param .u64 to) {bound}"), 1);
    let report = launch(&bounded(".maxntid 4294967296, 4294967296, 4"), small()).run();
    report.unwrap();
    // 2^32 + 1 blocks are not one.
    let report = launch(&bounded(".reqnctapercluster 4294967297, 1, 1"), small()).run();
    assert!(!report.unwrap().is_clean());
}

#[test]
fn files_have_the_type_of_their_buffer() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("k.ptx"), PTX).unwrap();
    fs::write(
        folder.path().join("b.npy"),
        npy::write(Element::F64, &[0; 8]),
    )
    .unwrap();
    let parsed = |element: &str| {
        let text = format!(
            "ptx = \"k.ptx\"\nentry = \"one\"\narguments = [\"b\"]\n[buffers.b]\ntype = \"{element}\"\nfile = \"b.npy\"\n"
        );
        LaunchFile::parse(&text, folder.path())
    };
    parsed("f64").unwrap();
    let error = parsed("f32").unwrap_err().to_string();
    assert!(error.contains("type f64, not f32"), "{error}");
}

#[test]
fn errors_do_not_repeat_lines_of_any_length() {
    let nested = format!("arguments = {}{}", "[".repeat(9999), "]".repeat(9999));
    let error = LaunchFile::parse(&nested, "".as_ref()).unwrap_err();
    let error = error.to_string();
    assert!(error.len() < 300 && error.contains("recurs"), "{error}");
}

#[test]
fn blocks_that_the_kernel_excludes_are_refused() {
    let bounded =
        |bound: &str| PTX.replacen("(.param .u64 to)", &format!("(.param .u64 to) {bound}"), 1);
    let run = |bound: &str, block| {
        let mut launch = launch(&bounded(bound), small());
        launch.block = block;
        launch.run().map(drop).map_err(|error| error.to_string())
    };
    for (bound, block) in [
        (".maxntid 32, 1, 1", [33, 1, 1]),
        (".maxntid 4, 2", [3, 3, 1]),
        (".reqntid 32, 1, 1", [31, 1, 1]),
        (".reqntid 32", [32, 2, 1]),
    ] {
        let error = run(bound, block).unwrap_err();
        assert!(error.contains(bound), "{error}");
    }
    // The bound is of all threads.
    run(".maxntid 4, 2", [1, 8, 1]).unwrap();
    run(".reqntid 32", [32, 1, 1]).unwrap();
}
