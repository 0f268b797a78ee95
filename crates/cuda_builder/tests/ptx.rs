//! Requirements for the PTX of hand-written kernels.

mod common;

use std::fs;
use std::sync::OnceLock;
use std::thread;

use common::{Workspace, has_toolchain};
use cuda_builder::{Arch, Build, BuildError};

/// The fixture kernels, built once for all tests; `None` without a device toolchain.
fn build() -> Option<&'static Build> {
    static BUILD: OnceLock<Option<Build>> = OnceLock::new();
    BUILD
        .get_or_init(|| {
            has_toolchain().then(|| {
                let builder = Workspace::new("fixtures").builder("kernels");
                let builder = builder.arch(Arch::Sm75).arch(Arch::Sm80).arch(Arch::Sm90a);
                builder.build().unwrap_or_else(|error| panic!("{error}"))
            })
        })
        .as_ref()
}

fn ptx(arch: Arch) -> Option<String> {
    let module = build()?.modules.iter().find(|module| module.arch == arch);
    Some(fs::read_to_string(&module.unwrap().path).unwrap())
}

/// The lines of one kernel, from its name to its end.
fn kernel<'a>(ptx: &'a str, name: &str) -> &'a str {
    let start = ptx.find(&format!(".entry {name}(")).expect(name);
    let end = ptx[start..].find("\n}").unwrap();
    &ptx[start..start + end]
}

#[track_caller]
fn assert_contains(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "`{part}` is missing in:\n{text}");
    }
}

#[test]
#[ignore = "slow: cargo test -- --ignored"]
fn annotations_become_directives_and_vanish() {
    let Some(ptx) = ptx(Arch::Sm80) else { return };
    let reverse = kernel(&ptx, "reverse");
    assert_contains(
        reverse,
        &[".maxntid 256", ".minnctapersm 2", ".maxnreg 128"],
    );
    assert!(!ptx.contains("REVERSE"), "{ptx}");
    assert!(!ptx.contains("maxntid="), "{ptx}");
}

#[test]
#[ignore = "slow: cargo test -- --ignored"]
fn read_only_structs_are_loaded_as_vectors_through_the_read_only_path() {
    let Some(ptx) = ptx(Arch::Sm80) else { return };
    let reverse = kernel(&ptx, "reverse");
    assert_contains(reverse, &["ld.global.nc.v4.b32", "st.global.v4.b32"]);
}

#[test]
#[ignore = "slow: cargo test -- --ignored"]
fn statics_live_in_their_memories() {
    let Some(ptx) = ptx(Arch::Sm80) else { return };
    assert_contains(
        &ptx,
        &[
            ".shared .align 16 .b8 fixture_kernels_TILE_0[4096];",
            ".visible .const .align 4 .b8 COEFFICIENTS[64]",
            ".extern .shared .align 128 .b8 smem[];",
        ],
    );
    let reverse = kernel(&ptx, "reverse");
    assert_contains(
        reverse,
        &["ld.shared.v4.b32", "st.shared.v4.b32", "bar.sync 0;"],
    );
    // LLVM declares a static inside the kernel if no other kernel uses it.
    let counts = ".shared .align 4 .b8 fixture_kernels_COUNTS_0[128];";
    let memories = kernel(&ptx, "memories");
    assert_contains(
        memories,
        &[counts, "ld.const.b32", " smem;", "st.shared.b32"],
    );
}

#[test]
#[ignore = "slow: cargo test -- --ignored"]
fn no_access_is_generic() {
    for arch in [Arch::Sm75, Arch::Sm80, Arch::Sm90a] {
        let Some(ptx) = ptx(arch) else { return };
        let is_generic = |line: &&str| {
            let Some(rest) = line
                .strip_prefix("ld.")
                .or_else(|| line.strip_prefix("st."))
            else {
                return false;
            };
            let spaces = ["global", "shared", "const", "param", "local"];
            !rest
                .split(['.', '\t', ' '])
                .any(|word| spaces.contains(&word))
        };
        let generic: Vec<&str> = ptx.lines().map(str::trim).filter(is_generic).collect();
        assert!(generic.is_empty(), "{arch}: {generic:?}\n{ptx}");
    }
}

#[test]
#[ignore = "slow: cargo test -- --ignored"]
fn barriers_keep_their_place_and_number() {
    let Some(ptx) = ptx(Arch::Sm80) else { return };
    let guarded = kernel(&ptx, "guarded");
    assert_eq!(guarded.matches("bar.sync").count(), 4, "{guarded}");
    let between = kernel(&ptx, "between_branches");
    assert_eq!(between.matches("shfl.sync").count(), 1, "{between}");
}

#[test]
#[ignore = "slow: cargo test -- --ignored"]
fn prelude_functions_are_inlined() {
    let Some(ptx) = ptx(Arch::Sm80) else { return };
    assert!(!ptx.contains("__cuda_std"), "{ptx}");
    assert_contains(kernel(&ptx, "addresses"), &["cvta.to.global", "st.global"]);
}

