//! Tables of cases, of which `cargo test` runs a share.

use crate::say;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Once;

/// Runs all cases.
const ALL: &str = "TILEWRIGHT_ALL_CASES";

/// Draws other cases, and more of them, for each value.
const SEED: &str = "TILEWRIGHT_CASES_SEED";

/// The most neighbours in a table of which a test runs one, and of which it does with a seed.
const NEIGHBOURS: usize = 8;
const NEIGHBOURS_WITH_SEED: usize = 4;

/// An eighth of the cases: one of each eight neighbours or fewer, drawn by `test`, and so one at least. Tests of other
/// types draw others, so that together they run nearly all of a table. The test program says on stderr that there are
/// more.
///
/// Where `TILEWRIGHT_CASES_SEED` is set, a quarter of the cases, drawn by its value, too: `.ci/run` sets it to the
/// commit. Where `TILEWRIGHT_ALL_CASES` is set, all of them.
pub fn share<T>(test: impl Hash, cases: impl IntoIterator<Item = T>) -> impl Iterator<Item = T> {
    let mut cases: Vec<T> = cases.into_iter().collect();
    if std::env::var_os(ALL).is_none() {
        let seed = std::env::var_os(SEED);
        let (neighbours, part) = match seed {
            None => (NEIGHBOURS, "an eighth"),
            Some(_) => (NEIGHBOURS_WITH_SEED, "a quarter"),
        };
        static SAID: Once = Once::new();
        SAID.call_once(|| say(&format!("runs {part} of the cases: {ALL}=1 runs all")));
        let mut drawn = draw((test, seed), cases.len(), neighbours).peekable();
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
/// `neighbours` cases.
fn draw(test: impl Hash, cases: usize, neighbours: usize) -> impl Iterator<Item = usize> {
    let groups = cases.div_ceil(neighbours);
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
        let drawn: Vec<usize> = draw("a test", 100 * NEIGHBOURS, NEIGHBOURS).collect();
        let groups: Vec<usize> = drawn.iter().map(|number| number / NEIGHBOURS).collect();
        assert_eq!(groups, (0..100).collect::<Vec<_>>());
    }

    #[test]
    fn a_case_at_least_is_drawn_if_there_is_one() {
        for cases in 0..40 {
            let drawn: Vec<usize> = draw("a test", cases, NEIGHBOURS).collect();
            assert_eq!(drawn.len(), cases.div_ceil(NEIGHBOURS), "{cases}");
            assert!(drawn.is_sorted() && drawn.iter().all(|&it| it < cases));
        }
    }

    #[test]
    fn tests_draw_others() {
        let tests: Vec<String> = (0..80).map(|number| format!("test {number}")).collect();
        for number in 0..NEIGHBOURS {
            let draws = |test: &&String| draw(test, NEIGHBOURS, NEIGHBOURS).any(|it| it == number);
            let by = tests.iter().filter(draws).count();
            assert!((1..tests.len()).contains(&by), "case {number} by {by}");
        }
    }
}
