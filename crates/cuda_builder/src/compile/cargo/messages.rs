//! Cargo's messages while it compiles: one JSON object on each line.

use tinyjson::JsonValue;

use super::artifact::Artifact;
use super::json::Fields as _;

/// The messages of one run.
#[derive(Debug, Default)]
pub(super) struct Messages {
    pub(super) artifacts: Vec<Artifact>,
    /// The compiler's messages about packages whose sources may be edited.
    diagnostics: Vec<Diagnostic>,
}

/// A compiler warning or error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Diagnostic {
    is_error: bool,
    /// The compiler's rendering: the message with the source lines.
    rendered: String,
    /// The place and the message, on one line.
    summary: String,
}

impl Messages {
    pub(super) fn parse(text: &str) -> Messages {
        let mut messages = Messages::default();
        let objects = text
            .lines()
            .filter_map(|line| line.parse::<JsonValue>().ok());
        for object in objects {
            messages.artifacts.extend(Artifact::from_message(&object));
            messages
                .diagnostics
                .extend(Diagnostic::from_message(&object));
        }
        messages
    }

    /// The rendered errors; empty if a program other than the compiler failed.
    pub(super) fn errors(&self) -> String {
        let errors = self.diagnostics.iter().filter(|it| it.is_error);
        errors.map(|it| it.rendered.as_str()).collect()
    }

    /// The warnings, one line each.
    pub(super) fn warnings(&self) -> Vec<String> {
        let warnings = self.diagnostics.iter().filter(|it| !it.is_error);
        warnings.map(|it| it.summary.clone()).collect()
    }
}

impl Diagnostic {
    /// `None` for other messages, and for those that only count: "2 warnings emitted".
    fn from_message(message: &JsonValue) -> Option<Diagnostic> {
        let is_local = message.text("package_id")?.starts_with("path+");
        if message.text("reason")? != "compiler-message" || !is_local {
            return None;
        }
        let message = message.field("message")?;
        let text = message.text("message")?;
        let place = primary_place(message);
        let is_error = match message.text("level")? {
            "warning" if place.is_some() => false,
            "error" if !text.starts_with("aborting due to") => true,
            level if level.starts_with("error:") => true,
            _ => return None,
        };
        Some(Diagnostic {
            is_error,
            rendered: message.text("rendered")?.to_owned(),
            summary: match place {
                Some(place) => format!("{place}: {text}"),
                None => text.to_owned(),
            },
        })
    }
}

/// File, line and column.
fn primary_place(message: &JsonValue) -> Option<String> {
    let is_primary = |span: &&JsonValue| span.field("is_primary") == Some(&true.into());
    let span = message.list("spans")?.iter().find(is_primary)?;
    let number = |name| span.field(name)?.get::<f64>();
    let (line, column) = (number("line_start")?, number("column_start")?);
    Some(format!("{}:{line}:{column}", span.text("file_name")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(package: &str, level: &str, text: &str, spans: &str) -> String {
        format!(
            r#"{{"reason":"compiler-message","package_id":"{package}","message":{{"level":"{level}","message":"{text}","rendered":"{level}: {text}\n","spans":[{spans}]}}}}"#
        )
    }

    const SPAN: &str =
        r#"{"is_primary":true,"file_name":"kernels/lib.rs","line_start":7,"column_start":9}"#;

    #[test]
    fn errors_are_whole_and_warnings_are_lines() {
        let lines = [
            line(
                "path+file:///k#0.1.0",
                "warning",
                "unused variable: `x`",
                SPAN,
            ),
            line("path+file:///k#0.1.0", "warning", "1 warning emitted", ""),
            line("path+file:///k#0.1.0", "error", "mismatched types", SPAN),
            line(
                "path+file:///k#0.1.0",
                "error",
                "aborting due to 1 previous error",
                "",
            ),
            line(
                "path+file:///k#0.1.0",
                "failure-note",
                "for more information",
                "",
            ),
            line(
                "registry+https://x#half@2.7.1",
                "warning",
                "unused import",
                SPAN,
            ),
            r#"{"reason":"build-finished","success":false}"#.to_owned(),
        ];
        let messages = Messages::parse(&lines.join("\n"));
        assert_eq!(messages.errors(), "error: mismatched types\n");
        assert_eq!(
            messages.warnings(),
            ["kernels/lib.rs:7:9: unused variable: `x`"]
        );
    }
}
