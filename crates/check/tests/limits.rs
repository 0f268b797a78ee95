//! Launches that no GPU makes: each is an error that says why.

use std::fs;
use std::process::Command;
use tilewright_check::{Argument, Buffer, Contents, Element, Launch, LaunchFile, TensorShape};

/// A kernel that stores to its parameter's address, with these bounds; before it, other declarations.
fn ptx(target: &str, declarations: &str, bounds: &str) -> String {
    format!(
        "
    .version 8.0
    .target {target}
    .address_size 64
    {declarations}
    .visible .entry one(.param .u64 to) {bounds}
    {{
        .reg .b64 %rd<2>;
        ld.param.u64 %rd1, [to];
        st.global.u32 [%rd1], 1;
        ret;
    }}
"
    )
}

fn launch_of(ptx: &str) -> Launch {
    let mut launch = Launch::new("limits.ptx", ptx, "one");
    let buffer = Buffer::new(Element::U32, 1, Contents::Uninitialised);
    launch.buffers.insert("b".to_owned(), buffer);
    launch.arguments = vec![Argument::buffer("b")];
    launch
}

fn launch(target: &str, bounds: &str) -> Launch {
    launch_of(&ptx(target, "", bounds))
}

#[test]
fn blocks_that_the_kernel_excludes_are_refused() {
    let run = |bound: &str, block| {
        let mut launch = launch("sm_90a", bound);
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

#[test]
fn clusters_that_the_kernel_or_the_device_excludes_are_refused() {
    let run = |target: &str, bound: &str, cluster| {
        let mut launch = launch(target, bound);
        (launch.grid, launch.cluster) = ([4, 1, 1], cluster);
        // Several blocks store to one place.
        launch.run().map(drop).map_err(|error| error.to_string())
    };
    for (target, bound, blocks, part) in [
        ("sm_90", ".reqnctapercluster 4", 2, ".reqnctapercluster 4`"),
        (
            "sm_90",
            ".reqnctapercluster 2, 2, 1",
            2,
            ".reqnctapercluster 2, 2, 1`",
        ),
        ("sm_90", ".maxclusterrank 2", 4, ".maxclusterrank 2`"),
        (
            "sm_75",
            "",
            2,
            "T4 of compute capability 7.5 has no clusters",
        ),
        ("sm_89", "", 2, "8.9 has no clusters"),
    ] {
        let error = run(target, bound, [blocks, 1, 1]).unwrap_err();
        let cluster = format!("a cluster of [{blocks}, 1, 1] blocks");
        assert!(error.contains(part) && error.contains(&cluster), "{error}");
    }
    for (target, bound, blocks) in [
        ("sm_90", ".reqnctapercluster 4", 1),
        ("sm_90", ".reqnctapercluster 4", 4),
        ("sm_90", ".maxclusterrank 2", 2),
        ("sm_75", "", 1),
    ] {
        run(target, bound, [blocks, 1, 1]).unwrap();
    }
}

#[test]
fn constant_memory_has_an_end() {
    let run = |declarations: &str| launch_of(&ptx("sm_90", declarations, "")).run();
    run(".const .b8 a[65000]; .const .align 4 .u32 b[134];").unwrap();
    run(".const .f32 a[][2] = {{1.0, 2.0}, {3.0}};").unwrap();
    for (declarations, bytes) in [
        (".const .b8 a[65537];", "65537 bytes"),
        (".const .b8 a[65536]; .const .v4 .f32 b;", "65552 bytes"),
    ] {
        let error = run(declarations).unwrap_err().to_string();
        assert!(
            error.contains(bytes) && error.contains("at most 65536"),
            "{error}"
        );
    }
}

#[test]
fn extents_of_nothing_are_refused() {
    for (what, extent) in [
        ("grid", [0, 1, 1]),
        ("block", [32, 0, 1]),
        ("cluster", [1, 1, 0]),
    ] {
        let mut launch = launch("sm_90", "");
        match what {
            "grid" => launch.grid = extent,
            "block" => launch.block = extent,
            _ => launch.cluster = extent,
        }
        let error = launch.run().unwrap_err().to_string();
        assert!(error.contains(&format!("the {what} is zero")), "{error}");
    }
}

#[test]
fn launch_files_say_what_is_expected() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("k.ptx"), ptx("sm_90", "", "")).unwrap();
    for (lines, part) in [
        ("grid = -1", "a number of at least 1"),
        ("block = \"wide\"", "a list of up to three"),
        ("finding = 3", "findings are a name"),
        (
            "[buffers.b]\ntype = \"u32\"\nlength = 1\nfill = \"foo\"",
            "\"index\", \"random\" or",
        ),
        (
            "[buffers.b]\ntype = \"u32\"\nlength = 1\nexpect = true",
            "a list of numbers",
        ),
    ] {
        let text = format!("ptx = \"k.ptx\"\nentry = \"one\"\n{lines}\n");
        let error = LaunchFile::parse(&text, folder.path())
            .unwrap_err()
            .to_string();
        assert!(
            error.contains(part) && !error.contains("untagged"),
            "{error}"
        );
    }
}

#[test]
fn a_file_that_is_not_there_is_named_once() {
    let mut program = Command::new(env!("CARGO_BIN_EXE_tilewright-check"));
    let output = program.arg("nofile.toml").output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(text.matches("nofile.toml").count(), 1, "{text}");
}

/// A structure of a number and a tensor map, whose 128 bytes begin at a multiple of 64.
#[test]
fn tensor_maps_in_structures_are_aligned() {
    let kernel = |bytes: u32| {
        format!(
            "
    .version 8.0
    .target sm_90
    .address_size 64
    .visible .entry one(.param .align 64 .b8 both[{bytes}], .param .u64 to)
    {{
        .reg .b64 %rd<4>;
        ld.param.u64 %rd1, [to];
        ld.param.u64 %rd2, [both+8];
        ld.param.u64 %rd3, [both+64];
        st.global.u64 [%rd1], %rd2;
        st.global.u64 [%rd1+8], %rd3;
        ret;
    }}
"
        )
    };
    let run = |bytes| {
        let mut launch = launch_of(&kernel(bytes));
        let to = Buffer::new(Element::U64, 2, Contents::Uninitialised);
        launch.buffers.insert("to".to_owned(), to);
        let count = Argument::Number {
            value: 7.into(),
            element: Some(Element::U32),
        };
        let map = Argument::TensorMap(TensorShape {
            buffer: "b".to_owned(),
            sizes: vec![4],
            strides: Vec::new(),
            box_sizes: vec![4],
            swizzle: 0,
        });
        launch.arguments = vec![Argument::Fields(vec![count, map]), Argument::buffer("to")];
        launch.run()
    };
    let report = run(192).unwrap();
    let words = &report.output("to").unwrap().bytes;
    assert_eq!(words[..8], [0; 8], "what aligns the map");
    assert_ne!(words[8..], [0; 8], "the map's first word");
    let error = run(136).unwrap_err().to_string();
    assert!(error.contains("fields of 192 bytes, of 136"), "{error}");
}
