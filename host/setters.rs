//! Methods that set a field.

/// Public methods that set a field of `self` and return it: `name(value: Type) => field = expression;`.
macro_rules! setters {
    ($($(#[$attribute:meta])* $name:ident($value:ident: $type:ty) => $($field:ident).+ = $set:expr;)*) => {$(
        $(#[$attribute])*
        #[must_use]
        pub fn $name(mut self, $value: $type) -> Self {
            self.$($field).+ = $set;
            self
        }
    )*};
}
pub(crate) use setters;
