//! If the host runs out of memory, a launch fails with a report, and the process continues.

#![cfg(target_os = "linux")]

mod borrowed;
mod common;

use common::child::{in_child, limit_address_space};
use common::{launch, launch_with, serial, sync};
use simt::{
    AccessKind, Contents, DefectKind, Launch, Options, OutOfMemory, Space, Texels, Texture,
    TextureOptions,
};

#[test]
fn no_room_for_the_bits_of_an_allocation() {
    in_child("no_room_for_the_bits_of_an_allocation", || {
        limit_address_space(64 << 20);
        let register = |contents| {
            // SAFETY: no launch accesses such memory.
            unsafe { simt::register_allocation(1 << 40, 1 << 36, contents) }
        };
        assert_eq!(register(Contents::Uninitialised), Err(OutOfMemory));
        assert_eq!(register(Contents::Initialised), Ok(()));
    });
}

#[test]
fn no_room_for_the_shadow() {
    in_child("no_room_for_the_shadow", || {
        launch_with(&serial(0), 1, 32, sync).unwrap();
        limit_address_space(64 << 20);
        // The shadow has 4 times the size of the memory. Only the checks touch the addresses.
        let defect = launch_with(&serial(0), 1, 32, || {
            for page in 0..1 << 20 {
                // SAFETY: there is no such memory, and none is registered there during the launch.
                unsafe {
                    simt::access(
                        Space::Global,
                        AccessKind::Read,
                        1 << 40,
                        1 << 30,
                        page * 256,
                        4,
                        4,
                    )
                };
            }
        })
        .unwrap_err();
        assert_eq!(defect.kind, DefectKind::HostResources, "{defect}");
        assert!(defect.location.is_some(), "{defect}");
        limit_address_space(u64::MAX);
        assert_eq!(launch(8, 32, sync).unwrap().barriers, 8);
    });
}

/// 8 MiB of words, each written and read: their shadow has at most 32 MiB.
#[test]
fn the_shadow_has_at_most_four_times_the_size_of_the_memory() {
    in_child(
        "the_shadow_has_at_most_four_times_the_size_of_the_memory",
        || {
            launch_with(&serial(0), 1, 32, sync).unwrap();
            limit_address_space(32 << 20);
            launch_with(&serial(0), 1, 1, || {
                for word in 0..2 << 20 {
                    for kind in [AccessKind::Read, AccessKind::Write, AccessKind::Read] {
                        // SAFETY: there is no such memory, and none is registered there during the launch.
                        unsafe {
                            simt::access(Space::Global, kind, 1 << 40, 8 << 20, word * 4, 4, 4)
                        };
                    }
                }
            })
            .unwrap();
        },
    );
}

#[test]
fn no_room_for_the_shared_memory_of_blocks() {
    in_child("no_room_for_the_shared_memory_of_blocks", || {
        resident_blocks_do_not_fit(false);
    });
}

#[test]
fn no_room_for_the_shared_memory_of_checked_blocks() {
    in_child("no_room_for_the_shared_memory_of_checked_blocks", || {
        resident_blocks_do_not_fit(true);
    });
}

/// The blocks of a cooperative launch exist at the same time, with 227 KiB each.
fn resident_blocks_do_not_fit(checks: bool) {
    let options = Options {
        checks,
        ..Options::default()
    };
    let launch_of = |blocks: u32| {
        let launch = Launch::new("test_kernel", blocks, 8, &options);
        crate::borrowed::run_cooperative(&launch, &|| ())
    };
    launch_of(1).unwrap();
    limit_address_space(64 << 20);
    let defect = launch_of(2048).unwrap_err();
    assert_eq!(defect.kind, DefectKind::HostResources, "{defect}");
    limit_address_space(u64::MAX);
    assert_eq!(launch_of(2048).unwrap().blocks, 2048);
}

#[test]
fn no_room_for_a_texture() {
    in_child("no_room_for_a_texture", || {
        let texels = vec![0_u8; 32 << 20];
        limit_address_space(64 << 20);
        // Each element becomes an f32.
        let texture = |rows| {
            let texels = Texels::Unorm8(&texels[..rows << 10]);
            Texture::new(1 << 10, rows, texels, TextureOptions::default())
        };
        assert_eq!(texture(32 << 10).err(), Some(OutOfMemory));
        assert_eq!(texture(1).unwrap().texels(), 1 << 10);
    });
}
