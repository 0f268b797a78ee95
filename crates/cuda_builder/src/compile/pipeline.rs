//! From the bitcode of crates to PTX: link, rewrite, optimise, split, generate code.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::thread;

use crate::arch::Arch;
use crate::compile::archive::bitcode_members;
use crate::compile::cargo::CompiledCrates;
use crate::compile::files::{read, recreate_folder, write};
use crate::compile::ir::{self, Prepared, Splitter};
use crate::compile::process::run_for_output;
use crate::compile::toolchain::Toolchain;
use crate::error::BuildError;

/// The functions that kernels call to name address spaces.
const PRELUDE: &str = include_str!("prelude.ll");

/// One crate's way from bitcode to PTX. Each step leaves its result in `work_dir`.
pub(crate) struct Pipeline<'a> {
    pub(crate) toolchain: &'a Toolchain,
    pub(crate) arch: Arch,
    pub(crate) unroll_threshold: u32,
    pub(crate) one_module_per_kernel: bool,
    /// Whether the PTX has source lines.
    pub(crate) line_information: bool,
    /// Whether only the kernels that state the architecture are compiled.
    pub(crate) where_stated: bool,
    pub(crate) work_dir: &'a Path,
}

/// A finished module.
#[derive(Clone)]
pub(crate) struct Module {
    /// The name of the crate, or of the kernel if the module is for one kernel.
    pub(crate) name: String,
    pub(crate) ptx: String,
    pub(crate) kernels: Vec<String>,
}

/// A module for LLVM's code generator.
struct Unit {
    name: String,
    ir: String,
    kernels: Vec<String>,
}

