//! The page of mistakes: what the simulator reports now, and what tools were seen to report on a GPU.

use crate::{MISTAKES, Mistake};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use tilewright::Result;

/// The tools of compute-sanitizer, and a run without one, as `measure.sh` names them.
pub const TOOLS: [&str; 5] = ["memcheck", "racecheck", "synccheck", "initcheck", "none"];

/// What `measure.sh` has printed: for a kernel and a tool the outcome.
#[derive(Debug, Default)]
pub struct Measured(BTreeMap<(String, String), Outcome>);

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// The tool reported something.
    Found,
    /// The kernel did not end in time, and the tool reported nothing.
    Hangs,
    /// The driver reported an error, and the tool nothing.
    Fails,
    /// The kernel ended, and the tool reported nothing.
    Nothing,
}

impl Measured {
    /// Reads lines `KERNEL,TOOL,OUTCOME,WHAT THE TOOL SAID`, below a line of names.
    ///
    /// # Errors
    /// The first line that is none.
    pub fn parse(text: &str) -> std::result::Result<Self, String> {
        let mut all = BTreeMap::new();
        for line in text.lines().skip(1) {
            let mut cells = line.splitn(4, ',');
            let mut cell = || cells.next().ok_or(format!("`{line}` has too few cells"));
            let (kernel, tool) = (cell()?.to_owned(), cell()?.to_owned());
            let outcome = match cell()? {
                "found" => Outcome::Found,
                "hangs" => Outcome::Hangs,
                "fails" => Outcome::Fails,
                "nothing" => Outcome::Nothing,
                other => return Err(format!("`{other}` is no outcome: {line}")),
            };
            all.insert((kernel, tool), outcome);
        }
        Ok(Self(all))
    }

    fn outcome(&self, kernel: &str, tool: &str) -> Option<Outcome> {
        self.0.get(&(kernel.to_owned(), tool.to_owned())).copied()
    }

    /// Whether the tool reports the mistake, and not its twin.
    fn tells_apart(&self, mistake: &Mistake, tool: &str) -> bool {
        let is_found = |kernel: &str| self.outcome(kernel, tool) == Some(Outcome::Found);
        is_found(mistake.name) && !is_found(&twin(mistake))
    }

    /// What a table says of a tool and a mistake.
    fn cell(&self, mistake: &Mistake, tool: &str) -> &'static str {
        let of_twin = self.outcome(&twin(mistake), tool);
        match self.outcome(mistake.name, tool) {
            None => "not measured",
            Some(Outcome::Found) if of_twin == Some(Outcome::Found) => "the twin, too",
            Some(Outcome::Found) => "found",
            Some(Outcome::Hangs) => "hangs",
            Some(Outcome::Fails) => "fails",
            Some(Outcome::Nothing) => "-",
        }
    }

    /// How many mistakes the tools tell apart from their twins.
    fn summary(&self) -> String {
        if self.0.is_empty() {
            return "The tools on a GPU have not been measured.".to_owned();
        }
        let by = |tool: &str| {
            let found = MISTAKES.iter().filter(|it| self.tells_apart(it, tool));
            format!("{tool} {}", found.count())
        };
        let tools: Vec<String> = TOOLS[..4].iter().map(|tool| by(tool)).collect();
        let by_any = MISTAKES
            .iter()
            .filter(|it| TOOLS.iter().any(|tool| self.tells_apart(it, tool)));
        format!(
            "Of {} mistakes the simulator reports {}, and nothing in their twins. On the GPU {} find {} \
             of them together.",
            MISTAKES.len(),
            MISTAKES.len(),
            tools.join(", "),
            by_any.count()
        )
    }
}

/// The name of the kernel without the mistake.
fn twin(mistake: &Mistake) -> String {
    format!("{}_twin", mistake.name)
}

/// What stands above the table.
const HEAD: &str = include_str!("head.md");

/// What stands below the table.
const FOOT: &str = include_str!("foot.md");

/// The page.
///
/// # Errors
/// Those of [`Mistake::report`].
pub fn page(measured: &Measured) -> Result<String> {
    let mut page = format!("{HEAD}\n{}\n\n", measured.summary());
    page +=
        "| mistake | the simulator | memcheck | racecheck | synccheck | initcheck | no tool |\n";
    page += "|---|---|---|---|---|---|---|\n";
    for mistake in MISTAKES {
        let report = match mistake.report()? {
            Some(defect) => format!("{}: {}", defect.kind, defect.message),
            None => "-".to_owned(),
        };
        let cells = TOOLS.map(|tool| measured.cell(mistake, tool)).join(" | ");
        let (name, text) = (mistake.name, mistake.text);
        writeln!(page, "| `{name}`: {text} | {report} | {cells} |")
            .expect("a string takes all text");
    }
    page += "\n";
    page += FOOT;
    Ok(page)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(kernel: &str, outcome: &str) -> String {
        format!("{kernel},memcheck,{outcome},=== 1, 2\n")
    }

    #[test]
    fn a_report_of_the_twin_counts_for_nothing() {
        let mistake = &MISTAKES[0];
        let cell = |own: &str, twin_outcome: &str| {
            let text = [
                "kernel,tool,outcome,said\n",
                &line(mistake.name, own),
                &line(&twin(mistake), twin_outcome),
            ];
            let measured = Measured::parse(&text.concat()).unwrap();
            let is_told_apart = measured.tells_apart(mistake, "memcheck");
            (measured.cell(mistake, "memcheck"), is_told_apart)
        };
        assert_eq!(cell("found", "nothing"), ("found", true));
        assert_eq!(cell("found", "found"), ("the twin, too", false));
        assert_eq!(cell("hangs", "nothing"), ("hangs", false));
        assert_eq!(
            Measured::default().cell(mistake, "memcheck"),
            "not measured"
        );
    }

    #[test]
    fn a_line_that_is_no_result_is_named() {
        let error = Measured::parse("kernel,tool,outcome,said\na,memcheck,perhaps,\n").unwrap_err();
        assert!(error.contains("`perhaps` is no outcome"), "{error}");
        assert!(Measured::parse("names\na,memcheck").is_err());
    }
}
