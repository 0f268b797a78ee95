//! Enums whose values have names.

/// Defines an enum that is displayed as the text behind each of its values.
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
