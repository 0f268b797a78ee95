//! Outputs of i8 products as residues.

use super::moduli::{MODULI, MOST_MODULI, Modulus};
use crate::epilogue::Epilogue;
use crate::finish::{Finish, Output};

/// What [`Modulo`] needs of a modulus.
const REDUCED: [Modulus; MOST_MODULI] = {
    let mut all = [Modulus::new(MODULI[0]); MOST_MODULI];
    let mut i = 1;
    while i < MOST_MODULI {
        all[i] = Modulus::new(MODULI[i]);
        i += 1;
    }
    all
};

/// The epilogue of a product of residues: the sum modulo a number.
#[derive(Clone, Copy)]
pub struct Modulo {
    modulus: Modulus,
}

impl Finish for Modulo {
    type Sum = i32;
    type Line = ();

    #[inline(always)]
    fn reads_c(&self) -> bool {
        false
    }

    #[inline(always)]
    unsafe fn row(&self, _index: usize) {}

    #[inline(always)]
    unsafe fn column(&self, _index: usize) {}

    #[inline(always)]
    fn output(&self, sum: i32, _c: i32, (): (), (): ()) -> i32 {
        self.modulus.reduce(sum)
    }
}

/// Residues of matrix number i of a batch are those of modulus number i modulo `alpha`, the number of moduli.
impl Output for i8 {
    type Sum = i32;
    type Finish<'a> = Modulo;

    #[inline(always)]
    fn widen(self) -> i32 {
        self.into()
    }

    #[inline(always)]
    fn narrow_pair(values: [i32; 2]) -> [Self; 2] {
        values.map(|value| value as Self)
    }

    #[inline(always)]
    fn finish(epilogue: Epilogue<'_, i32>, matrix: usize) -> Modulo {
        let number = matrix as u32 % epilogue.numbers.alpha as u32;
        Modulo {
            modulus: REDUCED[number as usize % MOST_MODULI],
        }
    }
}