impl Pipeline<'_> {
    /// Returns the modules, sorted by name.
    pub(crate) fn run(&self, crates: &CompiledCrates) -> Result<Vec<Module>, BuildError> {
        recreate_folder(self.work_dir)?;
        let linked = self.link(crates)?;
        let mut prepared = ir::prepare(&ir::for_architecture(&read(&linked)?, self.arch))?;
        if self.where_stated {
            prepared.keep_kernels_that_state(self.arch.name());
        }
        let optimised = read(&self.optimise(&prepared)?)?;
        let symbols = ir::undefined_symbols(&optimised);
        if !symbols.is_empty() {
            let arch = self.arch;
            return Err(BuildError::UndefinedSymbols { arch, symbols });
        }
        let units = if self.one_module_per_kernel {
            units_of_kernels(&optimised, prepared.kernels)?
        } else {
            vec![Unit {
                name: crates.crate_name.clone(),
                ir: ir::finish(&optimised),
                kernels: prepared.kernels,
            }]
        };
        self.generate_all(units)
    }

    /// Links the kernel crate with the parts of its dependencies that it needs.
    fn link(&self, crates: &CompiledCrates) -> Result<PathBuf, BuildError> {
        let kernels = self.extract_bitcode(std::slice::from_ref(&crates.kernels), "kernels")?;
        let dependencies = self.extract_bitcode(&crates.dependencies, "dependency")?;
        // All dependencies are joined first, so that one step resolves references in both directions, such as those
        // of core to the panic handler.
        let all_dependencies = self.file("dependencies.bc");
        let mut command = self.tool("llvm-link");
        command.args(dependencies).arg("-o").arg(&all_dependencies);
        run_for_output(&mut command)?;

        let prelude = self.file("prelude.ll");
        write(&prelude, PRELUDE)?;
        let linked = self.file("linked.ll");
        let mut command = self.tool("llvm-link");
        command
            .args(kernels)
            .args(["--only-needed", "-S"])
            .args([&all_dependencies, &prelude])
            .arg("-o")
            .arg(&linked);
        run_for_output(&mut command)?;
        Ok(linked)
    }

    fn extract_bitcode(
        &self,
        libraries: &[PathBuf],
        stem: &str,
    ) -> Result<Vec<PathBuf>, BuildError> {
        let mut files = Vec::new();
        for library in libraries {
            let archive = fs::read(library).map_err(BuildError::io("read", library))?;
            let members = bitcode_members(&archive).ok_or_else(|| BuildError::UnexpectedIr {
                reason: "a compiled crate is not an `ar` archive".to_owned(),
                line: library.display().to_string(),
            })?;
            for member in members {
                let file = self.file(&format!("{stem}-{:03}.bc", files.len()));
                write(&file, member)?;
                files.push(file);
            }
        }
        Ok(files)
    }

    fn optimise(&self, prepared: &Prepared) -> Result<PathBuf, BuildError> {
        let input = self.file("prepared.ll");
        write(&input, &prepared.ir)?;
        let public_symbols = self.file("public_symbols.txt");
        write(&public_symbols, prepared.public_symbols.join("\n"))?;
        let output = self.file("optimised.ll");
        let mut command = self.tool("opt");
        command
            .args(["-passes=internalize,globaldce,default<O3>,globaldce,strip-dead-prototypes"])
            .arg(format!("-mcpu={}", self.arch))
            .arg(format!("-unroll-threshold={}", self.unroll_threshold))
            .arg(format!(
                "-internalize-public-api-file={}",
                public_symbols.display()
            ))
            .arg("-S")
            .arg(&input)
            .arg("-o")
            .arg(&output);
        if !self.line_information {
            command.arg("-strip-debug");
        }
        run_for_output(&mut command)?;
        Ok(output)
    }

    /// Generates code on all processors, because a crate can have many modules.
    fn generate_all(&self, units: Vec<Unit>) -> Result<Vec<Module>, BuildError> {
        let threads = thread::available_parallelism().map_or(1, usize::from);
        let queue = Mutex::new(units.into_iter());
        let next = || queue.lock().expect("no thread panics with it").next();
        let work = || -> Result<Vec<Module>, BuildError> {
            std::iter::from_fn(next)
                .map(|unit| self.generate_code(unit))
                .collect()
        };
        let mut modules = thread::scope(|scope| {
            let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
            workers
                .into_iter()
                .map(|worker| worker.join().expect("code generation returns errors"))
                .collect::<Result<Vec<_>, _>>()
        })?
        .concat();
        modules.sort_by(|left, right| left.name.cmp(&right.name));
        Ok(modules)
    }

    fn generate_code(&self, unit: Unit) -> Result<Module, BuildError> {
        let input = self.file(&format!("{}.finished.ll", unit.name));
        write(&input, unit.ir)?;
        let output = self.file(&format!("{}.ptx", unit.name));
        let mut command = self.tool("llc");
        command
            // Verbose comments contain names of inlined functions, which contain hashes.
            .args(["-O3", "-asm-verbose=0"])
            .arg(format!("-mcpu={}", self.arch))
            .args(self.arch.ptx_feature().map(|it| format!("-mattr={it}")))
            .arg(&input)
            .arg("-o")
            .arg(&output);
        run_for_output(&mut command)?;
        Ok(Module {
            name: unit.name,
            ptx: read(&output)?,
            kernels: unit.kernels,
        })
    }

    fn tool(&self, name: &str) -> Command {
        Command::new(self.toolchain.llvm_tool(name))
    }

    fn file(&self, name: &str) -> PathBuf {
        self.work_dir.join(name)
    }
}

/// Splits the module after optimisation, so that a kernel's code is the same in either form.
fn units_of_kernels(optimised: &str, kernels: Vec<String>) -> Result<Vec<Unit>, BuildError> {
    let splitter = Splitter::new(optimised);
    splitter.check_nothing_is_shared(&kernels)?;
    let unit = |kernel: String| {
        Ok(Unit {
            ir: ir::finish(&splitter.module_of(&kernel)?),
            kernels: vec![kernel.clone()],
            name: kernel,
        })
    };
    kernels.into_iter().map(unit).collect()
}
