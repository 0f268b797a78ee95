//! A hash of results, which `run.py` computes of a GPU's.

use crate::inputs::mixed;

/// What an index is multiplied with, so that equal words in other places have another hash.
const OF_INDEX: u64 = 0x9e37_79b9_7f4a_7c15;

pub fn hash(words: &[u64]) -> u64 {
    let words = (1_u64..).zip(words);
    words.fold(0, |sum: u64, (index, word)| {
        sum.wrapping_add(mixed(word ^ index.wrapping_mul(OF_INDEX)))
    })
}
