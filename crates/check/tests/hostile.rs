//! Launch files whose numbers are at the ends of their types: each is an error that says which, and never a clean
//! report of what was not run.

use std::fs;
use tilewright_check::{
    Argument, Buffer, CheckError, Contents, DefectKind, Element, Launch, LaunchFile,
};
use tilewright_check::{TensorShape, npy, skeleton};

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
fn ranges_of_random_numbers_have_numbers_of_the_type() {
    for (element, least, most, part) in [
        (Element::F64, -1e308, 1e308, "finite"),
        (Element::F64, 1.0, 0.0, "ascends"),
        (Element::F64, f64::NAN, 1.0, "ascends"),
        (Element::F64, 0.0, f64::INFINITY, "finite"),
        (Element::F32, 0.0, 1e39, "f32 from 0.0 to 1e39"),
        (Element::F16, 0.0, 1e6, "f16 from 0.0 to 1000000.0"),
        (Element::Bf16, -1e39, 0.0, "beyond the type's largest"),
        (Element::I32, 0.6, 0.7, "no whole number"),
        (Element::I32, 5.5, 5.5, "no whole number"),
        (Element::U8, 0.0, 257.0, "the type has not"),
        (Element::U32, -1.0, 1.0, "the type has not"),
        (Element::U64, 1e300, 1e300, "the type has not"),
        (Element::I64, -1e300, -1e300, "the type has not"),
    ] {
        let seed = 0;
        let contents = Contents::Random { seed, least, most };
        let error = launch(PTX, Buffer::new(element, 4, contents)).run();
        let error = error.unwrap_err().to_string();
        assert!(
            error.contains("buffer `b`") && error.contains(part),
            "{error}"
        );
    }
}

#[test]
fn numbers_that_a_type_has_not_are_named_with_their_buffer() {
    let fraction = Contents::Constant(1.0.into());
    let error = launch(PTX, Buffer::new(Element::U32, 1, fraction)).run();
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains("buffer `b`: 1 is no u32: integers are written"),
        "{error}"
    );
}

#[test]
fn buffers_without_elements_have_no_byte() {
    let load = "ld.global.u8 %rd1, [%rd1];";
    for (access, contents) in [
        ("st.global.u8 [%rd1], 1;", Contents::Uninitialised),
        ("st.global.u8 [%rd1], 1;", Contents::Constant(0.into())),
        (load, Contents::Constant(0.into())),
    ] {
        let ptx = PTX.replace("st.global.u32 [%rd1], 1;", access);
        let report = launch(&ptx, Buffer::new(Element::U8, 0, contents)).run();
        let report = report.unwrap();
        assert!(report.has(DefectKind::OutOfBounds), "{report}");
        assert!(
            report.to_string().contains("buffer `b` of 0 bytes"),
            "{report}"
        );
    }
    // Its place can be that of another buffer afterwards.
    for length in [0, 1, 0, 1] {
        let report = launch(
            PTX,
            Buffer::new(Element::U32, length, Contents::Uninitialised),
        )
        .run();
        assert_eq!(report.unwrap().is_clean(), length == 1);
    }
}

#[test]
fn strides_of_tensors_do_not_wrap() {
    let error = tensor_map(&[1 << 32, 1 << 32, 1 << 32], &[]).unwrap_err();
    assert!(error.contains("2^64 bytes"), "{error}");
    let error = tensor_map(&[4, 4], &[16, 16]).unwrap_err();
    assert!(error.contains("2 strides"), "{error}");
    assert!(tensor_map(&[1 << 32, 1 << 32, 2], &[64, 64]).is_ok());
}

#[test]
fn tensors_of_which_no_driver_makes_a_map_are_refused() {
    for (sizes, strides, part) in [
        (&[0_u64][..], &[][..], "0 elements"),
        (&[(1 << 32) + 1], &[], "1 to 2^32"),
        (&[4, 4], &[24], "a stride of 24 bytes"),
        (&[5, 4], &[], "a stride of 20 bytes"),
        (&[4, 4], &[1 << 40], "below 2^40"),
    ] {
        let error = tensor_map(sizes, strides).unwrap_err();
        assert!(error.contains(part), "{error}");
    }
    for (columns, swizzle, is_right) in
        [(3, 0, false), (4, 0, true), (8, 32, true), (12, 32, false)]
    {
        let found = box_of(&[64, 4], &[], &[columns, 2], swizzle);
        assert_eq!(found.is_ok(), is_right, "{found:?}");
    }
}

/// Runs a kernel with a map of boxes of 4 elements in each dimension.
fn tensor_map(sizes: &[u64], strides: &[u64]) -> Result<(), String> {
    box_of(sizes, strides, &vec![4; sizes.len()], 0)
}

