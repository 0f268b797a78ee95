//! Only the macros place a static array in the right state space.

use cuda_std::constant::ConstantArray;
use cuda_std::symbol::GlobalArray;

static CONSTANTS: ConstantArray<f32, 1> = ConstantArray::declared("CONSTANTS", [1.0]);
static TOTALS: GlobalArray<f32, 1> = GlobalArray::declared("TOTALS", [1.0]);

fn main() {}
