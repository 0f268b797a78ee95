//! The last tensor maps of a thread: a map is a function of its request, so a product like an earlier one has its maps.

use crate::backend::TensorMapRequest;
use crate::error::Outcome;
use std::cell::RefCell;

/// An encoded map.
type Words = [u64; 16];

/// The places for maps: those of several products, each with up to three.
const PLACES: usize = 32;

thread_local! {
    static MAPS: RefCell<[Option<(TensorMapRequest, Words)>; PLACES]> =
        const { RefCell::new([None; PLACES]) };
}

/// The map of `request`, which `encode` makes unless a recent call of this thread had the same request.
pub fn map_of(
    request: &TensorMapRequest,
    encode: impl FnOnce() -> Outcome<Words>,
) -> Outcome<Words> {
    let place = place_of(request);
    let known = MAPS.with(|maps| match &maps.borrow()[place] {
        Some((known, words)) if known == request => Some(*words),
        _ => None,
    });
    match known {
        Some(words) => Ok(words),
        None => {
            let words = encode()?;
            MAPS.with(|maps| maps.borrow_mut()[place] = Some((*request, words)));
            Ok(words)
        }
    }
}

fn place_of(request: &TensorMapRequest) -> usize {
    // Multiplicative hashing: the upper bits of a product with 2^64 divided by the golden ratio.
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let [columns, rows] = request.box_sizes.map(u64::from);
    let mixed = (request.address ^ (columns << 32 | rows)).wrapping_mul(FACTOR);
    (mixed >> (u64::BITS - PLACES.ilog2())) as usize
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