fn box_of(sizes: &[u64], strides: &[u64], box_sizes: &[u32], swizzle: u32) -> Result<(), String> {
    let mut launch = launch(PTX, small());
    launch.entry = "mapped".to_owned();
    launch.arguments = vec![Argument::TensorMap(TensorShape {
        buffer: "b".to_owned(),
        sizes: sizes.to_vec(),
        strides: strides.to_vec(),
        box_sizes: box_sizes.to_vec(),
        swizzle,
    })];
    let report = launch.run().map_err(|error| error.to_string())?;
    assert!(report.is_clean());
    Ok(())
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

/// The report's mismatches of a launch that leaves its only buffer, of `element`, as it is.
fn mismatches(element: &str, lines: &str) -> Result<Vec<String>, CheckError> {
    let folder = tempfile::tempdir().unwrap();
    let ptx = PTX.replace("st.global.u32 [%rd1], 1;", "");
    fs::write(folder.path().join("k.ptx"), ptx).unwrap();
    let words = u64::MAX.to_le_bytes();
    let file = npy::write(Element::U64, &words);
    fs::write(folder.path().join("most.npy"), file).unwrap();
    let text = format!(
        "ptx = \"k.ptx\"\nentry = \"one\"\narguments = [\"b\"]\n[buffers.b]\ntype = \"{element}\"\n{lines}\n"
    );
    let report = LaunchFile::parse(&text, folder.path())?.launch.run()?;
    let mismatches = report.mismatches.iter();
    Ok(mismatches.map(|it| it.to_string()).collect())
}

#[test]
fn integers_are_compared_exactly() {
    let wrong = |element, lines| mismatches(element, lines).unwrap();
    let found = wrong(
        "i64",
        "values = [9007199254740992]\nexpect = 9007199254740993",
    );
    assert!(found[0].contains("not 9007199254740993"), "{found:?}");
    let next = "values = [-2]\nexpect = \"most.npy\"";
    assert!(wrong("u64", next)[0].contains("18446744073709551614, not 18446744073709551615"));
    for (element, lines) in [
        ("u64", "values = [-1]\nexpect = \"most.npy\""),
        ("u32", "values = [-1]\nexpect = -1"),
        ("u32", "values = [4294967295]\nexpect = -1"),
        ("i32", "values = [-1]\nexpect = 4294967295"),
        ("i64", "values = [100]\nexpect = 101\ntolerance = 0.01"),
    ] {
        assert_eq!(wrong(element, lines), [""; 0], "{element}: {lines}");
    }
}

#[test]
fn floats_are_compared_with_what_their_type_has() {
    let wrong = |element, lines| mismatches(element, lines).unwrap();
    assert_eq!(wrong("f32", "values = [0.1]\nexpect = 0.1"), [""; 0]);
    assert_eq!(wrong("f16", "values = [0.1]\nexpect = [0.1]"), [""; 0]);
    assert_eq!(
        wrong("f32", "values = [inf]\nexpect = inf\ntolerance = 1e-3"),
        [""; 0]
    );
    for (element, lines) in [
        ("f32", "values = [5.0]\nexpect = inf\ntolerance = 1e-3"),
        ("f64", "values = [-inf]\nexpect = inf\ntolerance = 1e-3"),
        ("f16", "values = [inf]\nexpect = 1e6"),
        ("f32", "values = [0.1]\nexpect = 0.2"),
    ] {
        assert_eq!(wrong(element, lines).len(), 1, "{element}: {lines}");
    }
}

#[test]
fn what_is_expected_says_what_each_element_has_to_be() {
    for (lines, part) in [
        (
            "length = 3\nfill = 1\nexpect = [1]",
            "1 expected elements of 3",
        ),
        (
            "length = 3\nfill = 1\nexpect = \"most.npy\"",
            "1 expected elements of 3",
        ),
        (
            "values = [1]\nexpect = 1\ntolerance = -1.0",
            "a tolerance of -1",
        ),
        (
            "values = [1]\nexpect = 1\ntolerance = inf",
            "a tolerance of inf",
        ),
    ] {
        let error = mismatches("f32", lines).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
    let of_two = small().expecting(vec![1.into(), 2.into()], 0.0);
    let error = launch(PTX, of_two).run().unwrap_err().to_string();
    assert!(error.contains("2 expected elements of 1"), "{error}");
}

#[test]
fn findings_and_arguments_that_there_are_not_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("k.ptx"), PTX).unwrap();
    for (line, part) in [
        (
            "finding = \"data rase\"",
            "there is no finding \"data rase\"",
        ),
        (
            "arguments = [{ buffer = \"b\", ofset = 4 }]",
            "`{ buffer, offset }`",
        ),
    ] {
        let text = format!("ptx = \"k.ptx\"\nentry = \"one\"\n{line}\n");
        let error = LaunchFile::parse(&text, folder.path()).unwrap_err();
        assert!(error.to_string().contains(part), "{error}");
    }
}

#[test]
fn launch_files_to_begin_with_name_any_path() {
    let module: ptx::Module = PTX.parse().unwrap();
    let kernel = module.kernels().next().unwrap();
    let folder = tempfile::tempdir().unwrap();
    for name in ["e\u{301}.ptx", "\u{7f}\u{1b}\n.ptx", "\"\\'.ptx"] {
        fs::write(folder.path().join(name), PTX).unwrap();
        let text = skeleton(name, kernel);
        LaunchFile::parse(&text, folder.path()).unwrap_or_else(|error| panic!("{error}"));
    }
}
