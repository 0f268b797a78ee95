//! Text assembled at compile time.

/// A growing text. Bytes past `LEN` are only counted, so a `Text<0>` measures the length that a
/// second one needs.
pub(crate) struct Text<const LEN: usize> {
    bytes: [u8; LEN],
    len: usize,
}

impl<const LEN: usize> Text<LEN> {
    pub(crate) const fn new() -> Self {
        Self {
            bytes: [0; LEN],
            len: 0,
        }
    }

    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    /// The bytes.
    ///
    /// # Panics If the text does not have `LEN` bytes.
    pub(crate) const fn into_bytes(self) -> [u8; LEN] {
        assert!(self.len == LEN, "LEN is the length of the text");
        self.bytes
    }

    pub(crate) const fn push(&mut self, byte: u8) {
        if self.len < LEN {
            self.bytes[self.len] = byte;
        }
        self.len += 1;
    }

    pub(crate) const fn push_str(&mut self, text: &str) {
        let bytes = text.as_bytes();
        let mut index = 0;
        while index < bytes.len() {
            self.push(bytes[index]);
            index += 1;
        }
    }

    pub(crate) const fn push_number(&mut self, number: usize) {
        if number >= 10 {
            self.push_number(number / 10);
        }
        self.push(b'0' + (number % 10) as u8);
    }
}

/// The methods `text_len` and `text` for a type whose method `write` appends the parts. (Traits have no constant
/// functions.)
macro_rules! measured_then_written {
    () => {
        /// The text's length in bytes.
        #[must_use]
        pub const fn text_len(&self) -> usize {
            let mut counter = Text::<0>::new();
            self.write(&mut counter);
            counter.len()
        }

        /// The text, of [`text_len`](Self::text_len) bytes.
        ///
        /// # Panics If `LEN` is not the text's length.
        #[must_use]
        pub const fn text<const LEN: usize>(&self) -> [u8; LEN] {
            let mut text = Text::<LEN>::new();
            self.write(&mut text);
            text.into_bytes()
        }
    };
}
pub(crate) use measured_then_written;
