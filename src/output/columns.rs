//! The one table of columns: what a result file consists of.
//!
//! Once released, the order is fixed and new columns go to the end. `docs/output.md` repeats the
//! table for readers, and a test compares the two.

/// Version of the table, in the column `schema`.
pub const SCHEMA: u64 = 1;

/// What a column is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Says which row this is.
    Key,
    /// What the load ran under: runs that differ here are not the same experiment.
    Condition,
    /// What was found and is recorded, but decides nothing.
    Fact,
    /// What was measured.
    Measure,
}

impl Role {
    /// The word in `docs/output.md`.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Key => "key",
            Self::Condition => "condition",
            Self::Fact => "fact",
            Self::Measure => "measure",
        }
    }
}

/// What a cell of a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Text.
    Text,
    /// A whole number, not negative.
    Integer,
    /// A number.
    Float,
    /// Yes or no: `1` or `0` in CSV, `true` or `false` in JSON.
    Bool,
}

impl Kind {
    /// The word in `docs/output.md`.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Integer => "integer",
            Self::Float => "float",
            Self::Bool => "bool",
        }
    }
}

macro_rules! columns {
    ($($variant:ident $name:literal $role:ident $kind:ident $meaning:literal;)+) => {
        /// A column of the result file.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Column { $(#[doc = $meaning] $variant),+ }

        impl Column {
            /// Every column in the order of the file; `ALL[column.index()] == column`.
            pub const ALL: &'static [Column] = &[$(Column::$variant),+];

            /// The name in the header; a unit is its last part.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Column::$variant => $name),+ }
            }

            /// What the column is for.
            #[must_use]
            pub const fn role(self) -> Role {
                match self { $(Column::$variant => Role::$role),+ }
            }

            /// What its cells hold.
            #[must_use]
            pub const fn kind(self) -> Kind {
                match self { $(Column::$variant => Kind::$kind),+ }
            }

            /// What it means, in one line.
            #[must_use]
            pub const fn meaning(self) -> &'static str {
                match self { $(Column::$variant => $meaning),+ }
            }
        }
    };
}

