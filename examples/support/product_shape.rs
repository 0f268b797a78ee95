//! NumPy's rules for the shapes of a product `a @ b`.

use ndarray::{ArrayViewD, CowArray, Ix2};

/// The shapes of a product of arrays, as products of matrices.
///
/// The last two axes are those of matrices. A vector is a row on the left and a column on the right, and has no axis
/// in the result. The other axes count matrices, and are broadcast.
pub struct ProductShape {
    /// The number of products.
    pub count: usize,
    /// The rows of each matrix on the left, its columns, and the columns of each matrix on the right.
    pub rows: usize,
    pub inner: usize,
    pub columns: usize,
    /// Whether each operand is a stack, and not one matrix that all products share.
    pub stacks: [bool; 2],
    /// The shape of the result.
    pub result: Vec<usize>,
    /// The axes before the last two.
    outer: Vec<usize>,
}

impl ProductShape {
    /// The error says which shapes do not match, and why.
    pub fn of(a: &[usize], b: &[usize]) -> Result<Self, String> {
        let refused =
            |reason: String| format!("arrays of shapes {a:?} and {b:?} have no product: {reason}");
        let (left, right) = match (a, b) {
            ([], _) | (_, []) => return Err(refused("one of them is a single number".to_owned())),
            (&[a], &[b]) => (vec![1, a], vec![b, 1]),
            (&[a], b) => (vec![1, a], b.to_vec()),
            (a, &[b]) => (a.to_vec(), vec![b, 1]),
            (a, b) => (a.to_vec(), b.to_vec()),
        };
        let ([a_outer @ .., rows, inner], [b_outer @ .., b_rows, columns]) =
            (&left[..], &right[..])
        else {
            unreachable!("both have two axes at least")
        };
        if inner != b_rows {
            return Err(refused(format!(
                "the last axis of the first, {inner}, must be as long as the last but one of the second, {b_rows} (the only one of a vector)"
            )));
        }
        let outer = broadcast(a_outer, b_outer).ok_or_else(|| {
            refused("the axes before the last two must be equal or 1 in one of them".to_owned())
        })?;
        let elements = outer.iter().chain([rows, columns, inner]);
        let most = elements
            .filter(|&&it| it != 0)
            .try_fold(1, |all: isize, &it| {
                all.checked_mul(isize::try_from(it).ok()?)
            });
        if most.is_none() {
            return Err(refused("it cannot be counted".to_owned()));
        }
        let own = |array: &[usize], extent| (array.len() > 1).then_some(extent);
        let last = own(a, *rows).into_iter().chain(own(b, *columns));
        Ok(Self {
            count: outer.iter().product(),
            rows: *rows,
            inner: *inner,
            columns: *columns,
            stacks: [a, b].map(is_stack),
            result: outer.iter().copied().chain(last).collect(),
            outer,
        })
    }

    /// The matrices of the left operand, stacked; one matrix if all products share it.
    pub fn left<'a, T: Clone>(&self, a: &'a ArrayViewD<'_, T>) -> CowArray<'a, T, Ix2> {
        self.stacked(a, [self.rows, self.inner])
    }

    /// The matrices of the right operand, like [`Self::left`].
    pub fn right<'a, T: Clone>(&self, b: &'a ArrayViewD<'_, T>) -> CowArray<'a, T, Ix2> {
        self.stacked(b, [self.inner, self.columns])
    }

    fn stacked<'a, T: Clone>(
        &self,
        array: &'a ArrayViewD<'_, T>,
        [rows, columns]: [usize; 2],
    ) -> CowArray<'a, T, Ix2> {
        let fits = "the shapes were compared";
        if !is_stack(array.shape()) {
            return array.to_shape((rows, columns)).expect(fits);
        }
        let (all, stack) = (
            [&self.outer[..], &[rows, columns]].concat(),
            (self.count * rows, columns),
        );
        if *array.shape() == all[..] {
            return array.to_shape(stack).expect(fits);
        }
        let all = array.broadcast(all).expect(fits);
        all.to_shape(stack).expect(fits).into_owned().into()
    }
}

/// Whether an array has axes that count matrices.
fn is_stack(shape: &[usize]) -> bool {
    shape.len() > 2
}

/// The extents to which arrays of both shapes are broadcast.
fn broadcast(a: &[usize], b: &[usize]) -> Option<Vec<usize>> {
    let axes = a.len().max(b.len());
    let extent = |shape: &[usize], axis: usize| match (axis + shape.len()).checked_sub(axes) {
        Some(axis) => shape[axis],
        None => 1,
    };
    let fitting = |axis| match (extent(a, axis), extent(b, axis)) {
        (a, b) if a == b || b == 1 => Some(a),
        (1, b) => Some(b),
        _ => None,
    };
    (0..axes).map(fitting).collect()
}
