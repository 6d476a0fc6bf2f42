//! The file on each disk that the tests read and write over: how large, and its making.

use std::collections::BTreeMap;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use rustix::io::Errno;
use tokio::sync::oneshot;

use super::super::patience::Patience;
use super::super::prepare::ReadyDisk;
use super::super::sequence::Sequence;
use super::super::window::Cut;
use super::super::{RunError, Straggler};
use super::load::{BLOCK, FILE_BYTES};
use crate::front::{Link, ToWorker};
use crate::host::fill::fill_direct;
use crate::units::format_bytes;

/// Name of the file, as the loadfiles have it.
const NAME: &str = "testfile";
/// Nothing can be told of a device by less.
const LEAST_BYTES: u64 = 16 << 20;
/// How often a disk that writes is looked at.
const LOOK: Duration = Duration::from_secs(1);

/// The size of the file, the same on all disks: what was asked for, or 1 GiB, or less where a disk
/// has less than twice of that free. A sentence says so.
pub(super) fn file_bytes(
    wanted: Option<u64>,
    disks: &[ReadyDisk],
) -> Result<(u64, Option<String>), RunError> {
    let mut on_fs: BTreeMap<_, u64> = BTreeMap::new();
    for disk in disks {
        *on_fs.entry(disk.check.file_system()).or_default() += 1;
    }
    let room = |disk: &ReadyDisk| {
        // A file system that counts nothing (ramfs) has no limit.
        let space = disk.check.space.filter(|space| space.total_bytes > 0)?;
        Some(space.free_bytes / 2 / on_fs[&disk.check.file_system()])
    };
    let tightest = disks
        .iter()
        .filter_map(|disk| Some((room(disk)?, disk.label())))
        .min()
        .unwrap_or((u64::MAX, String::new()));
    choose(wanted, tightest)
}

fn choose(
    wanted: Option<u64>,
    (room, disk): (u64, String),
) -> Result<(u64, Option<String>), RunError> {
    let bytes = wanted.unwrap_or(FILE_BYTES.min(room)) / BLOCK * BLOCK;
    if bytes < LEAST_BYTES {
        let least = format_bytes(LEAST_BYTES);
        return Err(match wanted {
            Some(_) => RunError::usage(format!("--file-size: at least {least}")),
            None => RunError::cannot(format!(
                "{disk}: the tests need a file of {least} or more, and as much again free"
            )),
        });
    }
    if bytes > room {
        return Err(RunError::cannot(format!(
            "--file-size: {} on each disk is more than half of what {disk} has free; at most {}",
            format_bytes(bytes),
            format_bytes(room)
        )));
    }
    let less = wanted.is_none() && bytes < FILE_BYTES;
    let note = || format!("files of {}, half of what {disk} has free", format_bytes(bytes));
    Ok((bytes, less.then(note)))
}

/// A file being written.
struct Filling {
    disk: usize,
    patience: Patience,
    done: oneshot::Receiver<Result<(), Errno>>,
}

/// What came of the files.
#[derive(Default)]
pub(super) struct Filled {
    /// Disks without one, and why; `None` for a disk that hangs.
    pub(super) failed: Vec<(usize, Option<Errno>)>,
    /// Why it ended early.
    pub(super) cut: Option<Cut>,
    /// A disk that hangs is among these, and no longer in the sequence.
    pub(super) stragglers: Vec<Straggler>,
}

/// Writes the file on all disks at once.
pub(super) async fn fill_all(
    sequence: &mut Sequence,
    bytes: u64,
    grace: Duration,
    link: &mut Link,
) -> Filled {
    let stop = Arc::new(AtomicBool::new(false));
    let mut filled = Filled::default();
    for mut filling in start_all(sequence, bytes, grace, &stop, &mut filled) {
        let result = loop {
            tokio::select! {
                biased;
                result = &mut filling.done => break Some(result.unwrap_or(Err(Errno::IO))),
                message = link.receive::<ToWorker>(), if filled.cut.is_none() => {
                    filled.cut = Some(Cut::of(message.as_ref()));
                    stop.store(true, Relaxed);
                }
                () = tokio::time::sleep(LOOK) => {
                    if filling.patience.is_over() {
                        break None;
                    }
                }
            }
        };
        match result {
            Some(Ok(())) => {}
            Some(Err(errno)) => filled.failed.push((filling.disk, Some(errno))),
            None => {
                filled.failed.push((filling.disk, None));
                filled.stragglers.extend(give_up(sequence, filling));
            }
        }
    }
    filled
}

/// A thread for each disk: another one may hang.
fn start_all(
    sequence: &Sequence,
    bytes: u64,
    grace: Duration,
    stop: &Arc<AtomicBool>,
    filled: &mut Filled,
) -> Vec<Filling> {
    let mut fillings = Vec::new();
    for (disk, held) in sequence.slots.iter().enumerate() {
        let Some(held) = held else { continue };
        let (sender, done) = oneshot::channel();
        let stop = Arc::clone(stop);
        let root: Option<OwnedFd> = held.tree.root_fd().try_clone_to_owned().ok();
        let fill = move |root: OwnedFd| {
            let result = fill_direct(root.as_fd(), NAME, bytes, &stop);
            drop(root);
            let _ = sender.send(result);
        };
        let started =
            root.is_some_and(|root| std::thread::Builder::new().spawn(move || fill(root)).is_ok());
        if started {
            let patience = Patience::new(held.ready.device.clone(), grace);
            fillings.push(Filling { disk, patience, done });
        } else {
            filled.failed.push((disk, Some(Errno::AGAIN)));
        }
    }
    fillings
}

/// Takes a disk that hangs out of the sequence; its tree is removed when it answers.
fn give_up(sequence: &mut Sequence, filling: Filling) -> Option<Straggler> {
    let held = sequence.slots[filling.disk].take()?;
    Some(Straggler(Box::new(move || {
        let _ = filling.done.blocking_recv();
        let _ = held.tree.remove();
    })))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_by_hand() {
        let choose = |wanted, room| choose(wanted, (room, "/d".into())).map_err(|e| e.code);
        assert_eq!(choose(None, u64::MAX), Ok((1 << 30, None)));
        let (bytes, note) = choose(None, (100 << 20) + 5).unwrap();
        assert_eq!(bytes, 100 << 20);
        assert_eq!(note.unwrap(), "files of 100 MiB, half of what /d has free");
        assert_eq!(choose(Some((64 << 20) + 1), 65 << 20), Ok((64 << 20, None)));
        assert_eq!(choose(Some(66 << 20), 65 << 20), Err(3));
        assert_eq!(choose(Some(1 << 20), u64::MAX), Err(2));
        assert_eq!(choose(None, 1 << 20), Err(3));
    }
}
