//! What all rows of a run have in common: its options, and what the kernel adds to them.

use super::RunRequest;
use super::conditions::Dirs;
use super::request::{cpus_text, data_word, timing_text};
use crate::host::kernel::KernelFacts;
use crate::output::{Column, Row};

/// Sets what was asked for, and what the kernel adds to it.
pub(super) fn set(row: &mut Row, request: &RunRequest, kernel: &KernelFacts) {
    set_options(row, request);
    set_security(row, kernel);
    if let Some(dirs) = &request.conditions.dirs {
        set_dirs(row, dirs);
    }
}

fn set_options(row: &mut Row, request: &RunRequest) {
    let load = &request.load;
    row.set(Column::Options, request.options_text())
        .set(Column::TimeS, request.time.map(|time| time.as_secs_f64()))
        .set(Column::WarmupS, request.warmup.as_secs_f64())
        .set(Column::PassesLimit, load.passes)
        .set(Column::IntervalS, request.interval.map(|interval| interval.as_secs_f64()))
        .set(Column::RateOps, load.rate)
        .set(Column::Data, data_word(load.data))
        .set(Column::Depth, request.depth)
        .set(Column::MountAcl, request.conditions.mount_acl.word())
        .set(Column::AclCache, request.conditions.acl_cache.word())
        .set(Column::DropCaches, request.conditions.drop_caches)
        .set(Column::PathMode, load.path.word())
        .set(Column::Timestamps, timing_text(load.timing))
        .set(Column::SyncOpen, load.sync_open)
        .set(Column::SyncDir, load.sync_dir)
        .set(Column::Fsync, load.fsync)
        .set(Column::Xattr, load.xattr)
        .set(Column::Resolve, load.resolve)
        .set(Column::FakeIo, load.fake_io)
        .set(Column::Direct, load.direct)
        .set(Column::Share, request.share_text())
        .set(Column::Cpus, if load.cpus.is_empty() { "all".into() } else { cpus_text(&load.cpus) });
}

/// What may refuse, or only look at, what modes and ACLs allow.
fn set_security(row: &mut Row, kernel: &KernelFacts) {
    row.set(Column::Lsm, kernel.lsm.as_ref().map(|modules| modules.join(",")))
        .set(Column::Selinux, kernel.selinux)
        .set(Column::SelinuxLabel, kernel.selinux_label.clone())
        .set(Column::ApparmorLabel, kernel.apparmor_label.clone())
        .set(Column::AuditEnabled, kernel.audit.enabled.map(u64::from))
        .set(Column::AuditRules, kernel.audit.rules);
}

fn set_dirs(row: &mut Row, dirs: &Dirs) {
    row.set(Column::DirOwner, dirs.owner.word())
        .set(Column::DirMode, format!("{:04o}", dirs.mode))
        .set(Column::DirAcl, u64::from(dirs.acl))
        .set(Column::AclMatch, dirs.acl_match)
        .set(Column::DefaultAcl, dirs.default_acl);
}
