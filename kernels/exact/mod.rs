//! Products whose outputs are exact dot products, rounded once.
//!
//! A row of A and a column of B become integers: each is multiplied by a power of two and rounded. The integers are
//! multiplied modulo coprime numbers of 8 bits, where tensor cores add exactly, and the Chinese remainder theorem gives
//! the integer product. (Ozaki, Uchino and Imamura call this the Ozaki scheme II, arXiv 2504.08009.)
//!
//! ```text
//! for each row of A and column of B:   the power of two, and a bound of what rounding loses     lines.rs
//! for each element and modulus:        the integer's residue                                    residues.rs
//! for each modulus:                    the product of residues, reduced                         residue.rs
//! for each output:                     the integer product, and an interval around the exact
//!                                      sum; if both ends round alike, that is the output        combine.rs
//! for each output that is left:        the exact dot product, in windows of 192 bits            dots.rs
//! ```
//!
//! An output is therefore the same on every device, whatever the number of moduli, the tiles and the order of k.
//!
//! | part | file |
//! |---|---|
//! | the moduli, and what makes residues | `moduli.rs` |
//! | what combines residues | `weights.rs` |
//! | f32 and f64 as integers times powers of two | `element.rs` |
//! | sums of several f64, and their rounding | `sum.rs` |

mod combine;
mod dots;
mod element;
mod lines;
mod moduli;
mod residue;
mod residues;
mod sum;
mod weights;

pub use combine::*;
pub use dots::*;
pub use element::ExactElement;
pub use lines::*;
pub use moduli::{MODULI, MOST_MODULI, Moduli, Modulus, operand_bits};
pub use residue::Modulo;
pub use residues::*;
pub use weights::{LIMB_BITS, Weights};
