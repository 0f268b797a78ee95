//! The checked-in PTX.

use crate::Result;
use crate::targets::{architectures_of, targets_of};
use cuda_builder::checked_in;
use hmac_sha256::Hash;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// The folders of the checked-in PTX, relative to the root of the workspace: the library's, the
/// ladders', and that of the ladder of tensor cores.
pub const FOLDERS: [&str; 3] = ["ptx", "ladder/ptx", "ladder/tensor_ptx"];

/// A checked-in module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    /// One of [`FOLDERS`].
    pub folder: &'static str,
    /// The unpacked file.
    pub path: PathBuf,
}

/// The checked-in modules below `root` for an architecture such as `sm_80`, sorted.
///
/// They are unpacked into `target/checked_in`.
///
/// # Errors
/// A folder cannot be read.
pub fn modules(root: &Path, arch: &str) -> Result<Vec<Module>> {
    let end = format!(".{arch}.ptx");
    let mut modules = Vec::new();
    for folder in FOLDERS {
        let first = modules.len();
        let of_arch = (unpacked(root, folder)?.into_iter())
            .filter(|path| path.to_string_lossy().ends_with(&end));
        modules.extend(of_arch.map(|path| Module { folder, path }));
        modules[first..].sort_by(|left, right| left.path.cmp(&right.path));
    }
    Ok(modules)
}

/// The files of the modules in one of [`FOLDERS`] below `root`, unpacked into `target/checked_in`.
///
/// # Errors
/// The folder cannot be read or unpacked.
pub fn unpacked(root: &Path, folder: &str) -> Result<Vec<PathBuf>> {
    let to = root.join("target/checked_in").join(folder);
    checked_in::unpack(&root.join(folder), &to).map_err(|error| error.to_string())
}

/// The checked-in modules below `root` that are assembled for a target such as `sm_86`: for each kernel that of the
/// nearest architecture.
///
/// # Errors
/// A folder cannot be read.
pub fn modules_for(root: &Path, target: &str) -> Result<Vec<Module>> {
    let mut modules_by_name = BTreeMap::new();
    for arch in architectures_of(target) {
        for module in modules(root, arch)? {
            let name = module.path.with_extension("").with_extension("");
            modules_by_name
                .entry((module.folder, name))
                .or_insert(module);
        }
    }
    Ok(modules_by_name.into_values().collect())
}

/// The module below `root` that a GPU of this compute capability gets for a kernel, and the target for which it is
/// assembled: the module of its own architecture, or else of the nearest older one; none where there is no such
/// kernel for it.
///
/// # Errors
/// A file or folder cannot be read.
pub fn module_of(
    root: &Path,
    kernel: &str,
    compute_capability: (u32, u32),
) -> Result<Option<(Module, String)>> {
    let entry = format!(".entry {kernel}(");
    for target in targets_of(compute_capability) {
        for module in modules_for(root, &target)? {
            if read(fs::read_to_string, &module.path)?.contains(&entry) {
                return Ok(Some((module, target)));
            }
        }
    }
    Ok(None)
}

/// A fingerprint of the checked-in PTX below `root`: 16 hexadecimal digits, of what the manifests
/// say of the modules. It does not depend on the sources, of which many changes leave the PTX as it
/// is.
///
/// # Errors
/// A manifest cannot be read.
pub fn fingerprint(root: &Path) -> Result<String> {
    let mut hash = Hash::new();
    for folder in FOLDERS {
        let manifest = read(fs::read_to_string, &root.join(folder).join("MANIFEST"))?;
        for module in manifest.lines().filter(|line| line.starts_with("module ")) {
            hash.update(module);
            hash.update("\n");
        }
    }
    let digits = hash.finalize();
    Ok(digits[..8].iter().map(|it| format!("{it:02x}")).collect())
}

