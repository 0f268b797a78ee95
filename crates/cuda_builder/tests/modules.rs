//! A module for each kernel: its content, and when a crate cannot be split.

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::sync::OnceLock;

use common::{Workspace, has_toolchain};
use cuda_builder::{Arch, Build, BuildError, CudaBuilder, PtxModule};

const ARCHS: [Arch; 2] = [Arch::Sm75, Arch::Sm80];

/// The fixture kernels in one module and in one module each, built once for all tests; `None` without a device
/// toolchain.
fn builds() -> Option<&'static [Build; 2]> {
    static BUILDS: OnceLock<Option<[Build; 2]>> = OnceLock::new();
    let build_both = || {
        let workspace = Workspace::new("modules");
        let builder = ARCHS
            .into_iter()
            .fold(workspace.builder("kernels"), CudaBuilder::arch);
        let split = builder.clone().one_module_per_kernel();
        [builder, split].map(|it| it.build().unwrap_or_else(|error| panic!("{error}")))
    };
    BUILDS
        .get_or_init(|| has_toolchain().then(build_both))
        .as_ref()
}

fn text(module: &PtxModule) -> String {
    fs::read_to_string(&module.path).unwrap()
}

/// The instructions of each kernel, without numbers: labels and statics are numbered by module.
fn instructions(ptx: &str) -> BTreeMap<String, Vec<String>> {
    let entries = ptx.split(".visible .entry ").skip(1);
    let without_numbers = |line: &str| line.replace(|c: char| c.is_ascii_digit(), "");
    // A module declares what several entries use before them.
    let is_code =
        |line: &&str| !line.is_empty() && !line.contains(" .b8 ") && !line.contains("demoted");
    entries
        .map(|entry| {
            let (name, rest) = entry.split_once('(').unwrap();
            let body = rest.split("\n}").next().unwrap();
            let lines = body.lines().filter(is_code).map(without_numbers);
            (name.to_owned(), lines.collect())
        })
        .collect()
}

#[test]
#[ignore = "slow: cargo test -- --ignored"]
fn each_kernel_has_a_module_with_the_code_of_the_whole() {
    let Some([whole, split]) = builds() else {
        return;
    };
    for arch in ARCHS {
        let whole = whole.modules.iter().find(|it| it.arch == arch).unwrap();
        let expected = instructions(&text(whole));
        // The module that devices of the architecture load: the newest that they can run.
        let loaded: BTreeMap<_, _> = split
            .modules
            .iter()
            .filter(|it| it.arch <= arch)
            .map(|it| (&it.name, it))
            .collect();
        assert_eq!(
            loaded.keys().copied().collect::<Vec<_>>(),
            expected.keys().collect::<Vec<_>>()
        );
        for (name, module) in loaded {
            assert_eq!(module.kernels, std::slice::from_ref(name));
            let file = format!("{name}.{}.ptx", module.arch);
            assert!(module.path.ends_with(&file), "{}", module.path.display());
            let found = instructions(&text(module));
            assert_eq!(found.len(), 1);
            assert_eq!(found[name], expected[name]);
        }
    }
    // The other kernels are the same on both.
    let newer = split.modules.iter().filter(|it| it.arch == Arch::Sm80);
    assert_eq!(newer.map(|it| &it.name).collect::<Vec<_>>(), ["from_sm_80"]);
}

#[test]
#[ignore = "slow: cargo test -- --ignored"]
fn a_module_has_the_statics_that_its_kernel_uses() {
    let Some([_, split]) = builds() else { return };
    for module in &split.modules {
        let text = text(module);
        let has = |name: &str| text.contains(name);
        let name = module.name.as_str();
        assert_eq!(has(" COEFFICIENTS["), name == "memories", "{name}");
        assert_eq!(has(" smem[]"), name == "memories", "{name}");
        let uses_tile = matches!(name, "reverse" | "addresses");
        assert_eq!(has("fixture_kernels_TILE_0"), uses_tile, "{name}");
    }
}

#[test]
#[ignore = "slow: cargo test -- --ignored"]
fn the_rust_file_has_a_constant_for_each_kernel() {
    let Some([_, split]) = builds() else { return };
    let text = fs::read_to_string(&split.rust_file).unwrap();
    let constant = |name: &str| {
        let (_, rest) = text
            .split_once(&format!("pub const r#{name}: &[(&str, &str)] = "))
            .unwrap_or_else(|| panic!("{name} is missing in {text}"));
        rest.split(';').next().unwrap().to_owned()
    };
    assert!(constant("reverse").contains("(\"sm_75\", "));
    // The source has it from this architecture on.
    let newer = constant("from_sm_80");
    assert!(
        newer.contains("(\"sm_80\", ") && !newer.contains("sm_75"),
        "{newer}"
    );
}

#[test]
#[ignore = "slow: cargo test -- --ignored"]
fn kernels_that_share_what_they_write_stay_together() {
    if !has_toolchain() {
        return;
    }
    let builder = Workspace::new("shared").builder("shared");
    builder.build().unwrap_or_else(|error| panic!("{error}"));
    let error = builder.one_module_per_kernel().build().unwrap_err();
    match &error {
        BuildError::SharedStatic { symbol, kernels } => {
            assert_eq!(symbol, "fixture_shared::TOTAL");
            assert_eq!(kernels, &["add", "total"]);
        }
        other => panic!("{other}"),
    }
    assert!(error.to_string().contains("to a separate crate"), "{error}");
}

/// Builds in one folder, of different architectures, wait for one another: each finishes with its own modules.
#[test]
#[ignore = "slow: cargo test -- --ignored"]
fn builds_in_one_folder_wait_for_one_another() {
    if !has_toolchain() {
        return;
    }
    let workspace = Workspace::new("at_once");
    let built = std::thread::scope(|scope| {
        let build = |arch| {
            let builder = workspace.builder("kernels").arch(arch);
            scope.spawn(move || builder.build().unwrap_or_else(|error| panic!("{error}")))
        };
        let builds = [Arch::Sm75, Arch::Sm80, Arch::Sm75, Arch::Sm80].map(build);
        builds.map(|it| it.join().unwrap())
    });
    for build in built {
        let [module] = build.modules.as_slice() else {
            panic!("{:?}", build.modules);
        };
        let target = format!(".target {}", module.arch);
        assert!(text(module).contains(&target), "{target}");
    }
}
