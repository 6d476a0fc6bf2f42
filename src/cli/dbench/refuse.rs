//! Options of dbench that are not there, each with what to use instead.

use super::args::{DbenchArgs, Others};

const NETWORK: &str =
    "jbodbench loads file systems: mount the server, and give the mount point with -D";
const DEVICE: &str = "jbodbench loads file systems: make one on the device, and give its mount point \
                      with -D; fio loads devices";

/// Says of an option that is not there what to use.
pub(super) fn refuse(args: &DbenchArgs) -> Result<(), String> {
    let refused = |option: &str, instead: &str| Err(format!("{option}: {instead}"));
    match args.backend.as_deref() {
        None | Some("fileio") => {}
        Some(name @ ("scsi" | "iscsi" | "block")) => {
            return refused(&format!("--backend {name}"), DEVICE);
        }
        Some(name @ ("nfs" | "smb" | "sockio")) => {
            return refused(&format!("--backend {name}"), NETWORK);
        }
        Some(name) => return refused(&format!("--backend {name}"), "expected fileio"),
    }
    match named(&args.others) {
        Some((option, instead)) => refused(option, instead),
        None => Ok(()),
    }
}

fn named(others: &Others) -> Option<(&'static str, &'static str)> {
    let table = [
        (
            others.one_byte_write_fix,
            "--one-byte-write-fix",
            "writes are made as the loadfile has them; leave it out",
        ),
        (
            others.stat_check,
            "--stat-check",
            "calls are made as the loadfile has them; leave it out",
        ),
        (others.server.is_some(), "--server", NETWORK),
        (others.nfs.is_some(), "--nfs", NETWORK),
        (others.export.is_some(), "--export", NETWORK),
        (others.protocol.is_some(), "--protocol", NETWORK),
        (others.enable_nlm, "--enable-nlm", NETWORK),
        (others.smb_share.is_some(), "--smb-share", NETWORK),
        (others.smb_user.is_some(), "--smb-user", NETWORK),
        (others.scsi.is_some(), "--scsi", DEVICE),
        (others.allow_scsi_writes, "--allow-scsi-writes", DEVICE),
        (others.iscsi.is_some(), "--iscsi", DEVICE),
        (others.iscsi_initiatorname.is_some(), "--iscsi-initiatorname", DEVICE),
        (others.block.is_some(), "--block", DEVICE),
    ];
    table.into_iter().find(|(given, ..)| *given).map(|(_, option, instead)| (option, instead))
}
