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
    let before = views
        .iter()
        .filter(|view| (start..=address).contains(&view.address));
    let view = before.max_by_key(|view| view.address);
    view.map_or_else(String::new, |view| format!(" (parameter `{}`)", view.name))
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
}
