//! Cargo's reports of the crates that it has compiled.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use tinyjson::JsonValue;

use super::json::Fields as _;
use crate::checked_in::LinkedPackage;
use crate::compile::toolchain::TARGET;

/// A package whose sources may be edited.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LocalPackage {
    pub(crate) manifest: PathBuf,
    pub(crate) source_folder: PathBuf,
}

/// One library or program that cargo reports.
#[derive(Debug)]
pub(super) struct Artifact {
    package_id: String,
    pub(super) manifest: PathBuf,
    pub(super) name: String,
    source: PathBuf,
    files: Vec<PathBuf>,
    pub(super) is_local: bool,
    pub(super) is_library: bool,
}

impl Artifact {
    pub(super) fn from_message(message: &JsonValue) -> Option<Artifact> {
        if message.text("reason")? != "compiler-artifact" {
            return None;
        }
        let target = message.field("target")?;
        let package_id = message.text("package_id")?.to_owned();
        let build_script = JsonValue::from("custom-build".to_owned());
        let files = message.list("filenames")?.iter();
        Some(Artifact {
            is_local: package_id.starts_with("path+"),
            is_library: !target.list("kind")?.contains(&build_script),
            manifest: message.text("manifest_path")?.into(),
            name: target.text("name")?.replace('-', "_"),
            source: target.text("src_path")?.into(),
            files: files
                .filter_map(|file| file.get::<String>())
                .map(PathBuf::from)
                .collect(),
            package_id,
        })
    }

    /// The `.rlib` with the crate's bitcode; `None` for host crates, such as procedural macros and their
    /// dependencies.
    ///
    /// For the kernel crate itself, cargo names a copy that all architectures share and that the next run replaces.
    /// This architecture's own file is beside its metadata.
    pub(super) fn device_library(&self) -> Option<PathBuf> {
        let for_device = |file: &&PathBuf| file.components().any(|part| part.as_os_str() == TARGET);
        let of_kind = |kind: &str| {
            let mut files = self.files.iter().filter(for_device);
            files.find(|file| file.extension() == Some(OsStr::new(kind)))
        };
        let named = of_kind("rlib")?;
        let own = of_kind("rmeta").map(|metadata| metadata.with_extension("rlib"));
        Some(
            own.filter(|it| it.exists())
                .unwrap_or_else(|| named.clone()),
        )
    }

    /// Orders crates by name and version; the rest of a package id is a path or an address.
    pub(super) fn sort_key(&self) -> (String, String) {
        let version = self.package_id.rsplit(['#', '@']).next().unwrap_or("");
        (self.name.clone(), version.to_owned())
    }

    /// The package, if it is from a registry, whose ids have the form `<registry>#<name>@<version>`.
    pub(super) fn linked_package(&self) -> Option<LinkedPackage> {
        let (_, package) = self.package_id.split_once('#')?;
        let (name, version) = package.split_once('@')?;
        (!self.is_local).then(|| LinkedPackage {
            name: name.to_owned(),
            version: version.to_owned(),
        })
    }

    pub(super) fn local_package(&self) -> LocalPackage {
        LocalPackage {
            manifest: self.manifest.clone(),
            source_folder: self.source.parent().unwrap_or(Path::new("/")).to_owned(),
        }
    }
}
