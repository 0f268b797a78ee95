//! Figures in running text: `<!-- figure:QUERY -->3.6<!-- /figure -->`.
//!
//! A query is a question and the name of a row, with `*` for any text:
//!
//! - `ratio of product f32 4096, uniform [-1, 1)`: the fastest rival's time over ours;
//! - `least ratio of ..`, `greatest ratio of ..`, `mean ratio of ..`: over all rows of that name, with the geometric
//!   mean;
//! - `speed of ..`, `rival speed of ..`, `rival of ..`: our speed, the fastest rival's speed, and its name;
//! - `error of ..`, `rival error of ..`: the relative errors of the results;
//! - `speedup of ..`: one device's time over several devices'.

use super::measured::{Found, Measured};
use super::tables::{ratio_text, value_text};
use crate::workspace::Result;
use regex::Regex;
use tilewright_output::figures::{Figure, Row};

/// The answer to a query, as text.
pub fn answer(query: &str, measured: &Measured) -> Result<String> {
    let (question, name) = query
        .split_once(" of ")
        .ok_or_else(|| format!("{query:?} is not `QUESTION of NAME`"))?;
    let pattern = regex::escape(name).replace(r"\*", ".*");
    let pattern = Regex::new(&format!("^{pattern}$"))?;
    let is_meant = |found: &Found<'_>| pattern.is_match(&found.row.name());
    let rows: Vec<Found<'_>> = match question {
        "speedup" => measured.rows_of_groups().filter(is_meant).collect(),
        _ => measured.rows().filter(is_meant).collect(),
    };
    if rows.is_empty() {
        return Err(format!("{query:?}: no row has this name").into());
    }
    let unmeasured = || format!("{query:?}: that was not measured");
    if let Some(choice) = question.strip_suffix(" ratio") {
        let ratios: Vec<f64> = rows.iter().filter_map(Found::ratio).collect();
        let chosen = match choice {
            "least" => ratios.iter().copied().reduce(f64::min),
            "greatest" => ratios.iter().copied().reduce(f64::max),
            "mean" if !ratios.is_empty() => {
                let logarithms = ratios.iter().map(|it| it.ln()).sum::<f64>();
                Some((logarithms / ratios.len() as f64).exp())
            }
            "mean" => None,
            _ => return Err(format!("there is no question {question:?}").into()),
        };
        return Ok(chosen.map(ratio_text).ok_or_else(unmeasured)?);
    }
    let [found] = rows[..] else {
        return Err(format!("{query:?}: {} rows have this name", rows.len()).into());
    };
    let value = |figure: Option<&Figure>| Some(value_text(figure?.value?, found.row.unit));
    let error = |figure: Option<&Figure>| Some(format!("{:.1e}", figure?.relative_l2?));
    let text = match question {
        "ratio" => found.ratio().map(ratio_text),
        "speed" => value(found.ours()),
        "rival speed" => value(found.rival()),
        "rival" => found.rival().map(|it| it.name.clone()),
        "error" => error(found.ours()),
        "rival error" => error(found.rival()),
        "speedup" => speedup(found.row).map(ratio_text),
        _ => return Err(format!("there is no question {question:?}").into()),
    };
    Ok(text.ok_or_else(unmeasured)?)
}

/// One device's time over all devices' time.
fn speedup(row: &Row) -> Option<f64> {
    let of = |name: &str| row.ours.iter().find(|it| it.name == name);
    row.ratio(of("all")?, of("one")?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_have_the_files_answers() {
        let measured = Measured::of_repository().unwrap();
        let answer = |query: &str| answer(query, &measured);
        let name = "product f32 4096, uniform [-1, 1)";
        let found = measured.rows().find(|it| it.row.name() == name).unwrap();
        let ratio = found.ratio().unwrap();
        assert!(ratio > 1.0);
        assert_eq!(
            answer(&format!("ratio of {name}")).unwrap(),
            format!("{ratio:.2}")
        );
        let rival = &found.rival().unwrap().name;
        assert_eq!(&answer(&format!("rival of {name}")).unwrap(), rival);
        let number = |query: &str| answer(query).unwrap().parse::<f64>().unwrap();
        let [least, mean, greatest] = ["least", "mean", "greatest"]
            .map(|it| number(&format!("{it} ratio of product f32 *, uniform [-1, 1)")));
        assert!(least < mean && mean < greatest, "{least} {mean} {greatest}");
        assert!(number("speedup of product f32 8192, B replicated") > 1.0);
        for wrong in [
            "ratio",
            "ratio of nothing",
            "shape of sum f32 2^28",
            "ratio of sum f32 *",
        ] {
            assert!(answer(wrong).is_err(), "{wrong}");
        }
    }
}
