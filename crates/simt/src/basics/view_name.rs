//! The names of a kernel's views.

/// A view of global memory that a kernel takes, with the name of its parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ViewName {
    /// The address of its first byte.
    pub address: usize,
    /// The parameter's name.
    pub name: &'static str,
}

/// " (parameter `x`)" for the view that begins at `address`. For a part of a view: the last view that begins between
/// the allocation's `start` and `address`. Empty if there is none.
#[cold]
pub(crate) fn parameter_at(views: &[ViewName], start: usize, address: usize) -> String {
    let before = || {
        let views = views.iter();
        views.filter(|view| (start..=address).contains(&view.address))
    };
    let last = before().map(|view| view.address).max();
    // A launch may read one buffer through several parameters.
    let names = before().filter(|view| Some(view.address) == last);
    let names: Vec<_> = names.map(|view| format!("`{}`", view.name)).collect();
    match names.is_empty() {
        true => String::new(),
        false => format!(" (parameter {})", names.join(" or ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_view_has_its_name() {
        let of = |address, name| ViewName { address, name };
        let views = [of(100, "x"), of(160, "y")];
        assert_eq!(parameter_at(&views, 100, 100), " (parameter `x`)");
        assert_eq!(parameter_at(&views, 100, 159), " (parameter `x`)");
        assert_eq!(parameter_at(&views, 100, 200), " (parameter `y`)");
        assert_eq!(parameter_at(&views, 300, 310), "");
    }

    #[test]
    fn parameters_with_one_address_are_all_named() {
        let of = |address, name| ViewName { address, name };
        let views = [of(100, "x"), of(100, "y"), of(90, "z")];
        assert_eq!(parameter_at(&views, 80, 120), " (parameter `x` or `y`)");
    }
}
