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
    /// Orders the word alone.
    Relaxed => Relaxed: LoadOrder, StoreOrder, UpdateOrder;
    /// What the operation reads comes before what the thread does afterwards.
    Acquire => Acquire: LoadOrder, UpdateOrder;
    /// What the thread has done comes before what the operation writes.
    Release => Release: StoreOrder, UpdateOrder;
    /// [`Acquire`] and [`Release`].
    AcqRel => AcquireRelease: UpdateOrder;
}

/// An order of a [`fence`](super::fence) alone: that of [`AcqRel`], and one among the fences that have it. If two
/// of them include each other's threads, all threads agree which came first. No operation on a word has it, as
/// none of PTX has. (`fence.sc`)
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

/// Which threads an atomic operation is for: [`BlockScope`], [`ClusterScope`], [`DeviceScope`], [`SystemScope`].
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
