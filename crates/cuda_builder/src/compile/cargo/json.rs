//! Fields of cargo's messages.

use std::collections::HashMap;
use tinyjson::JsonValue;

/// A value whose fields may be missing or of another type.
pub(super) trait Fields {
    /// The field with this name.
    fn field(&self, name: &str) -> Option<&JsonValue>;

    /// The text in the field with this name.
    fn text(&self, name: &str) -> Option<&str> {
        let text: &String = self.field(name)?.get()?;
        Some(text)
    }

    /// The values in the field with this name.
    fn list(&self, name: &str) -> Option<&[JsonValue]> {
        let list: &Vec<JsonValue> = self.field(name)?.get()?;
        Some(list)
    }
}

impl Fields for JsonValue {
    fn field(&self, name: &str) -> Option<&JsonValue> {
        self.get::<HashMap<String, JsonValue>>()?.get(name)
    }
}
