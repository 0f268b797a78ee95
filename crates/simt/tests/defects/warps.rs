//! Operations of warps.
//!
//! The seeds are fixed, whatever `TILEWRIGHT_SEEDS` says: these are tests of the simulator, not of a kernel.

use crate::common::{launch, thread_x};
use crate::defect;
use simt::DefectKind;

#[test]
fn mask_that_names_no_lane_of_the_warp() {
    let missing = defect(launch(1, 48, || simt::warp_barrier(0xffff_ffff)));
    assert_eq!(missing.kind, DefectKind::WarpDivergence);
    assert!(missing.message.contains("lane 16"), "{missing}");
    let itself = defect(launch(1, 32, || simt::warp_barrier(0b10)));
    assert!(itself.message.contains("does not name it"), "{itself}");
    let none = defect(launch(1, 32, || simt::warp_barrier(0)));
    assert_eq!(none.kind, DefectKind::WarpDivergence);
}

#[test]
fn two_lanes_at_different_operations() {
    let found = defect(launch(1, 2, || {
        let kind = if thread_x() == 0 { "shuffle" } else { "ballot" };
        crate::borrowed::warp_collective(kind, 0b11, 0, |_| ());
    }));
    assert_eq!(found.kind, DefectKind::WarpDivergence);
    assert!(found.message.contains("shuffle") && found.message.contains("ballot"));
}

#[test]
fn overlapping_masks_that_wait_for_each_other() {
    let found = defect(launch(1, 3, || {
        let mask = if thread_x() == 0 { 0b11 } else { 0b111 };
        simt::warp_barrier(mask);
    }));
    assert_eq!(found.kind, DefectKind::WarpDivergence);
    assert!(found.message.contains("different masks"), "{found}");
}

#[test]
fn masks_that_wait_in_a_circle() {
    let found = defect(launch(1, 3, || {
        let masks = [0b011, 0b110, 0b101];
        simt::warp_barrier(masks[thread_x() as usize]);
    }));
    assert_eq!(found.kind, DefectKind::WarpDivergence, "{found}");
}

#[test]
fn endless_nesting_of_warp_operations() {
    fn nest(depth: u32) {
        if depth > 0 {
            let lane = simt::position().lane;
            crate::borrowed::warp_collective("nested", 1 << lane, 0, |_| nest(depth - 1));
        }
    }
    launch(1, 32, || nest(64)).unwrap();
    let found = defect(launch(1, 32, || nest(65)));
    assert_eq!(found.kind, DefectKind::Panic);
}

/// A number that a lane contributes to one operation is not mistaken for an address in another.
#[test]
fn an_exchange_against_another_operation_of_its_name() {
    fn exchange<T: 'static>(part: &mut T) {
        // SAFETY: it does nothing.
        unsafe { simt::warp_exchange("swap", None, 0b11, part, |_| ()) };
    }
    let exchanges: [fn(); 3] = [
        || {
            crate::borrowed::warp_collective("swap", 0b11, 8, |_| ());
        },
        || exchange(&mut [0_u64; 4]),
        || exchange(&mut 0_u32),
    ];
    for (other, is_same) in exchanges.into_iter().zip([false, false, true]) {
        let result = launch(1, 2, || match thread_x() {
            0 => other(),
            _ => exchange(&mut 0_u32),
        });
        if is_same {
            result.unwrap();
            continue;
        }
        let found = defect(result);
        assert_eq!(found.kind, DefectKind::WarpDivergence, "{found}");
        assert!(
            found.message.contains("of different types to swap"),
            "{found}"
        );
    }
}
