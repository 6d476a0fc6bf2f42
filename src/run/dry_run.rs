//! What `--dry-run` says beside the usual first line.

use super::prepare::{Prepared, ReadyDisk};
use super::{RunRequest, notes};
use crate::units::{format_bytes, format_duration};

/// What would be used, and what it would take.
pub(super) fn lines(request: &RunRequest, prepared: &Prepared) -> Vec<String> {
    let clients = request.clients;
    let mut lines: Vec<String> =
        prepared.disks.iter().map(|disk| disk_line(disk, clients)).collect();
    lines.extend(prepared.left_out.iter().map(notes::left_out));
    lines.push(format!(
        "engine {}, {} threads per disk, {} in all; each client has up to {} open handles",
        prepared.pools.engine.word(),
        prepared.pools.threads,
        u64::from(prepared.pools.threads) * prepared.disks.len() as u64,
        prepared.handles
    ));
    lines.push(format!(
        "the clients' buffers take up to {} of memory; files in memory come on top",
        format_bytes(prepared.buffers)
    ));
    lines.push(match (request.time, request.load.passes) {
        (Some(time), None) => {
            let all = format_duration(time + request.warmup);
            format!("it takes {all}, and the time to store and remove what was written")
        }
        (Some(time), Some(_)) => {
            format!("it takes at most {}", format_duration(time + request.warmup))
        }
        (None, _) => "how long the passes take is not known".into(),
    });
    lines
}

fn disk_line(disk: &ReadyDisk, clients: u32) -> String {
    let mount = disk.check.mount.as_ref();
    let what = mount.map_or("unknown", |mount| mount.fstype.as_str());
    format!(
        "would use {} ({what}): up to {} of files at a time, {} a client",
        disk.label(),
        format_bytes(disk.need_bytes),
        format_bytes(disk.need_bytes / u64::from(clients.max(1)))
    )
}
