//! Real file systems for tests: on loop devices and in memory, always taken down again.
//!
//! They need root and the mkfs tools. Without them a test says why and passes; with
//! `JBODBENCH_NO_SKIP=1` that is a failure.
#![allow(dead_code, unused_macros, unreachable_pub, missing_docs, clippy::unwrap_used)]

pub mod props;
pub mod tool;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Ends a test that cannot run here, and says why.
macro_rules! skip {
    ($($reason:tt)*) => {{
        $crate::common::skipped(&format!($($reason)*));
        return;
    }};
}

/// The value, or the end of the test with the reason why there is none.
macro_rules! or_skip {
    ($result:expr) => {
        match $result {
            Ok(value) => value,
            Err(reason) => skip!("{reason}"),
        }
    };
}

#[allow(unused_imports)]
pub(crate) use {or_skip, skip};

#[allow(clippy::print_stderr)]
pub fn skipped(reason: &str) {
    assert!(
        std::env::var_os("JBODBENCH_NO_SKIP").is_none_or(|value| value != "1"),
        "skipped although JBODBENCH_NO_SKIP=1: {reason}"
    );
    eprintln!("skipped: {reason}");
}

/// Whether this process may mount; the reason if not.
pub fn need_root() -> Result<(), String> {
    if rustix::process::geteuid().is_root() { Ok(()) } else { Err("needs root".to_owned()) }
}

