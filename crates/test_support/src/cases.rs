//! Tables of cases, of which `cargo test` runs a share.

use crate::say;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Once;

/// Runs all cases.
const ALL: &str = "TILEWRIGHT_ALL_CASES";

/// Draws other cases for each value.
const SEED: &str = "TILEWRIGHT_CASES_SEED";

/// The most neighbours in a table of which a test runs one.
const NEIGHBOURS: usize = 8;

/// An eighth of the cases: one of each eight neighbours or fewer, drawn by `test`, and so one at least. Tests of other
/// types draw others, so that together they run nearly all of a table. The test program says on stderr that there are
/// more.
///
/// Where `TILEWRIGHT_CASES_SEED` is set, its value draws, too: `.ci/run` sets it to the commit, so that commits together
/// run all. Where `TILEWRIGHT_ALL_CASES` is set, all of them.
pub fn share<T>(test: impl Hash, cases: impl IntoIterator<Item = T>) -> impl Iterator<Item = T> {
    let mut cases: Vec<T> = cases.into_iter().collect();
    if std::env::var_os(ALL).is_none() {
        static SAID: Once = Once::new();
        SAID.call_once(|| say(&format!("runs an eighth of the cases: {ALL}=1 runs all")));
        let seed = std::env::var_os(SEED);
        let mut drawn = draw((test, seed), cases.len()).peekable();
        let mut numbers = 0..;
        cases.retain(|_| {
            drawn
                .next_if_eq(&numbers.next().expect("it has no end"))
                .is_some()
        });
    }
    cases.into_iter()
}

/// The cases that `test` draws of so many, in order: a table is divided into groups as equal as they can be, of at most
/// [`NEIGHBOURS`] cases.
fn draw(test: impl Hash, cases: usize) -> impl Iterator<Item = usize> {
    let groups = cases.div_ceil(NEIGHBOURS);
    (0..groups).map(move |group| {
        let (start, end) = (group * cases / groups, (group + 1) * cases / groups);
        let mut hasher = DefaultHasher::new();
        (&test, group).hash(&mut hasher);
        start + (hasher.finish() % (end - start) as u64) as usize
    })
}

#[cfg(test)]
mod tests {
    use super::{NEIGHBOURS, draw};

    #[test]
    fn one_of_eight_neighbours_is_drawn() {
        let drawn: Vec<usize> = draw("a test", 100 * NEIGHBOURS).collect();
        let groups: Vec<usize> = drawn.iter().map(|number| number / NEIGHBOURS).collect();
        assert_eq!(groups, (0..100).collect::<Vec<_>>());
    }

    #[test]
    fn a_case_at_least_is_drawn_if_there_is_one() {
        for cases in 0..40 {
            let drawn: Vec<usize> = draw("a test", cases).collect();
            assert_eq!(drawn.len(), cases.div_ceil(NEIGHBOURS), "{cases}");
            assert!(drawn.is_sorted() && drawn.iter().all(|&it| it < cases));
        }
    }

    #[test]
    fn tests_draw_others() {
        let tests: Vec<String> = (0..80).map(|number| format!("test {number}")).collect();
        for number in 0..NEIGHBOURS {
            let draws = |test: &&String| draw(test, NEIGHBOURS).any(|it| it == number);
            let by = tests.iter().filter(draws).count();
            assert!((1..tests.len()).contains(&by), "case {number} by {by}");
        }
    }
}
