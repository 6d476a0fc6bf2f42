//! What a permission check costs: a loop of `stat` on paths whose directories are decided by one step
//! or another, relative to the same path where the shortcut decides.
//!
//! `cargo bench --bench permission` measures in the temporary directory. All conditions (file systems,
//! noacl, caches left cold by a fresh mount, overlays) need mounts: `scripts/permission-factors` makes
//! them, calls this with `build DIR...` before it mounts them anew and with `measure NAME=DIR...`
//! after that, and prints the result beside figures of another machine.
//!
//! A figure is the least of many windows, in CPU time of the thread; windows of all conditions
//! alternate, in an order that turns round from round to round. Needs root, to be other users.

#![allow(clippy::print_stdout, clippy::unwrap_used)]

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};

use jbodbench::host::acl::{Acl, AclEntry, Who};
use jbodbench::host::acl_xattr::{self, AclKind};
use jbodbench::host::credentials::Credentials;
use jbodbench::host::sys::unshare_fs;
use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags};
use rustix::time::{ClockId, clock_gettime};

const CALLS: u32 = 1500;
const WINDOWS: usize = 60;
/// The directories of a path, unless a condition says otherwise.
const DEPTH: usize = 15;

const CALLER: u32 = 64_001;
const THIRD: u32 = 64_002;
const GROUP: u32 = 64_003;

/// Directories that are all alike, with a file below the last.
struct Tree {
    name: &'static str,
    mode: u32,
    owner: u32,
    group: u32,
    /// Named users and groups.
    named: &'static [(Who, u8)],
    depth: usize,
}

const fn tree(name: &'static str, mode: u32, owner: u32, named: &'static [(Who, u8)]) -> Tree {
    Tree { name, mode, owner, group: 0, named, depth: DEPTH }
}

const NOT_CALLER: &[(Who, u8)] = &[(Who::User(64_010), 5)];
const SIXTEEN: &[(Who, u8)] = &[
    (Who::User(64_010), 5),
    (Who::User(64_011), 5),
    (Who::User(64_012), 5),
    (Who::User(64_013), 5),
    (Who::User(64_014), 5),
    (Who::User(64_015), 5),
    (Who::User(64_016), 5),
    (Who::User(64_017), 5),
    (Who::Group(64_020), 5),
    (Who::Group(64_021), 5),
    (Who::Group(64_022), 5),
    (Who::Group(64_023), 5),
    (Who::Group(64_024), 5),
    (Who::Group(64_025), 5),
    (Who::Group(64_026), 5),
    (Who::Group(64_027), 5),
];

const TREES: [Tree; 15] = [
    tree("plain", 0o755, 0, &[]),
    tree("x-only", 0o711, 0, &[]),
    tree("cold", 0o755, 0, &[]),
    tree("acl1-caller", 0o755, 0, &[(Who::User(CALLER), 5)]),
    tree("acl1", 0o755, 0, NOT_CALLER),
    tree("acl1-third", 0o755, THIRD, NOT_CALLER),
    tree("acl16", 0o755, 0, SIXTEEN),
    Tree { group: GROUP, ..tree("group", 0o750, 0, &[]) },
    tree("g0", 0o705, 0, &[]),
    tree("own", 0o700, CALLER, &[]),
    tree("closed", 0o700, THIRD, &[]),
    Tree { depth: 1, ..tree("plain-1", 0o755, 0, &[]) },
    Tree { depth: 1, ..tree("acl1-1", 0o755, 0, NOT_CALLER) },
    Tree { depth: 4, ..tree("plain-4", 0o755, 0, &[]) },
    Tree { depth: 4, ..tree("acl1-4", 0o755, 0, NOT_CALLER) },
];

#[derive(Clone, Copy)]
enum Caller {
    Root,
    User,
    Member,
}

impl Caller {
    fn credentials(self) -> Credentials {
        let (uid, gid) = match self {
            Self::Root => (0, 0),
            Self::User => (CALLER, CALLER),
            Self::Member => (CALLER, GROUP),
        };
        let own = Credentials::of_this_thread().unwrap();
        let (dac_override, dac_read_search) =
            if uid == 0 { (own.dac_override, own.dac_read_search) } else { (false, false) };
        Credentials { uid, gid, groups: Vec::new(), dac_override, dac_read_search }
    }
}

struct Condition {
    /// The line of the table in docs/permissions.md.
    line: &'static str,
    tree: &'static str,
    caller: Caller,
    /// What its time is divided by.
    base: &'static str,
    about: &'static str,
}

const fn row(
    line: &'static str,
    tree: &'static str,
    caller: Caller,
    about: &'static str,
) -> Condition {
    Condition { line, tree, caller, base: "A", about }
}

use Caller::{Member, Root, User};

const CONDITIONS: [Condition; 19] = [
    row("A", "plain", User, "0755, no ACL; other"),
    row("A owner", "plain", Root, "0755, no ACL; owner"),
    row("A 0711", "x-only", User, "0711, no ACL; other"),
    row("C1", "cold", Root, "0755, ACLs never asked for since the mount; owner"),
    row("D1", "acl1-caller", User, "1 named user, the caller; other"),
    row("D2", "acl1", User, "1 named user, not the caller; other"),
    row("D2 root", "acl1-third", Root, "the same, root, not owner"),
    row("D3", "acl16", User, "8 users and 8 groups, no match; other"),
    row("D3 owner", "acl16", Root, "the same; owner"),
    row("D4", "acl1", Root, "D2's ACL; owner"),
    row("E1", "group", Member, "0750; member of the group"),
    row("E2", "g0", User, "0705; other, not in the group"),
    row("E3", "own", User, "0700; owner"),
    row("F", "closed", Root, "0700; root, not owner: capability"),
    Condition { base: "A4", ..row("A4", "plain-4", User, "4 directories: 0755, no ACL; other") },
    Condition { base: "A4", ..row("D2 4", "acl1-4", User, "4 directories: 1 named user; other") },
    Condition { base: "A1", ..row("A1", "plain-1", User, "1 directory: 0755, no ACL; other") },
    Condition { base: "A1", ..row("D2 1", "acl1-1", User, "1 directory: 1 named user; other") },
    row("D4 again", "acl1", Root, "D4 a second time: the noise between equal rows"),
];

