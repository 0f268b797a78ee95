//! The kernels of products with a vector.

use super::*;

#[test]
fn vectors_have_a_kernel_for_each_layout_of_the_matrix() {
    let fastest = Request::Fastest(Arithmetic::Auto, None);
    let (rows, columns) = (Order::RowMajor, Order::ColumnMajor);
    for (element, order, (m, k), alignment, expected) in [
        // 512 bytes are short.
        (ElementType::F32, rows, (1000, 128), 4, "matvec_short_f32"),
        (ElementType::F32, rows, (1000, 129), 16, "matvec_along_f32"),
        (ElementType::Bf16, rows, (3, 256), 2, "matvec_short_bf16"),
        (ElementType::F64, rows, (3, 65), 16, "matvec_along_f64"),
        // Columns of whole vectors.
        (
            ElementType::F64,
            columns,
            (1000, 3),
            16,
            "matvec_across_f64",
        ),
        (
            ElementType::F64,
            columns,
            (1001, 3),
            16,
            "matvec_unaligned_f64",
        ),
        (
            ElementType::F64,
            columns,
            (1000, 3),
            8,
            "matvec_unaligned_f64",
        ),
        (
            ElementType::F16,
            columns,
            (1004, 999),
            16,
            "matvec_unaligned_f16",
        ),
        (
            ElementType::F16,
            columns,
            (1008, 999),
            32,
            "matvec_across_f16",
        ),
    ] {
        let mut with_a = problem(element, (m, 1, k), order, Order::RowMajor);
        with_a.a.alignment = alignment;
        assert_eq!(name(&with_a, H200, fastest), Some(expected));
        let transposed = match order {
            Order::RowMajor => Order::ColumnMajor,
            Order::ColumnMajor => Order::RowMajor,
        };
        let mut with_b = problem(element, (1, m, k), Order::RowMajor, transposed);
        with_b.b.alignment = alignment;
        assert_eq!(name(&with_b, H200, fastest), Some(expected));
    }
    // Columns that do not all start at multiples of 16 bytes.
    let mut apart = problem(ElementType::F32, (1000, 1, 3), columns, Order::RowMajor);
    apart.a.leading_dimension = 1002;
    assert_eq!(name(&apart, H200, fastest), Some("matvec_unaligned_f32"));
}
