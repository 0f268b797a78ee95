//! `cargo xtask cuda-stub`: a CUDA folder to link against on a machine without CUDA.
//!
//! The folder has what the build scripts below the crate `cust` look for, and a `libcuda.so`
//! with every function that its bindings name. Each of them returns `CUDA_ERROR_STUB_LIBRARY`,
//! so a program that was linked against it and runs with it gets a clear error. Where the NVIDIA
//! driver is installed, the same program runs with the driver's `libcuda.so.1`.

use crate::Result;
use serde_json::Value;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The crate whose `extern` blocks name the functions.
const BINDINGS: &str = "cust_raw";

/// Runs the command with the rest of its arguments.
pub fn run(mut arguments: lexopt::Parser) -> Result {
    let mut folder = None;
    while let Some(argument) = arguments.next()? {
        match argument {
            lexopt::Arg::Value(path) if folder.is_none() => folder = Some(PathBuf::from(path)),
            argument => return Err(argument.unexpected().into()),
        }
    }
    let metadata = cargo_metadata()?;
    let folder = match folder {
        Some(folder) => folder,
        None => target_folder(&metadata)?.join("cuda-stub"),
    };
    let bindings = bindings_source(&metadata)?;
    let functions = driver_functions(&bindings);
    if functions.is_empty() {
        return Err(format!("the sources of `{BINDINGS}` name no driver function").into());
    }
    write_folder(&folder, &functions)?;
    print_environment(&fs::canonicalize(&folder)?);
    Ok(())
}

fn cargo_metadata() -> Result<Value> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version=1", "--all-features"])
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

fn target_folder(metadata: &Value) -> Result<PathBuf> {
    let folder = metadata["target_directory"]
        .as_str()
        .ok_or("`cargo metadata` names no target folder")?;
    Ok(PathBuf::from(folder))
}

/// The Rust source of the bindings, all of its files together.
fn bindings_source(metadata: &Value) -> Result<String> {
    let manifest = metadata["packages"]
        .as_array()
        .into_iter()
        .flatten()
        .find(|package| package["name"] == BINDINGS)
        .and_then(|package| package["manifest_path"].as_str())
        .ok_or_else(|| format!("`{BINDINGS}` is not among the workspace's dependencies"))?;
    let mut source = String::new();
    for entry in fs::read_dir(Path::new(manifest).with_file_name("src"))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "rs") {
            source += &fs::read_to_string(path)?;
        }
    }
    Ok(source)
}

/// The names of all functions of the driver that the bindings declare, sorted.
fn driver_functions(bindings: &str) -> Vec<&str> {
    let mut functions: Vec<&str> = bindings
        .lines()
        .filter_map(|line| line.trim_start().strip_prefix("pub fn "))
        .filter(|declaration| declaration.starts_with("cu"))
        .filter_map(|declaration| declaration.split('(').next())
        .collect();
    functions.sort_unstable();
    functions.dedup();
    functions
}

fn write_folder(folder: &Path, functions: &[&str]) -> Result {
    let (include, stubs) = (folder.join("include"), folder.join("lib64/stubs"));
    fs::create_dir_all(&include)?;
    fs::create_dir_all(&stubs)?;
    fs::write(
        include.join("cuda.h"),
        "/* Build scripts look for this file; there is nothing in it for a compiler. */\n",
    )?;
    let source = folder.join("libcuda.c");
    fs::write(&source, stub_source(functions))?;
    let library = stubs.join("libcuda.so.1");
    compile(&source, &library)?;
    fs::copy(&library, stubs.join("libcuda.so"))?;
    Ok(())
}

/// The functions that describe a status are the only ones that do something.
const STUB_HEAD: &str = r#"/* Made by `cargo xtask cuda-stub`. */
enum { STUB_LIBRARY = 34, INVALID_VALUE = 1 };

static int describe(int code, const char **text, const char *stub_library) {
    *text = code == STUB_LIBRARY ? stub_library : 0;
    return code == STUB_LIBRARY ? 0 : INVALID_VALUE;
}

int cuGetErrorName(int code, const char **text) {
    return describe(code, text, "CUDA_ERROR_STUB_LIBRARY");
}

int cuGetErrorString(int code, const char **text) {
    return describe(code, text, "CUDA driver is a stub library");
}

"#;

fn stub_source(functions: &[&str]) -> String {
    let mut source = STUB_HEAD.to_owned();
    for function in functions {
        if !STUB_HEAD.contains(&format!(" {function}(")) {
            writeln!(source, "int {function}(void) {{ return STUB_LIBRARY; }}")
                .expect("a string takes all text");
        }
    }
    source
}

fn compile(source: &Path, library: &Path) -> Result {
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    let status = Command::new(&compiler)
        .args(["-shared", "-fPIC", "-O1", "-Wl,-soname,libcuda.so.1", "-o"])
        .args([library, source])
        .status()
        .map_err(|error| {
            format!("the C compiler {compiler:?} does not start ({error}); set CC to one that does")
        })?;
    if !status.success() {
        return Err(format!("the C compiler {compiler:?} failed ({status})").into());
    }
    Ok(())
}

/// Prints what the shell has to set, as commands that it can evaluate.
fn print_environment(folder: &Path) {
    let folder = folder.display();
    println!("export CUDA_LIBRARY_PATH='{folder}'");
    println!("export CUDA_PATH='{folder}'");
    println!(
        "export LD_LIBRARY_PATH='{folder}/lib64/stubs'${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}"
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    const BINDINGS_EXAMPLE: &str = "
        extern \"C\" {
            pub fn cuInit(Flags: u32) -> CUresult;
            pub fn cuGetErrorName(error: CUresult, text: *mut *const c_char) -> CUresult;
        }
        extern \"C\" {
            pub fn cuCtxCreate_v2(
                pctx: *mut CUcontext,
            ) -> CUresult;
        }
        pub fn other() {}
    ";

    #[test]
    fn all_declared_functions_are_found() {
        let functions = driver_functions(BINDINGS_EXAMPLE);
        assert_eq!(functions, ["cuCtxCreate_v2", "cuGetErrorName", "cuInit"]);
    }

    #[test]
    fn each_function_is_defined_once() {
        let functions = driver_functions(BINDINGS_EXAMPLE);
        let source = stub_source(&functions);
        for function in functions {
            assert_eq!(source.matches(&format!("int {function}(")).count(), 1);
        }
    }
}