fn dirs_of(tree: &Tree) -> Vec<PathBuf> {
    let mut path = PathBuf::from(tree.name);
    let mut dirs = vec![path.clone()];
    for level in 1..tree.depth {
        path.push(format!("dir{level:02}"));
        dirs.push(path.clone());
    }
    dirs
}

fn file_of(tree: &Tree) -> PathBuf {
    dirs_of(tree).pop().unwrap().join("file")
}

fn build(root: &Path) {
    for tree in &TREES {
        let dirs = dirs_of(tree);
        fs::create_dir_all(root.join(dirs.last().unwrap())).unwrap();
        fs::write(root.join(file_of(tree)), []).unwrap();
        for dir in dirs {
            let dir = root.join(dir);
            chown(&dir, Some(tree.owner), Some(tree.group)).unwrap();
            fs::set_permissions(&dir, fs::Permissions::from_mode(tree.mode)).unwrap();
            if !tree.named.is_empty() {
                let named: Vec<_> =
                    tree.named.iter().map(|&(who, perms)| AclEntry { who, perms }).collect();
                let acl = Acl::with_named(tree.mode, &named);
                acl_xattr::set(&dir, AclKind::Access, &acl).unwrap();
            }
        }
    }
}

/// CPU time of the thread, in nanoseconds.
fn cpu_ns() -> u64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    u64::try_from(now.tv_sec).unwrap() * 1_000_000_000 + u64::try_from(now.tv_nsec).unwrap()
}

/// Nanoseconds of a stat, as the condition's caller, with the disk as working directory.
fn window(disk: &OwnedFd, condition: &Condition) -> f64 {
    let tree = TREES.iter().find(|tree| tree.name == condition.tree).unwrap();
    let path = std::ffi::CString::new(file_of(tree).to_str().unwrap()).unwrap();
    let who = condition.caller.credentials();
    who.run_as(|| {
        unshare_fs().unwrap();
        rustix::process::fchdir(disk).unwrap();
        for _ in 0..50 {
            rustix::fs::stat(&*path).unwrap();
        }
        let start = cpu_ns();
        for _ in 0..CALLS {
            std::hint::black_box(rustix::fs::stat(&*path).unwrap());
        }
        (cpu_ns() - start) as f64 / f64::from(CALLS)
    })
    .unwrap()
}

struct Disk {
    name: String,
    root: OwnedFd,
    /// The least of each condition.
    least: Vec<f64>,
}

impl Disk {
    fn open(name: &str, dir: &Path) -> Self {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root = rustix::fs::open(dir, flags, Mode::empty()).unwrap();
        Self { name: name.to_owned(), root, least: vec![f64::INFINITY; CONDITIONS.len()] }
    }

    fn of(&self, line: &str) -> f64 {
        self.least[CONDITIONS.iter().position(|condition| condition.line == line).unwrap()]
    }
}

fn measure(disks: &mut [Disk]) {
    let cells: Vec<(usize, usize)> = (0..disks.len())
        .flat_map(|disk| (0..CONDITIONS.len()).map(move |condition| (disk, condition)))
        .collect();
    for round in 0..WINDOWS {
        let mut order = cells.clone();
        order.rotate_left(round * 7 % cells.len());
        if round % 2 == 1 {
            order.reverse();
        }
        for (disk, condition) in order {
            let took = window(&disks[disk].root, &CONDITIONS[condition]);
            let least = &mut disks[disk].least[condition];
            *least = least.min(took);
        }
    }
}

/// Comma-separated, for scripts/permission-factors and for people.
fn print(disks: &[Disk]) {
    println!("disk,line,ns,factor,about");
    for disk in disks {
        for condition in &CONDITIONS {
            let (ns, base) = (disk.of(condition.line), disk.of(condition.base));
            let name = &disk.name;
            println!("{name},{},{ns:.0},{:.3},\"{}\"", condition.line, ns / base, condition.about);
        }
    }
}

fn in_a_temporary_directory() {
    let dir = tempfile::tempdir().unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
    build(dir.path());
    let mut disks = [Disk::open("here", dir.path())];
    measure(&mut disks);
    print(&disks);
}

fn main() {
    if !rustix::process::geteuid().is_root() {
        println!("skipped: needs root");
        return;
    }
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    match arguments.split_first() {
        Some((command, dirs)) if command == "build" => {
            dirs.iter().for_each(|dir| build(Path::new(dir)));
        }
        Some((command, dirs)) if command == "measure" => {
            let open = |text: &String| {
                let (name, dir) = text.split_once('=').unwrap();
                Disk::open(name, Path::new(dir))
            };
            let mut disks: Vec<Disk> = dirs.iter().map(open).collect();
            measure(&mut disks);
            print(&disks);
        }
        _ => in_a_temporary_directory(),
    }
}
