//! Ties a view's type to its name in a kernel's parameters and to its element type.

use super::{Global, GlobalAtomic, GlobalMatrix, GlobalMatrixMut, GlobalMut};

/// The views, by their names.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ViewKind {
    /// [`Global`]
    Global,
    /// [`GlobalMut`]
    GlobalMut,
    /// [`GlobalAtomic`]
    GlobalAtomic,
    /// [`GlobalMatrix`]
    GlobalMatrix,
    /// [`GlobalMatrixMut`]
    GlobalMatrixMut,
}

/// A view of global memory: ties the view's type to its element's, for `#[kernel]`.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a view of device memory",
    label = "`#[kernel]` recognises views by this name",
    note = "the names `Global`, `GlobalMut`, `GlobalAtomic`, `GlobalMatrix` and `GlobalMatrixMut` \
            are those of `cuda_std::global`"
)]
pub trait View: sealed::View {
    /// The element type.
    type Element;

    /// Which view it is.
    const KIND: ViewKind;
}

macro_rules! views {
    ($($view:ident)*) => {$(
        impl<T> View for $view<'_, T> {
            type Element = T;
            const KIND: ViewKind = ViewKind::$view;
        }
        impl<T> sealed::View for $view<'_, T> {}
    )*};
}
views!(Global GlobalMut GlobalAtomic GlobalMatrix GlobalMatrixMut);

mod sealed {
    pub trait View {}
}