columns! {
    Schema "schema" Key Integer "Version of this table of columns.";
    ToolVersion "tool_version" Fact Text "Version of jbodbench that wrote the row.";
    RunId "run_id" Key Text "Name of the run: one measured window on all its disks.";
    ExperimentId "experiment_id" Key Text "Name of the experiment that the run belongs to.";
    BootId "boot_id" Key Text "The kernel's name for the current boot (random/boot_id).";
    RunLabel "run_label" Key Text "What was given with --label.";
    Row "row" Key Text "What kind of row this is: summary, interval, pass, phase, error, call, effect or profile.";
    TsUtc "ts_utc" Key Text "When the row was made, UTC, RFC 3339 with a Z.";
    Host "host" Key Text "Host name, or all.";
    Rank "rank" Key Integer "Rank of the process among those of a run on several hosts.";
    Kernel "kernel" Fact Text "Kernel release.";
    HostState "host_state" Fact Text "Short hash of those host settings that can change a result.";
    Disk "disk" Key Text "The DISK argument made absolute, or all.";
    Device "device" Fact Text "Block device, or the source of the mount when there is none.";
    MountPoint "mount_point" Fact Text "Where the file system is mounted.";
    Fstype "fstype" Condition Text "Type of the file system.";
    MountOptions "mount_options" Condition Text "Mount options as the kernel reports them.";
    Model "model" Fact Text "The disk's model.";
    Serial "serial" Fact Text "The disk's serial number.";
    Rotational "rotational" Fact Bool "Whether the kernel takes the disk for a spinning one.";
    AclEffective "acl_effective" Condition Bool "Whether ACLs were in force, as probed.";
    AclEntries "acl_entries" Condition Integer "Named ACL entries per directory of the path, as found.";
    WalkRcu "walk_rcu" Measure Float "Share (0 to 1) of walks to the load's paths that took no lock (RCU mode).";
    Relation "relation" Condition Text "Caller to directories: owner, group, other or capability.";
    Cred "cred" Condition Text "User that the clients ran as, as given with --as.";
    Uid "uid" Condition Integer "User id of the clients, as the kernel reports it.";
    Gid "gid" Condition Integer "Group id of the clients, as the kernel reports it.";
    Engine "engine" Condition Text "How calls reached the kernel: sync, hybrid, uring or null.";
    EngineFallback "engine_fallback" Fact Text "Why another engine than the wished one was used.";
    Route "route" Condition Text "Which calls went which way, where that was pinned.";
    IoWqMax "io_wq_max" Condition Integer "Limit of kernel workers per ring.";
    Loadfile "loadfile" Condition Text "Name of the loadfile without its directory.";
    ProgramSha256 "program_sha256" Condition Text "SHA-256 of the compiled load.";
    Options "options" Condition Text "Every option that changes the work, in canonical form.";
    Clients "clients" Condition Integer "Clients per disk.";
    Threads "threads" Condition Integer "Threads per disk.";
    Block "block" Key Integer "Block of the experiment: every cell once.";
    Cell "cell" Key Text "Cell of the experiment: its combination of conditions.";
    OrderIndex "order_index" Key Integer "Position of the run in its block, from 0.";
    Seed "seed" Condition Integer "Seed of all random choices.";
    Phase "phase" Key Text "Phase of the load, where it has several.";
    TStartS "t_start_s" Key Float "Start of what the row covers, seconds after the window opened.";
    DurationS "duration_s" Measure Float "Length of what the row covers, in seconds.";
    WindowS "window_s" Measure Float "Seconds that the rates are taken over: all clients active.";
    FirstDoneS "first_done_s" Measure Float "When the first client was done, seconds after the start.";
    LastDoneS "last_done_s" Measure Float "When the last client was done, seconds after the start.";
    Op "op" Key Text "Word of the loadfile, or all.";
    Ops "ops" Measure Integer "Operations tried that started within the window.";
    Errors "errors" Measure Integer "Operations that missed their expected status.";
    Skipped "skipped" Measure Integer "Operations not tried because their handle was not open, or their pool had no such name.";
    Bytes "bytes" Measure Integer "Bytes read or written by the operations.";
    OpsPerS "ops_per_s" Measure Float "Operations per second within window_s.";
    BytesPerS "bytes_per_s" Measure Float "Bytes per second within window_s.";
    LatMeanUs "lat_mean_us" Measure Float "Mean latency in microseconds.";
    LatMinUs "lat_min_us" Measure Float "Shortest latency in microseconds; exact in summary rows.";
    LatP50Us "lat_p50_us" Measure Float "Median latency in microseconds.";
    LatP90Us "lat_p90_us" Measure Float "90th percentile of latency in microseconds.";
    LatP95Us "lat_p95_us" Measure Float "95th percentile of latency in microseconds.";
    LatP99Us "lat_p99_us" Measure Float "99th percentile of latency in microseconds.";
    LatP999Us "lat_p999_us" Measure Float "99.9th percentile of latency in microseconds.";
    LatMaxUs "lat_max_us" Measure Float "Longest latency in microseconds; exact in summary rows.";
    Passes "passes" Measure Integer "Whole trips through the loadfile, all clients together.";
    PassMeanS "pass_mean_s" Measure Float "Mean time of a whole pass in seconds.";
    StalledS "stalled_s" Measure Float "Seconds spent in operations of more than one second.";
    PoolWaitS "pool_wait_s" Measure Float "Seconds that clients were ready but their thread was busy.";
    CpuUserS "cpu_user_s" Measure Float "CPU seconds in user mode.";
    CpuSysS "cpu_sys_s" Measure Float "CPU seconds in the kernel.";
    SysUsPerOp "sys_us_per_op" Measure Float "Microseconds of kernel CPU time per operation.";
    DevReadBytes "dev_read_bytes" Measure Integer "Bytes that the device read in the window.";
    DevWriteBytes "dev_write_bytes" Measure Integer "Bytes that the device wrote in the window.";
    DrainS "drain_s" Measure Float "Seconds that syncfs took after the window.";
    Steady "steady" Measure Bool "Whether the rate was level over the window.";
    Status "status" Measure Text "How it went: ok, or what was wrong.";
    Client "client" Key Integer "Client that the error happened to, from 0.";
    Line "line" Key Integer "Line of the loadfile.";
    Path "path" Key Text "Path that the operation was about.";
    Errno "errno" Key Text "Name of the error (ENOENT), SHORT or SUCCEEDED.";
    Hist "hist" Measure Text "All latencies in ns: HdrHistogram V2, deflate, base64 (--hist).";
    Slot "slot" Fact Text "Where the disk sits: its name in /dev/disk/by-path.";
    WriteCache "write_cache" Fact Text "The device's write cache: write back or write through.";
    Scheduler "scheduler" Fact Text "I/O scheduler of the device.";
    Members "members" Fact Text "Devices below a dm, md or loop device, separated by spaces.";
    SameFs "same_fs" Fact Bool "Whether another DISK of the run is on the same file system.";
    IsMountPoint "is_mount_point" Fact Bool "Whether the DISK is itself a mount point.";
    RunDelayS "run_delay_s" Measure Float "Seconds that threads were ready to run but had no CPU.";
    CtxVoluntary "ctx_voluntary" Measure Integer "Context switches because a thread waited.";
    CtxInvoluntary "ctx_involuntary" Measure Integer "Context switches because the CPU was taken away.";
    StealS "steal_s" Measure Float "CPU seconds that the hypervisor took, whole machine.";
    DevFlushes "dev_flushes" Measure Integer "Cache flushes that the device did in the window.";
    DevUtil "dev_util" Measure Float "Share (0 to 1) of the window in which the device was busy.";
    DirtyBytes "dirty_bytes" Measure Integer "Dirty bytes of the page cache when the window closed.";
    DrainBytes "drain_bytes" Measure Integer "Bytes that the device wrote while drain_s.";
    PassMinS "pass_min_s" Measure Float "Shortest whole pass in seconds.";
    PassMaxS "pass_max_s" Measure Float "Longest whole pass in seconds.";
    LateOps "late_ops" Measure Integer "Operations started later than the wished rate asks for.";
    HostSha256 "host_sha256" Fact Text "SHA-256 that ties the row to its host.json.";
    StateClass "state_class" Fact Text "Whether the host was quiet, or what disturbed it.";
    TimeS "time_s" Condition Float "--time in seconds.";
    WarmupS "warmup_s" Condition Float "--warmup in seconds.";
    PassesLimit "passes_limit" Condition Integer "--passes.";
    IntervalS "interval_s" Condition Float "--interval in seconds.";
    RateOps "rate_ops" Condition Float "--rate: operations per second and disk that were aimed at.";
    Data "data" Condition Text "--data: what files are filled with, random or zero.";
    Depth "depth" Condition Integer "--depth: directories between the disk and a client's.";
    PathMode "path_mode" Condition Text "--path: absolute, cwd or dirfd.";
    Timestamps "timestamps" Condition Text "--timestamps: honour, ignore or a speed.";
    SyncOpen "sync_open" Condition Bool "--sync-open: files are opened with O_SYNC.";
    SyncDir "sync_dir" Condition Bool "--sync-dir: directories are synced after changes.";
    Fsync "fsync" Condition Bool "--fsync: every write is followed by fsync.";
    Xattr "xattr" Condition Bool "--xattr: extended attributes are read and written too.";
    Resolve "resolve" Condition Bool "Whether missing names are searched for; 0 with --no-resolve.";
    StatCheck "stat_check" Condition Bool "Whether names are looked up before they are made or moved.";
    FakeIo "fake_io" Condition Bool "--fake-io: reads and writes are left out.";
    OneByteWriteFix "one_byte_write_fix" Condition Bool "Whether one-byte writes become truncations.";
    Direct "direct" Condition Bool "--direct: files are opened with O_DIRECT.";
    Share "share" Condition Text "--share: what the threads of a disk share (cred, fd, fs).";
    Cpus "cpus" Condition Text "--cpus: processors that the threads may use.";
    Compat "compat" Condition Text "--compat: the dbench whose mistakes are kept.";
    CallsInline "calls_inline" Measure Integer "System calls made at once by a thread of the disk.";
    CallsTried "calls_tried" Measure Integer "System calls made in a form that does not wait.";
    CallsRing "calls_ring" Measure Integer "System calls made through io_uring.";
    CallsAside "calls_aside" Measure Integer "System calls made while a stand-in served the other clients.";
    DioAlign "dio_align" Fact Integer "With --direct: bytes that offsets and lengths must be multiples of; 1 where the page cache serves O_DIRECT (tmpfs).";
    MountAcl "mount_acl" Condition Text "--mount-acl: keep, on or off.";
    DirOwner "dir_owner" Condition Text "--dir-owner: whose the directories on the path are.";
    DirMode "dir_mode" Condition Text "--dir-mode: permission bits of these, octal.";
    DirAcl "dir_acl" Condition Integer "--dir-acl: users that the ACL of each of these names.";
    AclMatch "acl_match" Condition Bool "--acl-match: whether the first of these is the caller.";
    DefaultAcl "default_acl" Condition Bool "--default-acl: whether new files inherit the ACL.";
    AclCache "acl_cache" Condition Text "--acl-cache: whether ACLs on the path are in memory at the start, warm or cold.";
    DropCaches "drop_caches" Condition Bool "--drop-caches: the machine's directory entries and inodes were dropped before the load.";
    Lsm "lsm" Condition Text "Security modules in force, in their order.";
    Selinux "selinux" Condition Text "What SELinux does: enforcing, permissive or off.";
    SelinuxLabel "selinux_label" Condition Text "Label of the client threads under SELinux.";
    ApparmorLabel "apparmor_label" Condition Text "Profile of the client threads under AppArmor.";
    AuditEnabled "audit_enabled" Condition Integer "Whether the kernel audits: 0 off, 1 on, 2 on and locked.";
    AuditRules "audit_rules" Condition Integer "Rules of the kernel's audit.";
    Hooks "hooks" Condition Text "Commands around the runs of a matrix (--prepare and the like).";
    PlanSha256 "plan_sha256" Key Text "SHA-256 of the plan of a matrix: factors, options, disks, seed.";
    BlocksPlanned "blocks_planned" Key Integer "Blocks that were planned when the row was made.";
    IdleWaitS "idle_wait_s" Measure Float "Seconds that a matrix waited for idle devices before the run.";
    Flags "flags" Measure Text "What to be careful about: busy_device, failed, interrupted.";
    Effect "effect" Key Text "Kind of effect: main, simple or interaction.";
    Factor "factor" Key Text "What was varied; two factors of an interaction with an x between.";
    LevelA "level_a" Key Text "Level that the effect starts from.";
    LevelB "level_b" Key Text "Level that is compared with it.";
    Held "held" Key Text "Levels of other factors that a simple effect was found at.";
    Metric "metric" Key Text "What the effect is of: a column, and :OP where not of all operations.";
    Exploratory "exploratory" Fact Bool "Whether it is not of the metric that was declared before.";
    N "n" Measure Integer "Blocks that the effect was found in.";
    ChangePct "change_pct" Measure Float "Change from level_a to level_b in percent.";
    LowPct "low_pct" Measure Float "Lower end of the change's interval in percent.";
    HighPct "high_pct" Measure Float "Upper end of the change's interval in percent.";
    Confidence "confidence" Fact Float "Confidence of that interval, 0 to 1.";
    HalfWidthPct "half_width_pct" Measure Float "Smallest change that could be told from none, in percent.";
    PValue "p_value" Measure Float "Probability of such a change by chance alone.";
    PAdjusted "p_adjusted" Measure Float "The same among all effects of the declared metric, or all exploratory ones (Holm).";
    Verdict "verdict" Measure Text "same, improvement, regression, interaction or inconclusive.";
    BlocksNeeded "blocks_needed" Measure Integer "Blocks that would resolve a change as large as the margin.";
    MarginPct "margin_pct" Fact Float "Changes below this do not matter, in percent (--margin).";
    SpeedUp "speed_up" Measure Float "Rate over that of the first level.";
    Efficiency "efficiency" Measure Float "Speed-up over how many times as many there were of the factor.";
    Function "function" Key Text "Kernel function that cells differ in (matrix --profile).";
    SelfPerOp "self_per_op" Measure Float "What it took of each operation by itself: nanoseconds, or cycles where these are counted.";
    SelfPct "self_pct" Measure Float "The same as a share of all CPU time of the load, in percent.";
    Samples "samples" Measure Integer "Samples of perf in which it had the CPU.";
    ProfileEvent "profile_event" Fact Text "What perf sampled by: cpu-clock, or a counter of cycles.";
    Folded "folded" Fact Text "File with the cell's stacks beside those of the first cell.";
    Repeats "repeats" Measure Integer "How often the phase was run whole within the window.";
    OpsPerSMean "ops_per_s_mean" Measure Float "Mean of the operations per second of these repeats.";
    OpsPerSSd "ops_per_s_sd" Measure Float "Standard deviation of the same; empty with fewer than two.";
    BytesPerSMean "bytes_per_s_mean" Measure Float "Mean of the bytes per second of these repeats.";
    BytesPerSSd "bytes_per_s_sd" Measure Float "Standard deviation of the same; empty with fewer than two.";
    BarrierWaitS "barrier_wait_s" Measure Float "Seconds that clients waited at the end of the phase for the last one.";
}

