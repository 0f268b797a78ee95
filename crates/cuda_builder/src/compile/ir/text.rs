//! Reads one line of LLVM's textual IR.

/// A piece of a line. The pieces of a line, joined, are the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    /// The name of a function or global variable with its `@`, such as `@main` or `@"a b"`.
    Global(&'a str),
    /// A string or a quoted local name, with its quotes.
    Quoted(&'a str),
    /// A comment, with its `;`.
    Comment(&'a str),
    /// Anything else.
    Code(&'a str),
}

impl<'a> Piece<'a> {
    pub(super) fn as_str(self) -> &'a str {
        match self {
            Piece::Global(text)
            | Piece::Quoted(text)
            | Piece::Comment(text)
            | Piece::Code(text) => text,
        }
    }
}

/// Splits a line into its pieces.
pub(super) fn pieces(line: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = line;
    std::iter::from_fn(move || {
        let piece = first_piece(rest)?;
        rest = &rest[piece.as_str().len()..];
        Some(piece)
    })
}

fn first_piece(text: &str) -> Option<Piece<'_>> {
    Some(match text.as_bytes().first()? {
        b'@' => Piece::Global(&text[..1 + name_length(&text[1..])]),
        b'"' => Piece::Quoted(&text[..quoted_length(text)]),
        b';' => Piece::Comment(text),
        _ => Piece::Code(&text[..length_until(text, |byte| matches!(byte, b'@' | b'"' | b';'))]),
    })
}

fn name_length(text: &str) -> usize {
    if text.starts_with('"') {
        return quoted_length(text);
    }
    let is_of_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-$._".contains(&byte);
    length_until(text, |byte| !is_of_name(byte))
}

/// The bytes before the first for which `is_end` is true of an ASCII character, or all. Hundreds of megabytes are read, so
/// no characters are decoded.
fn length_until(text: &str, is_end: impl Fn(u8) -> bool) -> usize {
    let end = text.bytes().position(is_end);
    end.unwrap_or(text.len())
}

/// The length of the string that `text` starts with. LLVM writes a quote in a string as `\22`.
fn quoted_length(text: &str) -> usize {
    text[1..].find('"').map_or(text.len(), |end| end + 2)
}

/// The first function or global variable named in `line`, with its `@`.
pub(super) fn first_global(line: &str) -> Option<&str> {
    pieces(line).find_map(|piece| match piece {
        Piece::Global(name) => Some(name),
        _ => None,
    })
}

/// The numbered nodes of metadata that are named in a piece of code, such as `!12`.
pub(super) fn metadata_nodes(code: &str) -> impl Iterator<Item = &str> {
    let marks = code.match_indices('!').map(|(start, _)| &code[start..]);
    marks.filter_map(|node| {
        let digits = node[1..].bytes().take_while(u8::is_ascii_digit).count();
        (digits > 0).then(|| &node[..1 + digits])
    })
}

/// The names of functions and variables and the numbered nodes of metadata in `line`.
pub(super) fn names(line: &str) -> impl Iterator<Item = &str> {
    pieces(line).flat_map(|piece| {
        let (global, code) = match piece {
            Piece::Global(name) => (Some(name), ""),
            Piece::Code(code) => (None, code),
            Piece::Quoted(_) | Piece::Comment(_) => (None, ""),
        };
        global.into_iter().chain(metadata_nodes(code))
    })
}

/// A global's name without `@` and quotes.
pub(super) fn bare_name(global: &str) -> &str {
    global.trim_start_matches('@').trim_matches('"')
}

/// Replaces each global for which `replacement` returns a text.
pub(super) fn replace_globals<'a>(
    line: &str,
    replacement: impl Fn(&str) -> Option<&'a str>,
) -> String {
    pieces(line)
        .map(|piece| match piece {
            Piece::Global(name) => replacement(name).unwrap_or(name),
            other => other.as_str(),
        })
        .collect()
}

/// The byte offset of `needle` in `line` outside strings, names and comments.
pub(super) fn find_code(line: &str, needle: &str) -> Option<usize> {
    let mut offset = 0;
    for piece in pieces(line) {
        if let Piece::Code(code) = piece
            && let Some(position) = code.find(needle)
        {
            return Some(offset + position);
        }
        offset += piece.as_str().len();
    }
    None
}

