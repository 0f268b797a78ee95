//! Enums whose values have names.

/// Defines an enum that is displayed as the text behind each of its values, with the list of its values, `ALL`.
macro_rules! named {
    (
        $(#[$about:meta])*
        $visibility:vis enum $name:ident {
            $($(#[$of_value:meta])* $value:ident = $text:literal,)*
        }
    ) => {
        $(#[$about])*
        $visibility enum $name {
            $($(#[$of_value])* $value,)*
        }

        #[allow(dead_code, reason = "some enums need no list")]
        impl $name {
            /// All values, in order.
            pub const ALL: &'static [Self] = &[$(Self::$value,)*];
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str(match self {
                    $(Self::$value => $text,)*
                })
            }
        }
    };
}
pub(crate) use named;
