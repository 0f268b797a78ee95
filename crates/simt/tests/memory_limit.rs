//! Where the host has no memory left, a launch fails with a report, and nothing ends the process.

#![cfg(target_os = "linux")]

mod common;

use common::child::{in_child, limit_address_space};
use common::{launch, launch_with, serial, sync};
use simt::{AccessKind, Contents, DefectKind, NoMemory, Space};

#[test]
fn no_room_for_the_bits_of_an_allocation() {
    in_child("no_room_for_the_bits_of_an_allocation", || {
        limit_address_space(64 << 20);
        let register = |contents| simt::register_allocation(1 << 40, 1 << 36, contents);
        assert_eq!(register(Contents::Unspecified), Err(NoMemory));
        assert_eq!(register(Contents::Written), Ok(()));
    });
}

#[test]
fn no_room_for_the_shadow() {
    in_child("no_room_for_the_shadow", || {
        launch_with(&serial(0), 1, 32, sync).unwrap();
        limit_address_space(64 << 20);
        // The shadow has 16 times the size of the memory. Only the checks touch the addresses.
        let defect = launch_with(&serial(0), 1, 32, || {
            for page in 0..1 << 20 {
                simt::access(
                    Space::Global,
                    AccessKind::Read,
                    1 << 40,
                    1 << 30,
                    page * 256,
                    4,
                    4,
                );
            }
        })
        .unwrap_err();
        assert_eq!(defect.kind, DefectKind::HostResources, "{defect}");
        assert!(defect.location.is_some(), "{defect}");
        limit_address_space(u64::MAX);
        assert_eq!(launch(8, 32, sync).unwrap().barriers, 8);
    });
}
