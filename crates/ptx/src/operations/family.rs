//! The common parts of the families.

use crate::words::Words;
use std::fmt;
use std::ops::RangeInclusive;

/// Instructions that have the same modifiers in the same order.
pub(crate) trait Family: Sized {
    /// The number of operands that they take.
    const OPERANDS: RangeInclusive<usize>;

    /// Reads an instruction with exactly these words.
    fn read(words: Words<'_, '_>) -> Option<Self>;

    /// Writes the name and the modifiers.
    fn write(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result;

    #[cfg(test)]
    fn any() -> proptest::strategy::BoxedStrategy<Self>;
}

/// Takes a name, which may have several words, from the front.
pub(crate) fn take_name(words: &mut Words<'_, '_>, name: &str) -> Option<()> {
    let mut rest = *words;
    for part in name.split('.') {
        rest.take(|word| (word == part).then_some(()))?;
    }
    *words = rest;
    Some(())
}

/// Defines a family: its names, the number of its operands, and its modifiers in their order.
macro_rules! family {
    (
        $(#[$about:meta])*
        $family:ident: $name:ident { $($variant:ident = $text:literal,)* }
        with $operands:expr;
        $($(#[$of_field:meta])* $field:ident: $type:ty,)*
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub struct $family {
            /// The instruction's name.
            pub name: $name,
            $($(#[$of_field])* pub $field: $type,)*
        }

        $crate::words::texts! {
            "",
            #[doc = concat!("A name of an instruction of the family [`", stringify!($family), "`].")]
            $name { $($variant = $text,)* }
        }

        impl $crate::operations::family::Family for $family {
            const OPERANDS: std::ops::RangeInclusive<usize> = $operands;

            fn read(words: $crate::words::Words<'_, '_>) -> Option<Self> {
                $name::ALL.iter().find_map(|name| {
                    #[allow(unused_mut, reason = "a family without modifiers takes nothing more")]
                    let mut words = words;
                    $crate::operations::family::take_name(&mut words, name.text())?;
                    let family = Self {
                        name: *name,
                        $($field: <$type as $crate::words::Field>::take(&mut words)?,)*
                    };
                    words.0.is_empty().then_some(family)
                })
            }

            fn write(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str(self.name.text())?;
                $($crate::words::Field::put(&self.$field, formatter)?;)*
                Ok(())
            }

            #[cfg(test)]
            fn any() -> proptest::strategy::BoxedStrategy<Self> {
                use proptest::strategy::Strategy;
                #[allow(unused_imports, reason = "a family without modifiers has none")]
                use $crate::words::Field;
                let name = proptest::sample::select($name::ALL);
                $(let $field = <$type as Field>::any();)*
                // Pairs of pairs, because tuples of many elements are no strategies.
                $crate::operations::family::nested!(name, [$($field)*])
                    .prop_map(|$crate::operations::family::nested!(name, [$($field)*])| {
                        Self { name, $($field,)* }
                    })
                    .boxed()
            }
        }
    };
}
pub(crate) use family;

/// A tuple of a first element and a tuple of the rest, and so on.
#[cfg(test)]
macro_rules! nested {
    ($first:ident, []) => { ($first, ) };
    ($first:ident, [$second:ident $($rest:ident)*]) => {
        ($first, $crate::operations::family::nested!($second, [$($rest)*]))
    };
}
#[cfg(test)]
pub(crate) use nested;
