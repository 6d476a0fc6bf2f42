//! Limits that control groups set on this process, in version 1 and 2 hierarchies.

use std::path::{Path, PathBuf};

use super::mounts::{self, MountFacts};
use super::procfs;

/// A v1 memory limit of "none" is the largest page-aligned number; anything this large means none.
const NO_LIMIT: u64 = 1 << 60;

/// The control groups of this process.
#[derive(Clone, Debug, Default)]
pub struct Cgroups {
    mounts: Vec<MountFacts>,
    /// Controllers (empty for version 2) and the group's path.
    memberships: Vec<(String, PathBuf)>,
}

/// A memory limit and what is used of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryRoom {
    /// The limit.
    pub limit_bytes: u64,
    /// What the group can still take, counting page cache that is not in use as free.
    pub available_bytes: u64,
}

impl Cgroups {
    /// The groups this process is in now.
    #[must_use]
    pub fn of_this_process() -> Self {
        let table = mounts::mounts().unwrap_or_default();
        Self::parse(&procfs::raw("/proc/self/cgroup").unwrap_or_default(), table)
    }

    /// From the text of /proc/self/cgroup and a mount table.
    #[must_use]
    pub fn parse(cgroup: &str, mounts: Vec<MountFacts>) -> Self {
        let memberships = cgroup.lines().filter_map(|line| {
            let mut parts = line.splitn(3, ':');
            let (_id, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
            Some((controllers.to_owned(), PathBuf::from(path)))
        });
        let memberships = memberships.collect();
        let is_cgroup = |mount: &MountFacts| matches!(mount.fstype.as_str(), "cgroup" | "cgroup2");
        Self { memberships, mounts: mounts.into_iter().filter(is_cgroup).collect() }
    }

    /// The process's group directory and all above it, up to the mount point, for a controller.
    fn directories(&self, controller: &str, version: Version) -> Vec<PathBuf> {
        let has = |list: &str| list.split(',').any(|word| word == controller);
        let (mount, path) = match version {
            Version::One => (
                self.mounts.iter().find(|m| m.fstype == "cgroup" && has(&m.super_options)),
                self.memberships.iter().find(|(controllers, _)| has(controllers)),
            ),
            Version::Two => (
                self.mounts.iter().find(|m| m.fstype == "cgroup2"),
                self.memberships.iter().find(|(controllers, _)| controllers.is_empty()),
            ),
        };
        let Some((mount, (_, path))) = mount.zip(path) else { return Vec::new() };
        // In a container the mount shows a part of the hierarchy only.
        let below = path.strip_prefix(&mount.root).unwrap_or(Path::new(""));
        let below = below.strip_prefix("/").unwrap_or(below);
        let deepest = mount.mount_point.join(below);
        deepest
            .ancestors()
            .take_while(|dir| dir.starts_with(&mount.mount_point))
            .map(Path::to_owned)
            .collect()
    }

    fn tightest<T: PartialOrd>(
        &self,
        controller: &str,
        read: impl Fn(&Path, Version) -> Option<T>,
    ) -> Option<T> {
        [Version::Two, Version::One]
            .into_iter()
            .flat_map(|version| {
                self.directories(controller, version).into_iter().map(move |dir| (dir, version))
            })
            .filter_map(|(dir, version)| read(&dir, version))
            .reduce(|a, b| if b < a { b } else { a })
    }

    /// How many more threads the tightest `pids` limit allows.
    #[must_use]
    pub fn threads_left(&self) -> Option<u64> {
        self.tightest("pids", |dir, _| {
            let limit: u64 = procfs::number(dir.join("pids.max"))?;
            let current: u64 = procfs::number(dir.join("pids.current")).unwrap_or(0);
            Some(limit.saturating_sub(current))
        })
    }

    /// The memory limit that leaves least room.
    #[must_use]
    pub fn memory(&self) -> Option<MemoryRoom> {
        let tight = self.tightest("memory", |dir, version| {
            let (limit, usage, idle) = match version {
                Version::Two => ("memory.max", "memory.current", "inactive_file"),
                Version::One => {
                    ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
                }
            };
            let limit: u64 = procfs::number(dir.join(limit)).filter(|limit| *limit < NO_LIMIT)?;
            let usage: u64 = procfs::number(dir.join(usage)).unwrap_or(0);
            let stat = procfs::raw(dir.join("memory.stat")).unwrap_or_default();
            let idle = procfs::value_after(&stat, idle).unwrap_or(0);
            Some((limit.saturating_sub(usage.saturating_sub(idle)), limit))
        });
        tight.map(|(available_bytes, limit_bytes)| MemoryRoom { limit_bytes, available_bytes })
    }

    /// How many CPUs' time the tightest `cpu` quota allows.
    #[must_use]
    pub fn cpus(&self) -> Option<f64> {
        self.tightest("cpu", |dir, version| {
            let (quota, period) = match version {
                Version::Two => {
                    let text = procfs::text(dir.join("cpu.max"))?;
                    let (quota, period) = text.split_once(' ')?;
                    (quota.parse::<f64>().ok()?, period.parse::<f64>().ok()?)
                }
                Version::One => (
                    procfs::number(dir.join("cpu.cfs_quota_us")).filter(|quota| *quota > 0.0)?,
                    procfs::number(dir.join("cpu.cfs_period_us"))?,
                ),
            };
            (period > 0.0).then(|| quota / period)
        })
    }
}

#[derive(Clone, Copy)]
enum Version {
    One,
    Two,
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn put(root: &Path, file: &str, text: &str) {
        let file = root.join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    #[test]
    fn version_two_takes_the_tightest_ancestor() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        put(root, "a/pids.max", "100\n");
        put(root, "a/pids.current", "30\n");
        put(root, "a/b/pids.max", "max\n");
        put(root, "a/memory.max", "1000\n");
        put(root, "a/memory.current", "900\n");
        put(root, "a/memory.stat", "anon 1\ninactive_file 400\n");
        put(root, "a/b/memory.max", "2000\n");
        put(root, "a/b/cpu.max", "150000 100000\n");
        let table = format!("41 31 0:38 / {} rw - cgroup2 cgroup2 rw\n", root.display());
        let groups = Cgroups::parse("0::/a/b\n", mounts::parse_mountinfo(table.as_bytes()));
        assert_eq!(groups.threads_left(), Some(70));
        let room = MemoryRoom { limit_bytes: 1000, available_bytes: 500 };
        assert_eq!(groups.memory(), Some(room));
        assert_eq!(groups.cpus(), Some(1.5));
    }

    #[test]
    fn version_one_in_a_container_s_view() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        put(root, "memory/job/memory.limit_in_bytes", "5000\n");
        put(root, "memory/memory.limit_in_bytes", "9223372036854771712\n");
        put(root, "cpu/cpu.cfs_quota_us", "-1\n");
        put(root, "cpu/cpu.cfs_period_us", "100000\n");
        let table = format!(
            "35 31 0:32 /docker/x {0}/memory rw - cgroup cgroup rw,memory\n\
             36 31 0:33 / {0}/cpu rw - cgroup cgroup rw,cpu,cpuacct\n",
            root.display()
        );
        let own = "4:memory:/docker/x/job\n2:cpu,cpuacct:/\n0::/\n";
        let groups = Cgroups::parse(own, mounts::parse_mountinfo(table.as_bytes()));
        assert_eq!(groups.memory().map(|room| room.limit_bytes), Some(5000));
        assert_eq!(groups.cpus(), None);
        assert_eq!(groups.threads_left(), None);
    }
}
