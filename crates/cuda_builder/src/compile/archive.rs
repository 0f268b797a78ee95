//! Reads the LLVM bitcode members of an `.rlib`.
//!
//! An `.rlib` is an `ar` archive. For the nvptx64 target, its object members are plain LLVM bitcode; the other
//! members (symbol table, long names, metadata) are skipped.

const MAGIC: &[u8] = b"!<arch>\n";
const HEADER_LENGTH: usize = 60;
/// The place of a member's decimal size in its header.
const SIZE_FIELD: std::ops::Range<usize> = 48..58;
const BITCODE_MAGIC: &[u8] = b"BC\xC0\xDE";

/// Returns the content of each bitcode member in archive order; `None` if `archive` is not a well-formed `ar`
/// archive.
pub(crate) fn bitcode_members(archive: &[u8]) -> Option<Vec<&[u8]>> {
    let mut rest = archive.strip_prefix(MAGIC)?;
    let mut members = Vec::new();
    while !rest.is_empty() {
        let header = rest.get(..HEADER_LENGTH)?;
        let size: usize = std::str::from_utf8(&header[SIZE_FIELD])
            .ok()?
            .trim()
            .parse()
            .ok()?;
        let end = HEADER_LENGTH.checked_add(size)?;
        let content = rest.get(HEADER_LENGTH..end)?;
        if content.starts_with(BITCODE_MAGIC) {
            members.push(content);
        }
        // Members start at even offsets; the last one may lack its padding byte.
        rest = rest.get(end + size % 2..).unwrap_or_default();
    }
    Some(members)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn archive(members: &[&[u8]]) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        for content in members {
            let header = format!("{:<48}{:<10}`\n", "name.o/", content.len());
            bytes.extend_from_slice(header.as_bytes());
            bytes.extend_from_slice(content);
            if content.len() % 2 == 1 {
                bytes.push(b'\n');
            }
        }
        bytes
    }

    #[test]
    fn keeps_bitcode_and_skips_the_rest() {
        let bytes = archive(&[b"rust metadata", b"BC\xC0\xDEone", b"BC\xC0\xDEtwo!"]);
        let expected: [&[u8]; 2] = [b"BC\xC0\xDEone", b"BC\xC0\xDEtwo!"];
        assert_eq!(bitcode_members(&bytes).unwrap(), expected);
    }

    #[test]
    fn rejects_what_is_not_an_archive() {
        assert_eq!(bitcode_members(b"BC\xC0\xDE"), None);
        let mut truncated = archive(&[b"BC\xC0\xDEone"]);
        truncated.truncate(70);
        assert_eq!(bitcode_members(&truncated), None);
    }
}
