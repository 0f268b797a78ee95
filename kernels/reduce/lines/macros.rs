//! The kernels of lines and segments, as macros: the library's are of the table, those of other crates of
//! [`reductions!`](crate::reductions).
//!
//! Names of parameters and variables begin with two underscores, which documentation leaves out: a constant of the
//! calling module that had one's name would be a pattern in its place.

/// The kernels that reduce lines of `$item`s, from one array of `$element` or two: `$along` for contiguous lines,
/// `$across` if neighbouring lines are contiguous. `$source` has the lines.
#[doc(hidden)]
#[macro_export]
macro_rules! line_kernels {
    ([$(#[doc = $text:expr])*] $arrays:tt of $element:ty: $operation:tt of $item:ty, $source:expr,
        $along:ident at $along_blocks:literal blocks, $across:ident at $across_blocks:literal blocks) => {
        // Where the kernels are defined, since a kernel's body may be left out until it is launched.
        const _: () = $crate::reduce::lines::assert_accumulator::<
            <$operation as $crate::reduce::Reduction<$item>>::Accumulator,
        >();

        $crate::line_kernels! { @entry [$(#[doc = $text])*] $arrays $along_blocks, $along of $element:
            $operation of $item, __lanes,
            "A line's elements lie one after another.",
            "4. `lanes` is a power of two up to 32, and `4 * lanes` at least the smaller of `len` and 128. \
             There are threads for all lines, 4 lines for each `lanes` threads where `len` is at most 128, \
             and otherwise 32 for each part of each section of all lines.",
            "from one line to the next",
            |__count, __len, __workspace| {
                let __lines = $crate::reduce::lines::Lines { source: $source, count: __count, len: __len };
                let __scratch = $crate::cuda_std::shared_array![
                    <$operation as $crate::reduce::Reduction<$item>>::Accumulator;
                    $crate::reduce::lines::MOST_PARTS
                ];
                $crate::reduce::lines::reduce_along::<
                    $operation, _, { $crate::reduce::lines::vector_of::<$element>() },
                >(__lines, __lanes, __workspace, __scratch)
            }
        }
        $crate::line_kernels! { @entry [$(#[doc = $text])*] $arrays $across_blocks, $across of $element:
            $operation of $item, __groups,
            "The elements of neighbouring lines lie one after another.",
            "4. `groups` is `count` by the lines of a block (`LinePlan::lines_of_block_across`), rounded \
             up, and there are `groups` blocks for each unit (`LinePlan::units_across` of each section).",
            "from one element of a line to the next",
            |__count, __len, __workspace| {
                let __lines = $crate::reduce::lines::Lines { source: $source, count: __count, len: __len };
                let __scratch = $crate::cuda_std::shared_array![
                    <$operation as $crate::reduce::Reduction<$item>>::Accumulator;
                    $crate::reduce::lines::LINE_THREADS as usize
                ];
                let __flag = $crate::cuda_std::shared_array![u32; 1];
                $crate::reduce::lines::reduce_across::<$operation, _>(__lines, __groups, __workspace, __scratch, __flag)
            }
        }
    };
    (@entry [$(#[doc = $text:expr])*] ($x:ident $apart:ident $(, $y:ident $y_apart:ident)?) $blocks:literal,
        $name:ident of $element:ty: $operation:tt of $item:ty, $extra:ident,
        $where:literal, $grid:literal, $stride:literal,
        |$count:ident, $len:ident, $workspace:ident| $body:expr) => {
        $(#[doc = $text])*
        #[doc = concat!("`", stringify!($operation), "` of each of `count` lines of `len` ",
            stringify!($element), $(", paired with those of `", stringify!($y), "`",)? ". ", $where)]
        ///
        /// For contiguous lines, `partials` has an element for each section of each line, and `tickets` a counter for
        /// each line; otherwise an element for each unit, and a counter for each 32 lines. If lines have one section,
        /// or one unit, both may be empty.
        ///
        /// # Safety
        /// 1. The launch has blocks of 256 threads along x.
        #[doc = concat!("2. `", stringify!($x), "` has all elements of the lines: `", stringify!($apart),
            "` is the stride ", $stride, ".",
            $(" Likewise `", stringify!($y), "` with the stride `", stringify!($y_apart), "`.",)?)]
        /// 3. The tickets are 0 and no other launch uses `partials` and `tickets` meanwhile; the
        ///    launch leaves the tickets at 0. `values` has an element for each line.
        #[doc = $grid]
        #[$crate::cuda_std::kernel(max_threads = 256, min_blocks = $blocks)]
        #[allow(clippy::too_many_arguments)]
        pub unsafe fn $name(
            $x: $crate::cuda_std::global::Global<$element>,
            $($y: $crate::cuda_std::global::Global<$element>,)?
            __count: usize,
            __len: usize,
            $apart: usize,
            $($y_apart: usize,)?
            $extra: u32,
            __partials: $crate::cuda_std::global::GlobalMut<
                <$operation as $crate::reduce::Reduction<$item>>::Accumulator,
            >,
            __tickets: $crate::cuda_std::global::GlobalMut<u32>,
            __values: $crate::cuda_std::global::GlobalMut<
                <$operation as $crate::reduce::Reduction<$item>>::Output,
            >,
        ) {
            let ($count, $len) = (__count, __len);
            let $workspace = $crate::reduce::lines::LineWorkspace {
                partials: __partials,
                tickets: __tickets,
                values: __values,
            };
            // SAFETY: the caller's contract. Shared memory is declared here.
            unsafe { $body }
        }
    };
}

/// A kernel that reduces segments of `$item`s, from one array of `$element` or two.
#[doc(hidden)]
#[macro_export]
macro_rules! segment_kernel {
    ([$(#[doc = $text:expr])*] ($x:ident $(, $y:ident)?) of $element:ty: $operation:tt of $item:ty, $source:expr,
        $name:ident at $blocks:literal blocks) => {
        $(#[doc = $text])*
        #[doc = concat!("`", stringify!($operation), "` of each segment of an array of ",
            stringify!($element), $(", paired with those of `", stringify!($y), "`",)? ".")]
        ///
        /// `offsets` has the start of each segment, and the end of the last. `parts` lists the sections of segments
        /// of more than 128 elements, once for each part of the section.
        ///
        /// # Safety
        /// 1. The launch has blocks of 256 threads along x: one for each 8 parts, rounded up, and one for each 32
        ///    segments. There is at least one segment.
        #[doc = concat!("2. `offsets` are ascending, one more than segments, and none is past the end of `",
            stringify!($x), "`", $(" or of `", stringify!($y), "`",)? ".")]
        /// 3. For every segment of more than 128 elements, `parts` has each section of its `LinePlan`, from
        ///    `list_section`, once for each part of the section. A segment's entries are consecutive and in order.
        ///    Segments with the most parts per section come first.
        /// 4. If a segment has several sections, `partials` and `tickets` are as long as `parts`. The
        ///    tickets are 0, and no other launch uses either meanwhile; the launch leaves 0 in the tickets.
        ///    `values` has an element for each segment.
        #[$crate::cuda_std::kernel(max_threads = 256, min_blocks = $blocks)]
        pub unsafe fn $name(
            $x: $crate::cuda_std::global::Global<$element>,
            $($y: $crate::cuda_std::global::Global<$element>,)?
            __offsets: $crate::cuda_std::global::Global<u64>,
            __parts: $crate::cuda_std::global::Global<u64>,
            __partials: $crate::cuda_std::global::GlobalMut<
                <$operation as $crate::reduce::Reduction<$item>>::Accumulator,
            >,
            __tickets: $crate::cuda_std::global::GlobalMut<u32>,
            __values: $crate::cuda_std::global::GlobalMut<
                <$operation as $crate::reduce::Reduction<$item>>::Output,
            >,
        ) {
            let __segments = $crate::reduce::lines::Segments { source: $source, offsets: __offsets, parts: __parts };
            let __workspace = $crate::reduce::lines::LineWorkspace {
                partials: __partials,
                tickets: __tickets,
                values: __values,
            };
            let __scratch = $crate::cuda_std::shared_array![
                <$operation as $crate::reduce::Reduction<$item>>::Accumulator;
                $crate::reduce::lines::MOST_PARTS
            ];
            // SAFETY: the caller's contract. The scratch is declared here.
            unsafe {
                $crate::reduce::lines::reduce_segments::<
                    $operation, _, { $crate::reduce::lines::vector_of::<$element>() },
                >(__segments, __workspace, __scratch)
            }
        }
    };
}