/// Runs a tool; its standard output, or what it said went wrong.
pub fn run(tool: &str, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new(tool)
        .args(arguments)
        .output()
        .map_err(|error| format!("cannot run {tool}: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(format!("{tool} {}: {}", arguments.join(" "), said.trim()))
}

/// A mounted directory that is unmounted when the test ends, also by a panic.
#[derive(Debug)]
struct Mounted {
    dir: tempfile::TempDir,
}

impl Mounted {
    fn point(&self) -> PathBuf {
        self.dir.path().join("mnt")
    }

    fn new() -> Result<Self, String> {
        let dir = tempfile::Builder::new()
            .prefix("jbodbench-test-")
            .tempdir()
            .map_err(|error| error.to_string())?;
        std::fs::create_dir(dir.path().join("mnt")).map_err(|error| error.to_string())?;
        Ok(Self { dir })
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let point = self.point();
        let point = point.to_str().unwrap_or_default();
        // A process that was just killed may still hold a file for a moment.
        for _ in 0..50 {
            match run("umount", &[point]) {
                Err(said) if said.contains("busy") => {
                    std::thread::sleep(Duration::from_millis(100));
                }
                _ => break,
            }
        }
        // Says "not mounted" in the normal case.
        let _ = run("umount", &["-l", point]);
    }
}

/// A file system in a file, on a loop device.
#[derive(Debug)]
pub struct LoopFs {
    // Unmounted before its image goes.
    mounted: Mounted,
    image: tempfile::TempDir,
    device: String,
}

impl LoopFs {
    /// Makes and mounts one: `ext4`, `xfs` (300 MiB or more) or `btrfs` (110 MiB or more).
    pub fn new(fstype: &str, size_mib: u64) -> Result<Self, String> {
        Self::with_options(fstype, size_mib, "")
    }

    /// The same with more mount options, as `ro` or `noacl`.
    pub fn with_options(fstype: &str, size_mib: u64, options: &str) -> Result<Self, String> {
        Self::in_dir(&std::env::temp_dir(), fstype, size_mib, options)
    }

    /// One whose image lies in memory where that can be had, for tests that freeze it or want progress:
    /// they must not wait for the disk that large images of other tests, or what was just built, are being written
    /// to. It can take seconds.
    pub fn in_memory(fstype: &str, size_mib: u64) -> Result<Self, String> {
        let memory = PathBuf::from("/dev/shm");
        let dir = if memory.is_dir() { memory } else { std::env::temp_dir() };
        Self::in_dir(&dir, fstype, size_mib, "")
    }

    fn in_dir(dir: &Path, fstype: &str, size_mib: u64, options: &str) -> Result<Self, String> {
        need_root()?;
        let mounted = Mounted::new()?;
        let image_dir = tempfile::Builder::new()
            .prefix("jbodbench-image-")
            .tempdir_in(dir)
            .map_err(|error| error.to_string())?;
        let image = image_dir.path().join("image");
        std::fs::File::create(&image)
            .and_then(|file| file.set_len(size_mib << 20))
            .map_err(|error| error.to_string())?;
        let image = image.to_str().unwrap_or_default();
        let mkfs = format!("mkfs.{fstype}");
        run(&mkfs, &[if fstype == "ext4" { "-F" } else { "-f" }, "-q", image])?;
        let options =
            if options.is_empty() { "loop".to_owned() } else { format!("loop,{options}") };
        let point = mounted.point();
        // The device goes by itself with the mount.
        let point = point.to_str().unwrap_or_default();
        run("mount", &["-t", fstype, "-o", &options, image, point])?;
        let found = run("losetup", &["-n", "-O", "NAME", "-j", image])?;
        Ok(Self { mounted, image: image_dir, device: found.trim().to_owned() })
    }

    /// Where it is mounted.
    pub fn path(&self) -> PathBuf {
        self.mounted.point()
    }

    /// The loop device, as `/dev/loop3`.
    pub fn device(&self) -> &str {
        &self.device
    }

    /// Freezes it: whoever writes to it waits until the returned value is dropped.
    pub fn freeze(&self) -> Result<Frozen, String> {
        let point = self.mounted.point();
        run("fsfreeze", &["-f", point.to_str().unwrap_or_default()])?;
        Ok(Frozen { point })
    }

    /// The file behind it.
    pub fn image(&self) -> PathBuf {
        self.image.path().join("image")
    }
}

/// A frozen file system. Drop it before the file system.
#[derive(Debug)]
pub struct Frozen {
    point: PathBuf,
}

impl Drop for Frozen {
    fn drop(&mut self) {
        let _ = run("fsfreeze", &["-u", self.point.to_str().unwrap_or_default()]);
    }
}

/// A file system in memory.
#[derive(Debug)]
pub struct TmpFs {
    mounted: Mounted,
}

impl TmpFs {
    /// Mounts one of a size as tmpfs takes it: `16m`, `10%`.
    pub fn new(size: &str) -> Result<Self, String> {
        Self::with_options(&format!("size={size}"))
    }

    /// Mounts one with any options.
    pub fn with_options(options: &str) -> Result<Self, String> {
        Self::of_type("tmpfs", options)
    }

    /// Mounts a ramfs: it has no limit, and knows no direct I/O.
    pub fn ramfs() -> Result<Self, String> {
        Self::of_type("ramfs", "mode=0755")
    }

    fn of_type(fstype: &str, options: &str) -> Result<Self, String> {
        need_root()?;
        let mounted = Mounted::new()?;
        let point = mounted.point();
        let point = point.to_str().unwrap_or_default();
        run("mount", &["-t", fstype, "-o", options, fstype, point])?;
        Ok(Self { mounted })
    }

    /// Where it is mounted.
    pub fn path(&self) -> PathBuf {
        self.mounted.point()
    }
}

/// A file system in memory that knows no O_DIRECT and no size.
#[derive(Debug)]
pub struct RamFs {
    mounted: Mounted,
}

impl RamFs {
    /// Mounts one.
    pub fn new() -> Result<Self, String> {
        need_root()?;
        let mounted = Mounted::new()?;
        let point = mounted.point();
        run("mount", &["-t", "ramfs", "ramfs", point.to_str().unwrap_or_default()])?;
        Ok(Self { mounted })
    }

    /// Where it is mounted.
    pub fn path(&self) -> PathBuf {
        self.mounted.point()
    }
}

/// An overlay whose layers lie in memory.
#[derive(Debug)]
pub struct OverlayFs {
    // Dropped before what lies below it.
    mounted: Mounted,
    _layers: TmpFs,
}

impl OverlayFs {
    /// Mounts one.
    pub fn new() -> Result<Self, String> {
        let layers = TmpFs::new("256m")?;
        let mounted = Mounted::new()?;
        let mut options = Vec::new();
        for (option, name) in [("lowerdir", "lower"), ("upperdir", "upper"), ("workdir", "work")] {
            let dir = layers.path().join(name);
            std::fs::create_dir(&dir).map_err(|error| error.to_string())?;
            options.push(format!("{option}={}", dir.display()));
        }
        let point = mounted.point();
        let point = point.to_str().unwrap_or_default();
        run("mount", &["-t", "overlay", "-o", &options.join(","), "overlay", point])?;
        Ok(Self { mounted, _layers: layers })
    }

    /// Where it is mounted.
    pub fn path(&self) -> PathBuf {
        self.mounted.point()
    }
}

/// A second mount point of a directory.
#[derive(Debug)]
pub struct Bind {
    mounted: Mounted,
}

impl Bind {
    /// Mounts a directory a second time.
    pub fn new(of: &Path) -> Result<Self, String> {
        need_root()?;
        let mounted = Mounted::new()?;
        let point = mounted.point();
        let (of, point) = (of.to_str().unwrap_or_default(), point.to_str().unwrap_or_default());
        run("mount", &["--bind", of, point])?;
        Ok(Self { mounted })
    }

    /// Where it is mounted.
    pub fn path(&self) -> PathBuf {
        self.mounted.point()
    }
}
