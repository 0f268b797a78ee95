//! Numbered names of PTX, `%r17` and `$L__BB0_17`, written so that equal code has equal text.
//!
//! LLVM numbers the registers and labels of each function anew, so the same code has other numbers in each kernel. A
//! number that its function has used is replaced by how many others of its class were used since, plus one. The
//! first use of a number has a sign: it is the difference from the number that was new before it.
//!
//! ```text
//! mul.wide.u32 %rd44, %r1, 8;      mul.wide.u32 %rd+2, %r3, 8;
//! add.s64 %rd13, %rd12, %rd44;     add.s64 %rd-31, %rd4, %rd3;
//! ```

/// How a number is written in the text at hand.
type Rewrite = fn(&mut Class, &[u8], &mut Vec<u8>) -> Option<usize>;

/// The numbers that a function has used with one prefix, such as `%rd` or `$L__BB0_`.
struct Class {
    prefix: Vec<u8>,
    /// The most recently used last.
    numbers: Vec<u32>,
    /// The number that was new last.
    newest: u32,
}

impl Class {
    fn new(prefix: &[u8]) -> Self {
        Self {
            prefix: prefix.to_vec(),
            numbers: Vec::new(),
            newest: 0,
        }
    }

    /// Makes a number that is not among `numbers` the most recent.
    fn insert(&mut self, number: u32) {
        self.numbers.push(number);
        self.newest = number;
    }

    /// Makes the number with `since` others behind it the most recent.
    fn refresh(&mut self, since: usize) -> Option<u32> {
        let index = self.numbers.len().checked_sub(since + 1)?;
        let number = self.numbers.remove(index);
        self.numbers.push(number);
        Some(number)
    }
}

/// The text with each number replaced. [`restore`] is its inverse for what compilers emit; [`super::archive`] checks.
#[cfg(feature = "compile")]
pub(super) fn shorten(text: &[u8]) -> Vec<u8> {
    rewrite(text, |class, rest, out| {
        let (number, length) = number(rest)?;
        match class.numbers.iter().rev().position(|it| *it == number) {
            Some(since) => {
                class.refresh(since)?;
                out.extend_from_slice((since + 1).to_string().as_bytes());
            }
            None => {
                let difference = i64::from(number) - i64::from(class.newest);
                class.insert(number);
                out.extend_from_slice(format!("{difference:+}").as_bytes());
            }
        }
        Some(length)
    })
}

/// The text that [`shorten`] was given.
pub(super) fn restore(text: &[u8]) -> Vec<u8> {
    rewrite(text, |class, rest, out| {
        let (restored, length) = match rest.first()? {
            sign @ (b'+' | b'-') => {
                let (difference, length) = number(&rest[1..])?;
                let restored = match sign {
                    b'+' => class.newest.checked_add(difference)?,
                    _ => class.newest.checked_sub(difference)?,
                };
                class.insert(restored);
                (restored, length + 1)
            }
            _ => {
                let (position, length) = number(rest)?;
                let since = usize::try_from(position).ok()?.checked_sub(1)?;
                (class.refresh(since)?, length)
            }
        };
        out.extend_from_slice(restored.to_string().as_bytes());
        Some(length)
    })
}

/// Copies `text`, with what `rewrite` writes in place of the bytes behind each prefix that it takes.
///
/// Loops and indices are plain, because build scripts are compiled without optimisation.
fn rewrite(text: &[u8], rewrite: Rewrite) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() + text.len() / 4);
    let mut classes: Vec<Class> = Vec::new();
    let mut copied = 0;
    let mut at = 0;
    while at < text.len() {
        match text[at] {
            // A function begins.
            b'{' if at == 0 || text[at - 1] == b'\n' => classes.clear(),
            b'%' | b'$' => {
                let behind = at + prefix_length(&text[at..]);
                let prefix = &text[at..behind];
                let index =
                    (classes.iter().position(|it| it.prefix == prefix)).unwrap_or_else(|| {
                        classes.push(Class::new(prefix));
                        classes.len() - 1
                    });
                out.extend_from_slice(&text[copied..behind]);
                let length =
                    rewrite(&mut classes[index], &text[behind..], &mut out).unwrap_or_default();
                copied = behind + length;
                at = copied;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    out.extend_from_slice(&text[copied..]);
    out
}

/// The length of the prefix at the start of `text`: `%` and letters, or `$` and all up to the last underscore.
fn prefix_length(text: &[u8]) -> usize {
    let is_register = text[0] == b'%';
    let mut length = 1;
    let mut at = 1;
    while at < text.len() {
        let byte = text[at];
        let is_name = byte.is_ascii_alphanumeric() || byte == b'_';
        if !is_name || is_register && !byte.is_ascii_alphabetic() {
            break;
        }
        at += 1;
        if is_register || byte == b'_' {
            length = at;
        }
    }
    length
}

/// The decimal number at the start of `text`, and its digits.
fn number(text: &[u8]) -> Option<(u32, usize)> {
    let mut value: u32 = 0;
    let mut length = 0;
    while length < text.len() && text[length].is_ascii_digit() {
        let digit = u32::from(text[length] - b'0');
        value = value.checked_mul(10)?.checked_add(digit)?;
        length += 1;
    }
    (length > 0).then_some((value, length))
}

#[cfg(all(test, feature = "compile"))]
mod tests {
    use super::*;

    const FUNCTION: &str = "{\n\t.reg .b64 \t%rd<98>;\n\tmul.wide.u32 \t%rd44, %r1, 8;\n\tadd.s64 \t%rd13, %rd12, %rd44;\n\
        \t@%p1 bra \t$L__BB0_40;\n\tmov.u32 \t%r2, %tid.x;\n$L__BB0_40:\n\tld.b64 \t%rd12, [%rd13+8];\n}\n";

    #[test]
    fn a_text_is_restored() {
        let text = format!("{FUNCTION}// 50%\n$\n%{FUNCTION}%r99999999999 %$");
        let short = shorten(text.as_bytes());
        assert_eq!(String::from_utf8(restore(&short)).unwrap(), text);
    }

    #[test]
    fn equal_code_has_equal_text() {
        let other = FUNCTION.replace("44", "45").replace("BB0_40", "BB0_41");
        let (one, other) = (shorten(FUNCTION.as_bytes()), shorten(other.as_bytes()));
        let last = |text: &[u8]| {
            let text = String::from_utf8_lossy(text).into_owned();
            text.lines().rev().nth(1).unwrap().to_owned()
        };
        assert_eq!(last(&one), "\tld.b64 \t%rd2, [%rd3+8];");
        assert_eq!(last(&one), last(&other));
    }

    #[test]
    fn a_position_that_is_not_there_is_left_as_it_is() {
        assert_eq!(restore(b"%r7 %r-1 %r0"), b"%r7 %r-1 %r0");
    }
}
