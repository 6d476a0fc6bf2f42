//! The mount table of this process, and the mount a path lies on.
//!
//! A mount is found by the id the kernel gives for the path, never by the longest matching prefix:
//! a directory can be mounted over, and then several lines have the same mount point.

use std::ffi::OsString;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, StatxAttributes, StatxFlags};
use rustix::io::Errno;
use serde::Serialize;

use super::{HostError, errno};

/// One line of /proc/self/mountinfo.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MountFacts {
    /// The kernel's id of the mount; ids are used again after an unmount.
    pub mount_id: u64,
    /// The directory of the file system that is mounted, `/` but for binds and subvolumes.
    pub root: PathBuf,
    /// Where it is mounted.
    pub mount_point: PathBuf,
    /// Its type: `ext4`, `btrfs`, `fuse.sshfs`.
    pub fstype: String,
    /// What is mounted: a device path, or any name for file systems without one.
    pub source: String,
    /// Options of this mount (`rw,noatime`), separated by commas.
    pub mount_options: String,
    /// Options of the file system, which all its mounts share.
    pub super_options: String,
    /// Major number of the device as the mount table has it; 0 where there is no block device.
    pub major: u32,
    /// Minor number; on btrfs neither is what `stat` answers.
    pub minor: u32,
    /// Whether the path asked for is the mount point itself; false in a parsed table.
    pub is_mount_point: bool,
}

impl MountFacts {
    /// Whether ids are mapped on this mount (mount_setattr with MOUNT_ATTR_IDMAP, Linux 5.12).
    #[must_use]
    pub fn is_idmapped(&self) -> bool {
        self.mount_options.split(',').any(|option| option == "idmapped")
    }
}

/// Parses the text of a mountinfo file. Lines that are not understood are left out.
#[must_use]
pub fn parse_mountinfo(text: &[u8]) -> Vec<MountFacts> {
    text.split(|&byte| byte == b'\n').filter_map(parse_line).collect()
}

fn parse_line(line: &[u8]) -> Option<MountFacts> {
    let mut fields = line.split(|&byte| byte == b' ').filter(|field| !field.is_empty());
    let mount_id = ascii(fields.next()?)?.parse().ok()?;
    let _parent = fields.next()?;
    let (major, minor) = ascii(fields.next()?)?.split_once(':')?;
    let root = path(fields.next()?);
    let mount_point = path(fields.next()?);
    let mount_options = string(fields.next()?);
    // Zero or more optional fields (`shared:1 master:2`) end with a lone hyphen.
    fields.by_ref().find(|&field| field == b"-")?;
    Some(MountFacts {
        mount_id,
        root,
        mount_point,
        mount_options,
        fstype: string(fields.next()?),
        source: fields.next().map(string).unwrap_or_default(),
        super_options: fields.next().map(string).unwrap_or_default(),
        major: major.parse().ok()?,
        minor: minor.parse().ok()?,
        is_mount_point: false,
    })
}

fn ascii(field: &[u8]) -> Option<&str> {
    std::str::from_utf8(field).ok()
}

fn path(field: &[u8]) -> PathBuf {
    PathBuf::from(OsString::from_vec(unescape(field)))
}

fn string(field: &[u8]) -> String {
    String::from_utf8_lossy(&unescape(field)).into_owned()
}

/// Undoes the kernel's escapes: a backslash and three octal digits for space, tab, newline,
/// backslash and `#`.
fn unescape(field: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((&first, tail)) = rest.split_first() {
        let octal = |digit: u8| (b'0'..=b'7').contains(&digit).then(|| u32::from(digit - b'0'));
        let code = match tail {
            [a, b, c, ..] if first == b'\\' => octal(*a)
                .zip(octal(*b))
                .zip(octal(*c))
                .and_then(|((a, b), c)| u8::try_from(a * 64 + b * 8 + c).ok()),
            _ => None,
        };
        plain.push(code.unwrap_or(first));
        rest = if code.is_some() { &tail[3..] } else { tail };
    }
    plain
}

/// The mounts this process sees.
///
/// # Errors
/// When /proc is not mounted or not readable.
pub fn mounts() -> Result<Vec<MountFacts>, HostError> {
    let file = Path::new("/proc/self/mountinfo");
    let text = std::fs::read(file).map_err(|e| HostError::on("read", file)(errno::of_io(&e)))?;
    Ok(parse_mountinfo(&text))
}

/// The mount that a path (symlinks followed) lies on.
///
/// # Errors
/// When the path cannot be reached, or its mount is outside this process's view.
pub fn mount_of(path: &Path) -> Result<MountFacts, HostError> {
    let place = locate(path).map_err(HostError::on("look at", path))?;
    let table = mounts()?;
    let mut facts = match place.mount_id {
        Some(id) => table.into_iter().find(|mount| mount.mount_id == id),
        None => last_with_device(table, place.device),
    }
    .ok_or_else(|| HostError::NoMount {
        path: path.to_owned(),
        mount_id: place.mount_id.unwrap_or(0),
    })?;
    facts.is_mount_point = place.is_mount_point;
    Ok(facts)
}

/// Without an id (before Linux 3.15) only the device number is left; the newest such mount is meant
/// most often.
fn last_with_device(table: Vec<MountFacts>, (major, minor): (u32, u32)) -> Option<MountFacts> {
    table.into_iter().rfind(|mount| (mount.major, mount.minor) == (major, minor))
}

struct Place {
    mount_id: Option<u64>,
    device: (u32, u32),
    is_mount_point: bool,
}

