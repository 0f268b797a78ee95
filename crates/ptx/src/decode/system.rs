//! Functions that the driver links: `vprintf` and `__assertfail` (PTX Writer's Guide, "System Calls").

use super::at::{At, Decoded};
use super::decoder::Decoder;
use super::error::DecodeErrorKind::Unsupported;
use super::op::Op;
use crate::syntax::Operand;

impl Decoder<'_> {
    /// Emits the call of a function that the module only declares; whether there is such a function.
    pub(super) fn system_call(
        &mut self,
        at: At<'_>,
        name: &str,
        arguments: &[Operand],
        results: &[Operand],
    ) -> Decoded<bool> {
        match (name, results) {
            ("vprintf", [result]) => {
                let [format, values] = self.places(at, arguments, [8, 8])?;
                let [result] = self.places(at, std::slice::from_ref(result), [4])?;
                self.emit(Op::Print {
                    format,
                    values,
                    result,
                });
            }
            ("__assertfail", []) => {
                let [message, file, line, ..] = self.places(at, arguments, [8, 8, 4, 8, 8])?;
                self.emit(Op::AssertFail {
                    message,
                    file,
                    line,
                });
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The places in local memory of arguments or results of these sizes.
    fn places<const N: usize>(
        &self,
        at: At<'_>,
        operands: &[Operand],
        sizes: [usize; N],
    ) -> Decoded<[u64; N]> {
        let places = operands.iter().zip(sizes);
        let places = places.map(|(operand, bytes)| self.place_in_local(at, operand, bytes));
        let places: Vec<u64> = places.collect::<Decoded<_>>()?;
        match operands.len() == N {
            true => places.try_into().map_err(|_| Unsupported),
            false => Err(Unsupported),
        }
    }
}
