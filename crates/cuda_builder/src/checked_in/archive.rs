//! The modules in one compressed file.
//!
//! Kernels of one crate repeat one another, across types and architectures alike. One LZMA stream over all of them,
//! whose dictionary reaches back over the whole text, with registers by [how recently they were used](super::names),
//! takes a fiftieth of the text.

use super::error::CheckedInError;
use super::manifest::{ARCHIVE, Manifest, ManifestModule, read};
use super::names;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// The most memory that unpacking may take, in KiB: twice the largest dictionary that `pack` uses.
const MEMORY_LIMIT: u32 = 2 * 64 * 1024;

/// The most bytes that are reserved for the text, by the lengths that the manifest claims.
const MOST_RESERVED: usize = 64 << 20;

/// The file in a folder of unpacked modules that names the archive they come from.
const MARK: &str = "ARCHIVE";

/// Compresses the texts, one after the other.
#[cfg(feature = "compile")]
pub(super) fn pack(text: &[u8]) -> std::io::Result<Vec<u8>> {
    use lzma_rust2::{LzmaOptions, LzmaWriter};
    use std::io::{self, Write as _};

    let whole = text;
    let text = names::shorten(whole);
    if names::restore(&text) != whole {
        let message = "the PTX has numbered names that its archive cannot hold";
        return Err(io::Error::new(io::ErrorKind::InvalidData, message));
    }
    let mut options = LzmaOptions::with_preset(9);
    // No larger than the text needs, as both sides allocate it. Other tools read powers of two alone.
    let length = u32::try_from(text.len()).unwrap_or(u32::MAX);
    if let Some(enough) = length.max(4096).checked_next_power_of_two() {
        options.dict_size = options.dict_size.min(enough);
    }
    let mut writer = LzmaWriter::new_use_header(Vec::new(), &options, Some(text.len() as u64))?;
    writer.write_all(&text)?;
    writer.finish()
}

/// Writes the modules of the checked-in `folder` as `<module>.<arch>.ptx` into `to`, unless they are there, and
/// returns their files in the order of the manifest. Other files in `to` stay.
///
/// # Errors
/// [`CheckedInError::ChangedArchive`] if the archive is not the one that the manifest describes;
/// [`CheckedInError::Malformed`] or [`CheckedInError::Io`] if a file cannot be read or written.
pub fn unpack(folder: &Path, to: &Path) -> Result<Vec<PathBuf>, CheckedInError> {
    Manifest::read(folder)?.unpack(to)
}

impl Manifest {
    /// As the function of this name.
    pub(super) fn unpack(&self, to: &Path) -> Result<Vec<PathBuf>, CheckedInError> {
        let files = || self.modules.iter().map(|module| to.join(module.file()));
        let mark = to.join(MARK);
        let is_unpacked = fs::read_to_string(&mark).is_ok_and(|it| it == self.archive_hash)
            && files().all(|file| file.is_file());
        if !is_unpacked {
            let at = |path: &Path| {
                let path = path.to_owned();
                move |source| CheckedInError::Io { path, source }
            };
            self.verify_archive()?;
            let text = self.unpacked_text()?;
            fs::create_dir_all(to).map_err(at(to))?;
            let mut rest = text.as_slice();
            for module in &self.modules {
                let (ptx, following) =
                    (rest.split_at_checked(module.bytes)).ok_or_else(|| self.changed_archive())?;
                let file = to.join(module.file());
                fs::write(&file, ptx).map_err(at(&file))?;
                rest = following;
            }
            // Last: an interrupted run starts again.
            fs::write(&mark, &self.archive_hash).map_err(at(&mark))?;
        }
        Ok(files().collect())
    }

    /// The texts of all modules, one after the other.
    fn unpacked_text(&self) -> Result<Vec<u8>, CheckedInError> {
        let path = self.folder.join(ARCHIVE);
        let packed = read(&path)?;
        let lengths = self.modules.iter().map(|it| it.bytes);
        // Lengths that no text has are found when it is divided.
        let length = lengths.fold(0, usize::saturating_add).min(MOST_RESERVED);
        let mut text = Vec::with_capacity(length);
        lzma_rust2::LzmaReader::new_mem_limit(packed.as_slice(), MEMORY_LIMIT, None)
            .and_then(|mut reader| reader.read_to_end(&mut text))
            .map_err(|source| CheckedInError::Io { path, source })?;
        Ok(names::restore(&text))
    }
}

impl ManifestModule {
    /// The name of the file of its PTX.
    pub(super) fn file(&self) -> String {
        format!("{}.{}.ptx", self.name, self.arch)
    }
}
