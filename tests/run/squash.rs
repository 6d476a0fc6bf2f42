//! Disks on which root is nobody. bindfs stands in for an NFS server with root_squash: what root makes
//! belongs to uid 65534, and it may give nothing away.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};

use rustix::process::{Pid, Signal, kill_process};

use crate::common::tool::{Running, assert_clean, jbodbench, label, run_dir, run_on, wait_for};
use crate::common::{Bind, TmpFs, need_root, or_skip, run, skip};

/// A directory seen through bindfs.
struct Squashing {
    point: tempfile::TempDir,
    below: TmpFs,
}

impl Squashing {
    fn new() -> Result<Self, String> {
        need_root()?;
        run("bindfs", &["--version"])?;
        let below = TmpFs::with_options("size=128m,mode=1777")?;
        let point = tempfile::Builder::new().prefix("jbodbench-test-").tempdir();
        let point = point.map_err(|error| error.to_string())?;
        let (from, to) = (below.path(), point.path().to_owned());
        let map = "--map=0/65534:@0/@65534";
        let no_gifts = ["--chown-deny", "--chgrp-deny"];
        run("bindfs", &[map, no_gifts[0], no_gifts[1], label(&from), label(&to)])?;
        Ok(Self { point, below })
    }

    fn path(&self) -> PathBuf {
        self.point.path().to_owned()
    }
}

impl Drop for Squashing {
    fn drop(&mut self) {
        // What was just killed may hold it for a moment.
        for _ in 0..50 {
            if run("umount", &[label(self.point.path())]).is_ok() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        let _ = run("umount", &["-l", label(self.point.path())]);
    }
}

#[test]
fn the_tree_is_made_as_the_clients_user() {
    let disk = or_skip!(Squashing::new());
    let mut command = jbodbench(["run", "-t", "10m", "-c", "2", "--warmup", "0", "--path", "cwd"]);
    command.args(["--as", "4000:4001", "--dir-owner", "caller", "--depth", "2"]).arg(disk.path());
    let start = |command, clients: &str| {
        let running = Running::start(command);
        wait_for("the load", || run_dir(&disk.below.path())?.join(clients).exists().then_some(()));
        running
    };
    let running = start(command, "d1/d2/c/clients/client0");
    // Seen from below, where nothing is mapped: from the top to the files all is the user's.
    let top = run_dir(&disk.below.path()).unwrap();
    for dir in ["", "d1", "d1/d2", "d1/d2/c", "d1/d2/c/clients"] {
        let found = fs::metadata(top.join(dir)).unwrap();
        assert_eq!((found.uid(), found.gid()), (4000, 4001), "{dir}");
    }
    running.signal(Signal::INT);
    let finished = running.finish().expect(130);
    finished.says("belongs to uid 65534 (root squashed); the run directory is made as uid 4000");
    let table = finished.table();
    let row = table.summary(label(&disk.path()), "all");
    assert_eq!((row.int("uid"), row.int("errors"), row.text("relation")), (4000, 0, "owner"));
    assert_clean(&[&disk.path()]);

    // Nor does the front leave it, when the worker dies: it too has to act as the user.
    let mut command = jbodbench(["run", "-t", "10m", "-c", "1", "--warmup", "0", "--path", "cwd"]);
    command.args(["--as", "4000:4001"]).arg(disk.path());
    let running = start(command, "c/clients/client0");
    kill_process(Pid::from_raw(running.worker()).unwrap(), Signal::KILL).unwrap();
    running.finish().expect(1);
    wait_for("the tree to be removed", || run_dir(&disk.path()).is_none().then_some(()));
}

#[test]
fn what_needs_a_root_there_is_refused() {
    let disk = or_skip!(Squashing::new());
    let go = |arguments: &str| run_on(&format!("--path cwd -t 1s {arguments}"), &[&disk.path()]);
    go("--as 4000:4001 --dir-acl 1").expect(3).says("use --dir-owner caller");
    go("--as root").expect(3).says("nobody is root on that disk; use --as USER");
    go("--dir-owner caller").expect(3).says("nobody is root on that disk");
    // Without any condition it runs, and says whose it is.
    go("").expect(0).says("clients are not root there");
    // Closed to the user as well.
    fs::set_permissions(disk.below.path(), Permissions::from_mode(0o755)).unwrap();
    go("--as 4000:4001").expect(3).says("no disk can be used");
    assert_clean(&[&disk.path()]);
}

/// A mount that maps all ids but root's: root may make nothing there (EOVERFLOW), the user may.
#[test]
fn where_root_may_make_nothing() {
    let below = or_skip!(TmpFs::with_options("size=64m,mode=1777"));
    let dir = below.path().join("of the user");
    fs::create_dir(&dir).unwrap();
    chown(&dir, Some(4000), Some(4001)).unwrap();
    let bind = or_skip!(Bind::new(&dir));
    or_skip!(without_root(&bind.path()));
    let (path, go) = (bind.path(), |arguments: &str| {
        run_on(&format!("--path cwd -t 1s {arguments}"), &[&bind.path()])
    });
    go("").expect(3).says("no disk can be used");
    let finished = go("--as 4000:4001").expect(0);
    finished.says("root may make nothing there: EOVERFLOW");
    let table = finished.table();
    assert_eq!(table.summary(label(&path), "all").int("errors"), 0);
    assert_clean(&[&path]);
}

/// Puts a mount with the ids 1000 to 65535 over a mount point.
const IDMAP: &str = "
import ctypes, os, sys, time
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *args):
    answer = libc.syscall(number, *args)
    if answer < 0:
        sys.exit(f'{number}: ' + os.strerror(ctypes.get_errno()))
    return answer
ready, done = os.pipe(), os.pipe()
child = os.fork()
if child == 0:
    call(272, 0x10000000)  # unshare(CLONE_NEWUSER)
    os.write(ready[1], b'x')
    os.read(done[0], 1)
    os._exit(0)
os.read(ready[0], 1)
for name in ('uid_map', 'gid_map'):
    with open(f'/proc/{child}/{name}', 'w') as file:
        file.write('1000 1000 60000\\n')
user = os.open(f'/proc/{child}/ns/user', os.O_RDONLY)
path = os.fsencode(sys.argv[1])
tree = call(428, -100, path, 1 | os.O_CLOEXEC)  # open_tree(OPEN_TREE_CLONE)
class Attr(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ('set', 'clr', 'propagation', 'userns')]
attr = Attr(0x100000, 0, 0, user)  # MOUNT_ATTR_IDMAP
call(442, tree, b'', 0x1000, ctypes.byref(attr), ctypes.sizeof(attr))
call(429, tree, b'', -100, path, 4)  # move_mount(MOVE_MOUNT_F_EMPTY_PATH)
os.write(done[1], b'x')
os.waitpid(child, 0)
";

fn without_root(point: &Path) -> Result<(), String> {
    run("python3", &["-c", IDMAP, label(point)])?;
    Ok(())
}
