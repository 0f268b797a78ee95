//! Tables of cases, of which `cargo test` runs a share.

use crate::say;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Once;

/// Of so many neighbours in a table a test runs one.
const NEIGHBOURS: usize = 4;

/// All cases where `TILEWRIGHT_ALL_CASES` is set, as `.ci/run` does, and a quarter of them elsewhere: one of each four
/// neighbours, drawn by `test`. Tests of other types draw others, so that together they run nearly all of a table.
/// The test program says on stderr that there are more.
pub fn share<T>(test: impl Hash, cases: impl IntoIterator<Item = T>) -> impl Iterator<Item = T> {
    let runs_all = std::env::var_os("TILEWRIGHT_ALL_CASES").is_some();
    if !runs_all {
        static SAID: Once = Once::new();
        SAID.call_once(|| say("runs a quarter of the cases: TILEWRIGHT_ALL_CASES=1 runs all"));
    }
    let is_drawn = draw(test);
    let numbered = cases.into_iter().enumerate();
    let chosen = numbered.filter(move |&(number, _)| runs_all || is_drawn(number));
    chosen.map(|(_, case)| case)
}

/// Whether `test` draws the case of a number.
fn draw(test: impl Hash) -> impl Fn(usize) -> bool {
    move |number| {
        let mut hasher = DefaultHasher::new();
        (&test, number / NEIGHBOURS).hash(&mut hasher);
        hasher.finish() % NEIGHBOURS as u64 == (number % NEIGHBOURS) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::{NEIGHBOURS, draw};

    #[test]
    fn one_of_four_neighbours_is_drawn() {
        let is_drawn = draw("a test");
        for group in 0..100 {
            let places = (0..NEIGHBOURS).filter(|place| is_drawn(group * NEIGHBOURS + place));
            assert_eq!(places.count(), 1, "group {group}");
        }
    }

    #[test]
    fn tests_draw_others() {
        let tests: Vec<String> = (0..40).map(|number| format!("test {number}")).collect();
        for number in 0..NEIGHBOURS {
            let by = tests.iter().filter(|test| draw(test)(number)).count();
            assert!((1..tests.len()).contains(&by), "case {number} by {by}");
        }
    }
}