fn locate(path: &Path) -> Result<Place, Errno> {
    let asked = StatxFlags::BASIC_STATS | StatxFlags::MNT_ID;
    match rustix::fs::statx(CWD, path, AtFlags::empty(), asked) {
        Ok(found) if StatxFlags::from_bits_retain(found.stx_mask).contains(StatxFlags::MNT_ID) => {
            Ok(Place {
                mount_id: Some(found.stx_mnt_id),
                device: (found.stx_dev_major, found.stx_dev_minor),
                is_mount_point: found.stx_attributes.contains(StatxAttributes::MOUNT_ROOT),
            })
        }
        Ok(_) | Err(Errno::NOSYS | Errno::PERM) => locate_by_fdinfo(path),
        Err(errno) => Err(errno),
    }
}

/// For kernels before 5.8: the mount id stands in the description of an open descriptor.
fn locate_by_fdinfo(path: &Path) -> Result<Place, Errno> {
    let here = rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
    let device = rustix::fs::fstat(&here)?.st_dev;
    let mount_id = fdinfo_mount_id(here.as_raw_fd());
    let above = rustix::fs::openat(&here, "..", OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
    let is_mount_point = path.parent().is_some()
        && (fdinfo_mount_id(above.as_raw_fd()), rustix::fs::fstat(&above)?.st_dev)
            != (mount_id, device);
    let device = (rustix::fs::major(device), rustix::fs::minor(device));
    Ok(Place { mount_id, device, is_mount_point: is_mount_point || path == Path::new("/") })
}

/// The id of the mount that an open descriptor (O_PATH too) lies on; `None` where the kernel does not
/// say.
#[must_use]
pub fn mount_id(fd: BorrowedFd<'_>) -> Option<u64> {
    match rustix::fs::statx(fd, c"", AtFlags::EMPTY_PATH, StatxFlags::MNT_ID) {
        Ok(found) if StatxFlags::from_bits_retain(found.stx_mask).contains(StatxFlags::MNT_ID) => {
            Some(found.stx_mnt_id)
        }
        _ => fdinfo_mount_id(fd.as_raw_fd()),
    }
}

fn fdinfo_mount_id(descriptor: i32) -> Option<u64> {
    let text = super::procfs::raw(format!("/proc/thread-self/fdinfo/{descriptor}"))?;
    super::procfs::value_after(&text, "mnt_id")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "\
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard
40 27 8:1 / /mnt/my\\040disk rw,noatime shared:21 master:3 - xfs /dev/sda1 rw,attr2
41 27 0:45 /sub\\134vol /mnt/b rw - btrfs /dev/loop3 rw,subvolid=256,subvol=/sub\\134vol
42 40 0:46 / /mnt/my\\040disk rw - tmpfs none rw,size=16m
43 27 0:47 / /mnt/o rw,relatime unbindable - overlay overlay rw,lowerdir=/l,upperdir=/u
garbage
44 27 0:48 / /mnt/empty rw -  tmpfs
";

    fn table() -> Vec<MountFacts> {
        parse_mountinfo(TABLE.as_bytes())
    }

    #[test]
    fn fields_escapes_and_optional_fields() {
        let table = table();
        assert_eq!(table.len(), 6);
        let disk = &table[1];
        assert_eq!(disk.mount_point, Path::new("/mnt/my disk"));
        assert_eq!((disk.major, disk.minor), (8, 1));
        assert_eq!((disk.fstype.as_str(), disk.source.as_str()), ("xfs", "/dev/sda1"));
        assert_eq!(disk.mount_options, "rw,noatime");
        assert_eq!(disk.super_options, "rw,attr2");
        assert_eq!(table[2].root, Path::new("/sub\\vol"));
        assert_eq!(table[2].super_options, "rw,subvolid=256,subvol=/sub\\vol");
        assert_eq!(table[5].fstype, "tmpfs");
        assert_eq!(table[5].source, "");
    }

    #[test]
    fn an_overmount_has_the_same_point_and_another_id() {
        let table = table();
        let same: Vec<_> =
            table.iter().filter(|m| m.mount_point == Path::new("/mnt/my disk")).collect();
        assert_eq!(same.iter().map(|m| m.mount_id).collect::<Vec<_>>(), [40, 42]);
    }

    #[test]
    fn by_device_the_last_line_wins() {
        let found = last_with_device(table(), (8, 1)).unwrap();
        assert_eq!(found.mount_id, 40);
        assert!(last_with_device(table(), (9, 9)).is_none());
    }

    #[test]
    fn escapes_that_are_none_stay() {
        assert_eq!(unescape(b"a\\04"), b"a\\04");
        assert_eq!(unescape(b"a\\999b"), b"a\\999b");
        assert_eq!(unescape(b"\\011\\012\\043"), b"\t\n#");
        assert_eq!(unescape(b"\\777"), b"\\777");
    }

    #[test]
    fn real_paths() {
        let proc = mount_of(Path::new("/proc")).unwrap();
        assert_eq!((proc.fstype.as_str(), proc.is_mount_point), ("proc", true));
        let inner = mount_of(Path::new("/proc/self/fd")).unwrap();
        assert_eq!((inner.fstype.as_str(), inner.is_mount_point), ("proc", false));
        assert!(mount_of(Path::new("/")).unwrap().is_mount_point);
        let missing = mount_of(Path::new("/no/such/path")).unwrap_err();
        assert!(missing.to_string().contains("ENOENT"), "{missing}");
    }

    #[test]
    fn the_old_way_agrees_with_statx() {
        for path in ["/", "/proc", "/proc/self/fd", "/usr", "/dev"] {
            let (new, old) =
                (locate(Path::new(path)).unwrap(), locate_by_fdinfo(Path::new(path)).unwrap());
            assert_eq!(new.mount_id, old.mount_id, "{path}");
            assert_eq!(new.is_mount_point, old.is_mount_point, "{path}");
        }
    }
}