impl Column {
    /// Number of columns.
    pub const COUNT: usize = Self::ALL.len();

    /// Position in the file, from 0.
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The names of all columns, in order.
    pub fn names() -> impl Iterator<Item = &'static str> {
        Self::ALL.iter().map(|column| column.name())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// The list of the design, which later columns only follow.
    const DESIGN: &str = "schema tool_version run_id experiment_id boot_id run_label row ts_utc \
        host rank kernel host_state disk device mount_point fstype mount_options model serial \
        rotational acl_effective acl_entries walk_rcu relation cred uid gid engine \
        engine_fallback route io_wq_max loadfile program_sha256 options clients threads block \
        cell order_index seed phase t_start_s duration_s window_s first_done_s last_done_s op ops \
        errors skipped bytes ops_per_s bytes_per_s lat_mean_us lat_min_us lat_p50_us lat_p90_us \
        lat_p95_us lat_p99_us lat_p999_us lat_max_us passes pass_mean_s stalled_s pool_wait_s \
        cpu_user_s cpu_sys_s sys_us_per_op dev_read_bytes dev_write_bytes drain_s steady status \
        client line path errno hist";

    #[test]
    fn the_design_names_the_first_columns() {
        let design: Vec<_> = DESIGN.split_whitespace().collect();
        let ours: Vec<_> = Column::names().take(design.len()).collect();
        assert_eq!(ours, design);
    }