#[test]
#[ignore = "slow: cargo test -- --ignored"]
fn each_architecture_has_its_own_code() {
    let Some(build) = build() else { return };
    let names: Vec<&str> = build
        .modules
        .iter()
        .map(|module| module.arch.name())
        .collect();
    assert_eq!(names, ["sm_75", "sm_80", "sm_90a"]);
    for module in &build.modules {
        let text = fs::read_to_string(&module.path).unwrap();
        assert_contains(&text, &[&format!(".target {}\n", module.arch)]);
        let has_newer_kernel = module.kernels.iter().any(|name| name == "from_sm_80");
        assert_eq!(
            has_newer_kernel,
            module.arch >= Arch::Sm80,
            "{}",
            module.arch
        );
    }
}

#[test]
#[ignore = "slow: cargo test -- --ignored"]
fn clusters_and_grid_constants_reach_hopper() {
    let Some(ptx) = ptx(Arch::Sm90a) else { return };
    let descriptor = kernel(&ptx, "descriptor");
    assert_contains(
        descriptor,
        &[
            ".param .align 64 .b8 descriptor_param_0[128]",
            ".reqnctapercluster 2, 1, 1",
            "cvta.param.u64",
        ],
    );
    assert!(!descriptor.contains(".local"), "{descriptor}");
}

#[test]
#[ignore = "slow: cargo test -- --ignored"]
fn only_kernels_and_constants_are_visible() {
    let Some(build) = build() else { return };
    let ptx = ptx(Arch::Sm80).unwrap();
    for line in ptx.lines().filter(|line| line.starts_with(".visible")) {
        let is_kernel = build.modules[1]
            .kernels
            .iter()
            .any(|name| line.contains(&format!(".entry {name}(")));
        assert!(is_kernel || line.contains(" COEFFICIENTS["), "{line}");
    }
}

#[test]
#[ignore = "slow: cargo test -- --ignored"]
fn the_rust_file_names_every_module() {
    let Some(build) = build() else { return };
    let text = fs::read_to_string(&build.rust_file).unwrap();
    for module in &build.modules {
        let path = module.path.display().to_string();
        assert_contains(
            &text,
            &[&format!(
                "({:?}, include_str!({path:?})),",
                module.arch.name()
            )],
        );
    }
}

#[test]
#[ignore = "slow: cargo test -- --ignored"]
fn the_same_sources_give_the_same_ptx_anywhere_and_under_any_profile() {
    let Some(here) = ptx(Arch::Sm80) else { return };
    let settings = "opt-level = 0\ndebug = 2\noverflow-checks = true\ndebug-assertions = true\n\
        codegen-units = 16\n";
    let profiles = format!(
        "[profile.release]\n{settings}panic = \"unwind\"\nlto = \"fat\"\nincremental = true\n\
         [profile.release.package.fixture-kernels]\n{settings}"
    );
    let elsewhere = Workspace::with_profiles("another/longer place", &profiles);
    // Two builds at once, which share a `core` that only one of them compiles.
    let core = elsewhere.root().join("core");
    let build = |out: &str| {
        let builder = elsewhere.builder("kernels").core_dir(&core);
        builder.target_dir(elsewhere.root().join(out)).build()
    };
    let builds = thread::scope(|scope| {
        let both = ["out", "beside"].map(|out| scope.spawn(|| build(out)));
        both.map(|it| it.join().unwrap().unwrap())
    });
    for build in builds {
        let path = &build.modules[0].path;
        assert!(
            path.ends_with("fixture_kernels.sm_80.ptx"),
            "{}",
            path.display()
        );
        assert_eq!(fs::read_to_string(path).unwrap(), here);
    }
    assert_eq!(fs::read_dir(core).unwrap().count(), 1);
}

#[test]
#[ignore = "slow: cargo test -- --ignored"]
fn compiler_errors_are_shown() {
    if !has_toolchain() {
        return;
    }
    let error = Workspace::new("failing")
        .builder("broken")
        .build()
        .unwrap_err();
    assert!(matches!(error, BuildError::CompileFailed { .. }), "{error}");
    assert_contains(
        &error.to_string(),
        &["error[E0308]: mismatched types", "broken/lib.rs"],
    );
}

#[test]
#[ignore = "slow: cargo test -- --ignored"]
fn undefined_symbols_are_named() {
    if !has_toolchain() {
        return;
    }
    let error = Workspace::new("failing")
        .builder("undefined")
        .build()
        .unwrap_err();
    match &error {
        BuildError::UndefinedSymbols { symbols, .. } => assert_eq!(symbols, &["no_such_function"]),
        other => panic!("{other}"),
    }
}

#[test]
#[ignore = "slow: cargo test -- --ignored"]
fn line_information_names_the_source_and_leaves_the_code_as_it_is() {
    let Some(plain) = ptx(Arch::Sm80) else { return };
    let builder = Workspace::new("lines").builder("kernels").arch(Arch::Sm80);
    let build = builder.line_information(true).build().unwrap();
    let lines = fs::read_to_string(&build.modules[0].path).unwrap();
    assert_contains(&lines, &[".loc\t", "\"/workspace/kernels/lib.rs\""]);
    let information = [".loc", ".file", ".section\t.debug", "$L__tmp", "$L__func"];
    let is_information = |line: &&str| {
        let line = line.trim_start();
        information.iter().any(|start| line.starts_with(start))
    };
    let is_code = |line: &&str| !is_information(line) && !line.is_empty();
    let code: Vec<_> = lines.lines().filter(is_code).collect();
    assert_eq!(code, plain.lines().filter(is_code).collect::<Vec<_>>());
}
