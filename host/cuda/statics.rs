//! Static arrays of a module.

use super::compile::RawModule;
use super::context::Current;
use super::driver::{Failure, call};
use std::ffi::CString;

/// The address and the size in bytes of a static array.
pub fn find_global(
    RawModule(module): RawModule,
    name: &str,
    _current: &Current<'_>,
) -> Result<(u64, usize), Failure> {
    let name = CString::new(name).map_err(|_| Failure::NOT_FOUND)?;
    let (mut address, mut bytes) = (0, 0);
    let places = (&raw mut address, &raw mut bytes);
    // SAFETY: both are valid for one number, the module is loaded, and the name ends with 0.
    unsafe {
        call!(cuModuleGetGlobal_v2(
            places.0,
            places.1,
            module,
            name.as_ptr()
        ))
    }?;
    Ok((address, bytes))
}
