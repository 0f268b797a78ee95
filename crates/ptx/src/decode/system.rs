//! Functions that the driver links: `vprintf` and `__assertfail` (PTX Writer's Guide, "System Calls").

use super::decoder::{At, Decoded, Decoder};
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
        let places = arguments.iter().map(|it| self.place_in_local(at, it));
        match (name, results) {
            ("vprintf", [result]) => {
                let places: Vec<u64> = places.collect::<Decoded<_>>()?;
                let [format, values] = *places.as_slice() else {
                    return Err(Unsupported);
                };
                let result = self.place_in_local(at, result)?;
                self.emit(Op::Print {
                    format,
                    values,
                    result,
                });
            }
            ("__assertfail", []) => {
                let places: Vec<u64> = places.collect::<Decoded<_>>()?;
                let [message, file, line, ..] = *places.as_slice() else {
                    return Err(Unsupported);
                };
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
}