    #[test]
    fn names_are_distinct_and_plain() {
        let distinct: BTreeSet<_> = Column::names().collect();
        assert_eq!(distinct.len(), Column::COUNT);
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        for (index, column) in Column::ALL.iter().enumerate() {
            assert_eq!(column.index(), index);
            assert!(column.name().chars().all(plain), "{}", column.name());
            assert!(!column.meaning().contains('|') && column.meaning().ends_with(['.', ')']));
        }
    }

    /// The page's table must be this one: same columns, order, roles, kinds and meanings.
    #[test]
    fn the_documented_table_is_this_one() {
        let page = include_str!("../../docs/output.md");
        let documented: Vec<_> = page
            .lines()
            .skip_while(|line| !line.starts_with("| column |"))
            .skip(2)
            .take_while(|line| line.starts_with('|'))
            .collect();
        let ours: Vec<_> = Column::ALL
            .iter()
            .map(|c| {
                let (role, kind) = (c.role().word(), c.kind().word());
                format!("| `{}` | {role} | {kind} | {} |", c.name(), c.meaning())
            })
            .collect();
        for (index, line) in ours.iter().enumerate() {
            assert_eq!(
                documented.get(index),
                Some(&line.as_str()),
                "docs/output.md lacks:\n{line}"
            );
        }
        assert_eq!(documented.len(), ours.len(), "docs/output.md has lines too many");
    }
}