/// The offset just after the bracket that closes the one at the start of `text`.
pub(super) fn bracketed_length(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (offset, byte) in code_bytes(text) {
        match byte {
            b'(' | b'[' | b'{' | b'<' => depth += 1,
            b')' | b']' | b'}' | b'>' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return Some(offset + 1);
        }
    }
    None
}

/// Splits at commas outside all brackets and strings, and trims the parts. An empty text has no parts.
pub(super) fn split_at_commas(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    let mut depth = 0_usize;
    for (offset, byte) in code_bytes(text) {
        match byte {
            b'(' | b'[' | b'{' | b'<' => depth += 1,
            b')' | b']' | b'}' | b'>' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => {
                parts.push(text[start..offset].trim());
                start = offset + 1;
            }
            _ => {}
        }
    }
    let last = text[start..].trim();
    if !last.is_empty() || !parts.is_empty() {
        parts.push(last);
    }
    parts
}

/// The bytes outside strings, names and comments, with their offsets.
fn code_bytes(text: &str) -> impl Iterator<Item = (usize, u8)> {
    let mut offset = 0;
    pieces(text).flat_map(move |piece| {
        let start = offset;
        offset += piece.as_str().len();
        let code = match piece {
            Piece::Code(code) => code,
            _ => "",
        };
        code.bytes()
            .enumerate()
            .map(move |(index, byte)| (start + index, byte))
    })
}

/// Decodes the inside of a `c"..."` string, in which `\XX` is a byte.
pub(super) fn decode_string(escaped: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(escaped.len());
    let mut rest = escaped.as_bytes();
    while let Some((&byte, tail)) = rest.split_first() {
        if byte != b'\\' {
            bytes.push(byte);
            rest = tail;
        } else if tail.first() == Some(&b'\\') {
            bytes.push(b'\\');
            rest = &tail[1..];
        } else {
            let digits = std::str::from_utf8(tail.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &tail[2..];
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_nodes_of_metadata_are_found() {
        let found = |line| names(line).collect::<Vec<_>>();
        assert_eq!(
            found("  %3 = load i32, ptr %2, align 4, !range !71, !noundef !3, !x.y !4 ; !5"),
            ["!71", "!3", "!4"]
        );
        assert_eq!(
            found("!7 = distinct !{!7, !8, !\"!9\"}"),
            ["!7", "!7", "!8"]
        );
        assert_eq!(found("call void @f(), !dbg !9 ; @g"), ["@f", "!9"]);
    }

    #[test]
    fn pieces_know_strings_names_and_comments() {
        let line = r#"call void @"a;b"(ptr @x.1, i8 c"@y;\22") ; @z"#;
        let found: Vec<Piece<'_>> = pieces(line).collect();
        let globals: Vec<&str> = found
            .iter()
            .filter_map(|piece| match piece {
                Piece::Global(name) => Some(*name),
                _ => None,
            })
            .collect();
        assert_eq!(globals, [r#"@"a;b""#, "@x.1"]);
        assert_eq!(found.last(), Some(&Piece::Comment("; @z")));
        let whole: String = found.iter().map(|piece| piece.as_str()).collect();
        assert_eq!(whole, line);
    }

    #[test]
    fn globals_are_replaced_outside_strings_only() {
        let line = r#"store ptr @a, ptr @ab, !x !{!"@a"} ; @a"#;
        let replaced = replace_globals(line, |name| (name == "@a").then_some("NEW"));
        assert_eq!(replaced, r#"store ptr NEW, ptr @ab, !x !{!"@a"} ; @a"#);
    }

    #[test]
    fn brackets_and_commas_nest() {
        assert_eq!(bracketed_length("(a, (b), \")\") rest"), Some(13));
        assert_eq!(bracketed_length("<{ [2 x i8] }> c"), Some(14));
        assert_eq!(bracketed_length("(("), None);
        assert_eq!(
            split_at_commas("ptr %a, [2 x { i8, i8 }] %b"),
            ["ptr %a", "[2 x { i8, i8 }] %b"]
        );
        assert_eq!(split_at_commas(""), [""; 0]);
    }

    #[test]
    fn strings_are_decoded() {
        assert_eq!(decode_string(r"a\00\22\\b").unwrap(), b"a\0\"\\b");
        assert_eq!(decode_string(r"a\0"), None);
    }
}
