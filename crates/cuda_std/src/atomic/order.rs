//! The orders and scopes of atomic operations, as types: a load that releases does not compile.

use crate::machine::{self, MemoryOrder, MemoryScope};

mod sealed {
    pub trait Sealed {}
}

macro_rules! orders {
    ($($(#[$meta:meta])* $order:ident => $value:ident: $($operation:ident),*;)*) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug)]
        pub struct $order;

        impl sealed::Sealed for $order {}
        $(
            impl $operation for $order {
                const ORDER: MemoryOrder = MemoryOrder::$value;
            }
        )*
    )*};
}

orders! {
    /// Orders only the accesses of this word.
    Relaxed => Relaxed: LoadOrder, StoreOrder, UpdateOrder;
    /// The thread's later accesses come after the operation's read.
    Acquire => Acquire: LoadOrder, UpdateOrder;
    /// The thread's earlier accesses come before the operation's write.
    Release => Release: StoreOrder, UpdateOrder;
    /// [`Acquire`] and [`Release`].
    AcqRel => AcquireRelease: UpdateOrder;
}

/// [`AcqRel`], plus one order of all such fences. For [`fence`](super::fence) alone. (`fence.sc`)
///
/// If two of these fences include each other's threads, all threads agree which came first. As in PTX, no operation
/// on a word has this order.
#[derive(Clone, Copy, Debug)]
pub struct SeqCst;

impl sealed::Sealed for SeqCst {}

/// An order of fences: [`AcqRel`], [`SeqCst`].
pub trait FenceOrder: sealed::Sealed {
    #[doc(hidden)]
    fn fence(scope: MemoryScope);
}

impl FenceOrder for AcqRel {
    #[inline(always)]
    fn fence(scope: MemoryScope) {
        machine::fence_acq_rel(scope);
    }
}

impl FenceOrder for SeqCst {
    #[inline(always)]
    fn fence(scope: MemoryScope) {
        machine::fence_seq_cst(scope);
    }
}

macro_rules! order_traits {
    ($($(#[$meta:meta])* $name:ident;)*) => {$(
        $(#[$meta])*
        pub trait $name: sealed::Sealed {
            #[doc(hidden)]
            const ORDER: MemoryOrder;
        }
    )*};
}

order_traits! {
    /// An order of loads: [`Relaxed`], [`Acquire`].
    LoadOrder;
    /// An order of stores: [`Relaxed`], [`Release`].
    StoreOrder;
    /// An order of operations that read and write: all four.
    UpdateOrder;
}

/// The threads that an atomic operation synchronises: [`BlockScope`], [`ClusterScope`], [`DeviceScope`],
/// [`SystemScope`].
pub trait Scope: sealed::Sealed {
    #[doc(hidden)]
    const SCOPE: MemoryScope;
}

macro_rules! scopes {
    ($($(#[$meta:meta])* $scope:ident => $value:ident;)*) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug)]
        pub struct $scope;

        impl sealed::Sealed for $scope {}
        impl Scope for $scope {
            const SCOPE: MemoryScope = MemoryScope::$value;
        }
    )*};
}

scopes! {
    /// The threads of the block. (`.cta`)
    BlockScope => Block;
    /// The threads of the cluster, in kernels for compute capability 9.0 and later. (`.cluster`)
    ClusterScope => Cluster;
    /// All threads of the device. (`.gpu`)
    DeviceScope => Device;
    /// All threads of all devices, and the host. (`.sys`)
    SystemScope => System;
}