/// Reads a file or folder; the error has its path.
fn read<T>(how: impl Fn(PathBuf) -> io::Result<T>, path: &Path) -> Result<T> {
    how(path.to_owned()).map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lzma_rust2::{LzmaOptions, LzmaWriter};
    use std::io::Write as _;

    /// A root with the modules of one kernel for two architectures.
    fn root() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for folder in FOLDERS {
            check_in(root.path(), folder, &[]);
        }
        check_in(root.path(), "ladder/ptx", &["k.sm_80", "k.sm_90a"]);
        root
    }

    /// Writes an archive of modules, each of which has the entry `k` alone.
    fn check_in(root: &Path, folder: &str, modules: &[&str]) {
        const PTX: &str = ".visible .entry k(\n)";
        let folder = root.join(folder);
        fs::create_dir_all(&folder).unwrap();
        let text = PTX.repeat(modules.len());
        let archive = Vec::new();
        let options = LzmaOptions::with_preset(0);
        let mut writer =
            LzmaWriter::new_use_header(archive, &options, Some(text.len() as u64)).unwrap();
        writer.write_all(text.as_bytes()).unwrap();
        let archive = writer.finish().unwrap();
        let digits = Hash::hash(&archive).map(|byte| format!("{byte:02x}"));
        let mut manifest = format!("archive {}\n", digits.concat());
        for module in modules {
            let (name, arch) = module.split_once('.').unwrap();
            manifest += &format!("module {arch} {name} {} 0\n", PTX.len());
        }
        fs::write(folder.join("modules.lzma"), archive).unwrap();
        fs::write(folder.join("MANIFEST"), manifest).unwrap();
    }

    #[test]
    fn a_gpu_gets_the_module_of_its_own_architecture_or_of_an_older_one() {
        let root = root();
        let arch = |compute_capability| {
            let (module, target) = module_of(root.path(), "k", compute_capability).unwrap()?;
            assert_eq!(module.folder, "ladder/ptx");
            let file = module.path.file_name()?.to_str()?;
            Some(format!("{file} for {target}"))
        };
        assert_eq!(arch((9, 0)).as_deref(), Some("k.sm_90a.ptx for sm_90a"));
        assert_eq!(arch((12, 0)).as_deref(), Some("k.sm_80.ptx for sm_120"));
        assert_eq!(arch((7, 5)), None);
        assert_eq!(module_of(root.path(), "l", (9, 0)).unwrap(), None);
    }

    #[test]
    fn a_gpu_loads_the_nearest_module_of_each_kernel() {
        let root = root();
        check_in(
            root.path(),
            "ptx",
            &["sum.sm_75", "sum.sm_80", "scan.sm_75"],
        );
        let files = |target| {
            let modules = modules_for(root.path(), target).unwrap();
            let unpacked = root.path().join("target/checked_in");
            let relative = |it: Module| it.path.strip_prefix(&unpacked).unwrap().to_owned();
            modules.into_iter().map(relative).collect::<Vec<_>>()
        };
        let on_86 = [
            "ladder/ptx/k.sm_80.ptx",
            "ptx/scan.sm_75.ptx",
            "ptx/sum.sm_80.ptx",
        ];
        assert_eq!(files("sm_86"), on_86.map(PathBuf::from));
        let on_75 = ["ptx/scan.sm_75.ptx", "ptx/sum.sm_75.ptx"];
        assert_eq!(files("sm_75"), on_75.map(PathBuf::from));
        assert_eq!(files("sm_90a"), [PathBuf::from("ladder/ptx/k.sm_90a.ptx")]);
    }

    #[test]
    fn the_fingerprint_is_that_of_the_modules_alone() {
        let root = root();
        let first = fingerprint(root.path()).unwrap();
        let manifest = root.path().join("ladder/ptx/MANIFEST");
        let text = fs::read_to_string(&manifest).unwrap();
        fs::write(&manifest, format!("source kernels 2\n{text}")).unwrap();
        assert_eq!(fingerprint(root.path()).unwrap(), first);
        check_in(root.path(), "ptx", &["k.sm_80"]);
        assert_ne!(fingerprint(root.path()).unwrap(), first);
    }
}
