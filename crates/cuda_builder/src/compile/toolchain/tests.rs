//! The search for a toolchain, in folders of scripts that only know their versions.

#![cfg(unix)]

use std::fs;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::*;

static TURN: Mutex<()> = Mutex::new(());

#[test]
fn reads_llvm_versions() {
    let debian = "Debian LLVM version 22.1.8\n  Optimized build.\n";
    assert_eq!(parse_llvm_version(debian), Some("22.1.8"));
    let rustup = "LLVM (http://llvm.org/):\n  LLVM version 22.1.2-rust-1.95.0-stable\n";
    assert_eq!(parse_llvm_version(rustup), Some("22.1.2"));
    assert_eq!(major("22.1.8"), "22");
}

#[test]
fn reads_rustc_version_fields() {
    let text = "rustc 1.96.0\nhost: x86_64-unknown-linux-gnu\nLLVM version: 22.1.8\n";
    assert_eq!(version_field(text, "host: "), "x86_64-unknown-linux-gnu");
    assert_eq!(version_field(text, "LLVM version: "), "22.1.8");
    assert_eq!(version_field(text, "release: "), "(unknown)");
}

/// A toolchain of LLVM 999, which no machine has.
struct FakeToolchain {
    root: PathBuf,
    /// One test at a time: a script cannot start while a process forked by another test still
    /// holds it open for writing.
    _turn: MutexGuard<'static, ()>,
}

impl FakeToolchain {
    /// A complete toolchain in a new folder.
    fn new(name: &str) -> FakeToolchain {
        let root = env::temp_dir().join(format!("cuda_builder-{}-{name}", std::process::id()));
        let toolchain = FakeToolchain {
            root,
            _turn: TURN.lock().unwrap_or_else(PoisonError::into_inner),
        };
        let sysroot = toolchain.root.display();
        toolchain.script(
            "bin/rustc",
            &format!("case $1 in --print) echo '{sysroot}';; *) printf 'host: gpu\\nrelease: 1.99.0\\nLLVM version: 999.1.0\\n';; esac"),
        );
        toolchain.script("bin/cargo", "true");
        toolchain.write("lib/rustlib/src/rust/library/core/Cargo.toml", "");
        for tool in LLVM_TOOLS {
            toolchain.llvm_tool(tool, "999.2.0");
        }
        toolchain
    }

    fn llvm_tool(&self, tool: &str, version: &str) {
        let path = format!("lib/rustlib/gpu/bin/{tool}");
        self.script(&path, &format!("echo 'LLVM version {version}'"));
    }

    fn write(&self, path: &str, content: &str) -> PathBuf {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    fn script(&self, path: &str, body: &str) {
        use std::os::unix::fs::PermissionsExt as _;
        let path = self.write(path, &format!("#!/bin/sh\n{body}\n"));
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn remove(&self, path: &str) {
        fs::remove_file(self.root.join(path)).unwrap();
    }

    /// A search that finds this toolchain only.
    fn search(&self) -> Search {
        Search {
            chosen_toolchain: Some(self.root.clone()),
            chosen_llvm: None,
            active_rustc: self.root.join("bin/rustc").into(),
            system: self.root.join("no/such/system"),
        }
    }
}

impl Drop for FakeToolchain {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.root);
    }
}

#[test]
fn a_complete_toolchain_is_found_when_chosen_and_when_active() {
    let fake = FakeToolchain::new("complete");
    let chosen = fake.search().find().unwrap();
    assert_eq!(chosen.rustc_version(), "1.99.0");
    assert_eq!(chosen.llvm_version(), "999.1.0");
    assert_eq!(
        chosen.llvm_tool("opt"),
        fake.root.join("lib/rustlib/gpu/bin/opt")
    );
    let active = Search {
        chosen_toolchain: None,
        ..fake.search()
    };
    assert_eq!(active.find().unwrap().sysroot, fake.root);
}

#[test]
fn a_missing_tool_is_named_with_its_package() {
    let fake = FakeToolchain::new("no-opt");
    fake.remove("lib/rustlib/gpu/bin/opt");
    let message = fake.search().find().unwrap_err().to_string();
    for part in [
        "`opt`",
        "lib/rustlib/gpu/bin, /usr/lib/llvm-999/bin",
        "llvm-tools",
        "Debian's llvm-999",
    ] {
        assert!(message.contains(part), "{part}: {message}");
    }
    fake.remove("bin/cargo");
    let message = fake.search().find().unwrap_err().to_string();
    assert!(
        message.starts_with("could not find `cargo` in "),
        "{message}"
    );
}

#[test]
fn missing_sources_of_core_are_reported() {
    let fake = FakeToolchain::new("no-core");
    fake.remove("lib/rustlib/src/rust/library/core/Cargo.toml");
    let error = fake.search().find().unwrap_err();
    assert!(
        matches!(error, BuildError::MissingCoreSources { .. }),
        "{error}"
    );
}

#[test]
fn tools_of_another_llvm_are_refused() {
    let fake = FakeToolchain::new("old-llc");
    fake.llvm_tool("llc", "14.0.6");
    let error = fake.search().find().unwrap_err();
    let BuildError::LlvmVersionMismatch {
        tool_llvm,
        rustc_llvm,
        ..
    } = &error
    else {
        panic!("{error}");
    };
    assert_eq!(
        (tool_llvm.as_str(), rustc_llvm.as_str()),
        ("14.0.6", "999.1.0")
    );
    assert!(!error.is_missing_toolchain());
}

#[test]
fn only_an_unsuccessful_search_is_a_missing_toolchain() {
    let fake = FakeToolchain::new("broken");
    fake.llvm_tool("llc", "14.0.6");
    let search = Search {
        chosen_toolchain: None,
        ..fake.search()
    };
    let error = search.find().unwrap_err();
    assert!(error.is_missing_toolchain());
    let message = error.to_string();
    for part in [
        "the active Rust toolchain: ",
        "14.0.6",
        "no/such/system: ",
        "rustup component add",
    ] {
        assert!(message.contains(part), "{part}: {message}");
    }
}
