//! Functions that launch kernels with an epilogue.

/// A function that launches the kernels of `$contract`.
///
/// Then come the lifetime of a kernel's parameters and the type of its sums, each parameter's type and value, and the
/// epilogue. Parameters that follow the epilogue's come last.
macro_rules! product_launch {
    (
        $(#[$documentation:meta])*
        $contract:ident, $name:ident<$($generic:ident: $bound:path),*>($($argument:ident: $arguments:ty),*);
        $launch:lifetime, $sum:ty;
        $($before:ty = $value:expr),*;
        $epilogue:expr
        $(; $($after:ty = $further:expr),*)?
    ) => {
        $(#[$documentation])*
        ///
        /// # Safety
        #[doc = concat!("Those of [`", stringify!($contract), "`](crate::matmul::entry::", stringify!($contract), ").")]
        pub unsafe fn $name<K, $($generic: $bound),*>(
            module: ModuleRef<'_>,
            config: LaunchConfig,
            $($argument: $arguments),*
        ) -> Outcome<()>
        where
            K: for<$launch> Kernel<
                Params<$launch> = (
                    $($before,)*
                    GridConstant<$launch, EpilogueNumbers<$sum>>,
                    Global<$launch, $sum>,
                    Global<$launch, $sum>,
                    Global<$launch, $sum>,
                    Global<$launch, $sum>,
                    $($($after,)*)?
                ),
            >,
        {
            // SAFETY: the launch meets the kernel's requirements and the views are live without conflicting work: the
            // caller's contract.
            unsafe {
                launch_with_epilogue! { module, K, config; $($value),*; $epilogue $(; $($further),*)? }
            }
        }
    };
}
pub(super) use product_launch;
