//! LLVM intrinsics.

/// Declares LLVM intrinsics under Rust names.
macro_rules! intrinsics {
    ($(fn $name:ident($($argument:ident: $ty:ty),*) $(-> $result:ty)? = $link:literal;)*) => {
        unsafe extern "C" {
            $(
                #[link_name = $link]
                fn $name($($argument: $ty),*) $(-> $result)?;
            )*
        }
    };
}
pub(super) use intrinsics;
