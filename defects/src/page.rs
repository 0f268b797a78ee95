//! The pages of mistakes: the simulator's current reports, and other tools' measured ones.

use crate::{DefectKind, MISTAKES, Mistake, PUBLIC};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use tilewright::Result;

/// The tools of compute-sanitizer, and a run without one, with the names in `measure.sh`.
pub const TOOLS: [&str; 5] = ["memcheck", "racecheck", "synccheck", "initcheck", "none"];

/// Oclgrind, with its name in `oclgrind.sh`.
pub const OCLGRIND: &str = "oclgrind";

/// The output of `measure.sh` and `oclgrind.sh`: the outcome for each kernel and tool.
#[derive(Debug, Default)]
pub struct Measured(BTreeMap<(String, String), Outcome>);

/// The outcome of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// The tool reported something.
    Found,
    /// The kernel did not end in time, and the tool reported nothing.
    Hangs,
    /// The driver reported an error, and the tool nothing; or the tool could not run the kernel.
    Fails,
    /// The kernel ended, and the tool reported nothing.
    Nothing,
    /// The kernel cannot be written in the tool's language.
    Unwritable,
}

impl Measured {
    /// Reads lines `KERNEL,TOOL,OUTCOME,WHAT THE TOOL SAID`, below a line of names.
    ///
    /// # Errors
    /// If a line is invalid: the first such line.
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
                "unwritable" => Outcome::Unwritable,
                other => return Err(format!("`{other}` is no outcome: {line}")),
            };
            all.insert((kernel, tool), outcome);
        }
        Ok(Self(all))
    }

    /// Merges both. If both have an outcome, `other`'s is used.
    #[must_use]
    pub fn with(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    fn outcome(&self, kernel: &str, tool: &str) -> Option<Outcome> {
        self.0.get(&(kernel.to_owned(), tool.to_owned())).copied()
    }

    /// Whether the tool reports the mistake, and not its twin.
    fn tells_apart(&self, mistake: &Mistake, tool: &str) -> bool {
        let is_found = |kernel: &str| self.outcome(kernel, tool) == Some(Outcome::Found);
        is_found(mistake.name) && !is_found(&twin(mistake))
    }

    /// The table's cell for a tool and a mistake.
    fn cell(&self, mistake: &Mistake, tool: &str) -> &'static str {
        let of_twin = self.outcome(&twin(mistake), tool);
        match self.outcome(mistake.name, tool) {
            None => "not measured",
            Some(Outcome::Found) if of_twin == Some(Outcome::Found) => "the twin, too",
            Some(Outcome::Found) => "found",
            Some(Outcome::Hangs) => "hangs",
            Some(Outcome::Fails) => "fails",
            Some(Outcome::Nothing) => "-",
            Some(Outcome::Unwritable) => "cannot be written",
        }
    }

    /// The number of mistakes that the tools distinguish from their twins.
    fn summary(&self, mistakes: &[Mistake]) -> String {
        if !mistakes
            .iter()
            .any(|it| self.outcome(it.name, "none").is_some())
        {
            return format!(
                "The simulator reports all {} mistakes, and nothing in their twins. The tools on a GPU \
                 have not been measured.",
                mistakes.len()
            );
        }
        let by = |tool: &str| {
            let found = mistakes.iter().filter(|it| self.tells_apart(it, tool));
            format!("{tool} {}", found.count())
        };
        let tools: Vec<String> = TOOLS[..4].iter().map(|tool| by(tool)).collect();
        let by_any = mistakes
            .iter()
            .filter(|it| TOOLS.iter().any(|tool| self.tells_apart(it, tool)));
        format!(
            "Of {} mistakes the simulator reports {}, and nothing in their twins. On the GPU {} find {} \
             of them together.",
            mistakes.len(),
            mistakes.len(),
            tools.join(", "),
            by_any.count()
        )
    }

    /// The number of mistakes that Oclgrind distinguishes from their twins.
    fn summary_of_oclgrind(&self, mistakes: &[Mistake]) -> String {
        let is_written = |outcome: Outcome| outcome != Outcome::Unwritable;
        let written = mistakes
            .iter()
            .filter(|it| self.outcome(it.name, OCLGRIND).is_some_and(is_written))
            .count();
        if written == 0 {
            return "Oclgrind has not been measured.".to_owned();
        }
        let found = mistakes.iter().filter(|it| self.tells_apart(it, OCLGRIND));
        format!(
            "Oclgrind finds {} of the {written} that can be written in OpenCL C.",
            found.count()
        )
    }
}

