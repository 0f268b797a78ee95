//! The last tensor maps of a thread: a map is a function of its request, so a product like an earlier one has its maps.

use crate::backend::TensorMapRequest;
use crate::error::Outcome;
use std::cell::{Cell, RefCell};

/// An encoded map.
type Words = [u64; 16];

/// Sets of places. The request says which one a map has.
const SETS: usize = 8;

/// The places of a set: more than a product has maps, which may all be of one set.
const PLACES: usize = 4;

#[derive(Clone, Copy)]
struct Known {
    request: TensorMapRequest,
    words: Words,
}

thread_local! {
    static MAPS: RefCell<[[Option<Known>; PLACES]; SETS]> =
        const { RefCell::new([[None; PLACES]; SETS]) };
    /// How many maps were added: each comes to the next place of its set, so the last ones do not replace one another.
    static ADDED: Cell<usize> = const { Cell::new(0) };
}

/// The map of `request`, which `encode` makes unless a recent call of this thread had the same request.
pub fn map_of(
    request: &TensorMapRequest,
    encode: impl FnOnce() -> Outcome<Words>,
) -> Outcome<Words> {
    let set = set_of(request);
    let known = MAPS.with_borrow(|maps| {
        let mut known = maps[set].iter().flatten();
        known.find(|it| it.request == *request).map(|it| it.words)
    });
    if let Some(words) = known {
        return Ok(words);
    }
    let words = encode()?;
    let added = ADDED.replace(ADDED.get().wrapping_add(1));
    let request = *request;
    MAPS.with_borrow_mut(|maps| maps[set][added % PLACES] = Some(Known { request, words }));
    Ok(words)
}

fn set_of(request: &TensorMapRequest) -> usize {
    // Multiplicative hashing: the upper bits of a product with 2^64 divided by the golden ratio.
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let [columns, rows] = request.box_sizes.map(u64::from);
    let mixed = (request.address ^ (columns << 32 | rows)).wrapping_mul(FACTOR);
    (mixed >> (u64::BITS - SETS.ilog2())) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::TensorMapBatch;

    const REQUEST: TensorMapRequest = TensorMapRequest {
        address: 0x7000,
        element_bytes: 2,
        sizes: [64, 32],
        row_bytes: 128,
        batch: None,
        box_sizes: [64, 8],
    };

    /// The map, and whether it was encoded.
    fn map(request: &TensorMapRequest, number: u64) -> (Words, bool) {
        let mut is_encoded = false;
        let words = map_of(request, || {
            is_encoded = true;
            Ok([number; 16])
        });
        (words.unwrap(), is_encoded)
    }

    #[test]
    fn a_map_is_known_for_an_equal_request_alone() {
        let batch = Some(TensorMapBatch {
            count: 2,
            matrix_bytes: 4096,
        });
        let requests = [
            REQUEST,
            TensorMapRequest {
                address: 0x8000,
                ..REQUEST
            },
            TensorMapRequest {
                element_bytes: 4,
                ..REQUEST
            },
            TensorMapRequest {
                sizes: [64, 33],
                ..REQUEST
            },
            TensorMapRequest {
                row_bytes: 256,
                ..REQUEST
            },
            TensorMapRequest { batch, ..REQUEST },
            TensorMapRequest {
                box_sizes: [64, 16],
                ..REQUEST
            },
        ];
        for (number, request) in (0..).zip(&requests) {
            assert_eq!(map(request, number), ([number; 16], true));
            assert_eq!(map(request, 99), ([number; 16], false));
        }
    }

    /// More maps than there are places replace others, but not the last ones.
    #[test]
    fn the_last_maps_are_known() {
        let request = |number| TensorMapRequest {
            address: number << 9,
            ..REQUEST
        };
        for last in 0..500 {
            map(&request(last), last);
            for number in last.saturating_sub(2)..=last {
                assert_eq!(map(&request(number), 0), ([number; 16], false));
            }
        }
    }

    #[test]
    fn a_map_that_cannot_be_encoded_is_not_known() {
        let request = TensorMapRequest {
            address: 0x9000,
            ..REQUEST
        };
        let refused = || Err(crate::error::ErrorKind::NoCudaFeature);
        assert!(map_of(&request, refused).is_err());
        assert_eq!(map(&request, 5), ([5; 16], true));
    }
}