/// The name of the kernel without the mistake.
fn twin(mistake: &Mistake) -> String {
    format!("{}_twin", mistake.name)
}

/// The text above the table.
const HEAD: &str = include_str!("head.md");

/// The text below the table.
const FOOT: &str = include_str!("foot.md");

/// The page.
///
/// # Errors
/// Those of [`Mistake::report`].
pub fn page(measured: &Measured) -> Result<String> {
    let mut page = format!("{HEAD}\n{}\n\n", measured.summary(MISTAKES));
    page +=
        "| mistake | the simulator | memcheck | racecheck | synccheck | initcheck | no tool |\n";
    page += "|---|---|---|---|---|---|---|\n";
    for mistake in MISTAKES {
        let report = reported(mistake)?;
        let cells = TOOLS.map(|tool| measured.cell(mistake, tool)).join(" | ");
        let (name, text) = (mistake.name, mistake.text);
        writeln!(page, "| `{name}`: {text} | {report} | {cells} |")
            .expect("a string takes all text");
    }
    page += "\n";
    page += FOOT;
    Ok(page)
}

/// The simulator's report of a mistake, for a cell.
fn reported(mistake: &Mistake) -> Result<String> {
    Ok(match mistake.report()? {
        Some(defect) => format!("{}: {}", defect.kind, defect.message),
        None => "-".to_owned(),
    })
}

/// The text above and below the table of public bug histories.
const PUBLIC_HEAD: &str = include_str!("public_head.md");
const PUBLIC_FOOT: &str = include_str!("public_foot.md");

/// GPUVerify's documented support for this kind of defect.
fn documented(mistake: &Mistake) -> &'static str {
    let is_of_fences = mistake.name.contains("fence");
    match mistake.kinds[0] {
        DefectKind::DataRace | DefectKind::AtomicRace if is_of_fences => "-",
        DefectKind::DataRace
        | DefectKind::AtomicRace
        | DefectKind::BarrierDivergence
        | DefectKind::OutOfBounds => "yes",
        _ => "-",
    }
}

/// The page of public bug histories.
///
/// # Errors
/// Those of [`Mistake::report`].
pub fn public_page(measured: &Measured) -> Result<String> {
    let mut page = format!(
        "{PUBLIC_HEAD}\n{} {}\n\n",
        measured.summary(PUBLIC),
        measured.summary_of_oclgrind(PUBLIC)
    );
    page += "| defect | source | the simulator | memcheck | racecheck | synccheck | initcheck | no tool \
             | Oclgrind | GPUVerify |\n";
    page += "|---|---|---|---|---|---|---|---|---|---|\n";
    for mistake in PUBLIC {
        let cells = TOOLS.map(|tool| measured.cell(mistake, tool)).join(" | ");
        let (oclgrind, documented) = (measured.cell(mistake, OCLGRIND), documented(mistake));
        let (name, text, source) = (mistake.name, mistake.text, mistake.source);
        let report = reported(mistake)?;
        writeln!(
            page,
            "| `{name}`: {text} | {source} | {report} | {cells} | {oclgrind} | {documented} |"
        )
        .expect("a string takes all text");
    }
    page += "\n";
    page += PUBLIC_FOOT;
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
    fn what_cannot_be_written_is_not_counted() {
        let [first, second, third] = &PUBLIC[..3] else {
            panic!("the table is short")
        };
        let text = [
            "kernel,tool,outcome,said\n",
            &format!("{},oclgrind,found,a race\n", first.name),
            &format!("{},oclgrind,nothing,\n", second.name),
            &format!("{},oclgrind,unwritable,no votes\n", third.name),
        ];
        let measured = Measured::default().with(Measured::parse(&text.concat()).unwrap());
        let summary = measured.summary_of_oclgrind(PUBLIC);
        assert!(summary.contains("finds 1 of the 2"), "{summary}");
        assert_eq!(measured.cell(third, OCLGRIND), "cannot be written");
        let summary = Measured::default().summary_of_oclgrind(PUBLIC);
        assert!(summary.contains("not been measured"), "{summary}");
    }

    #[test]
    fn a_line_that_is_no_result_is_named() {
        let error = Measured::parse("kernel,tool,outcome,said\na,memcheck,perhaps,\n").unwrap_err();
        assert!(error.contains("`perhaps` is no outcome"), "{error}");
        assert!(Measured::parse("names\na,memcheck").is_err());
    }
}
