//! What every client of a run does with its loadfile.

/// How clients execute their loadfile: the part of a plan that is the same on all disks.
#[derive(Clone, Debug, PartialEq)]
pub struct Load {
    /// Open files with `O_SYNC` (dbench `-s`).
    pub sync_open: bool,
    /// Sync the directory after a change in it (dbench `-S`).
    pub sync_dir: bool,
    /// fsync after every write (dbench `-F`).
    pub fsync: bool,
    /// Make `fdatasync` of what would be an fsync.
    pub datasync: bool,
    /// Read and write a DOS attribute as Samba does (dbench `-x`).
    pub xattr: bool,
    /// Look for another spelling of a name that is not there (not dbench `--no-resolve`).
    pub resolve: bool,
    /// Count reads and writes without making them (dbench `--fake-io`).
    pub fake_io: bool,
    /// Open files with `O_DIRECT`.
    pub direct: bool,
    /// What is written.
    pub data: Data,
    /// What timestamps in the loadfile do.
    pub timing: Timing,
    /// Operations per second and disk, from a schedule (open loop).
    pub rate: Option<f64>,
    /// Passes of each client; `None` goes on until time is up.
    pub passes: Option<u64>,
    /// Which way calls go, where the engine has a choice.
    pub routes: super::Routes,
    /// How clients name their files.
    pub path: PathMode,
    /// What client threads of a disk share.
    pub share: Share,
    /// CPUs that client threads may run on; empty for all.
    pub cpus: Vec<usize>,
    /// Where every random choice starts from.
    pub seed: u64,
    /// Nanoseconds that each operation is made longer by, for trying out what finds such a thing.
    pub spin_ns: u64,
}

impl Default for Load {
    fn default() -> Self {
        Self {
            sync_open: false,
            sync_dir: false,
            fsync: false,
            datasync: false,
            xattr: false,
            resolve: true,
            fake_io: false,
            direct: false,
            data: Data::Random,
            timing: Timing::Honour { speed: 1.0 },
            rate: None,
            passes: None,
            routes: super::Routes::default(),
            path: PathMode::Absolute,
            share: Share::default(),
            cpus: Vec::new(),
            seed: 1,
            spin_ns: 0,
        }
    }
}

/// What writes write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Data {
    /// Bytes that do not compress and differ per client and write.
    Random,
    /// Zeroes, as dbench.
    Zero,
}

/// What timestamps in a loadfile do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Timing {
    /// An operation starts at its timestamp, divided by `speed`.
    Honour {
        /// 2 replays a recording in half its time.
        speed: f64,
    },
    /// As if there were none.
    Ignore,
}

/// How clients name their files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathMode {
    /// By absolute path, so that the walk through the prefix is part of the load, as in dbench.
    Absolute,
    /// Relative to the thread's working directory, the run directory.
    Cwd,
    /// Relative to an open descriptor of the run directory, with the `*at` calls.
    Dirfd,
}

impl PathMode {
    /// The word of the command line and of results.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Absolute => "absolute",
            Self::Cwd => "cwd",
            Self::Dirfd => "dirfd",
        }
    }
}

/// What the client threads of a disk share with each other. Other disks' never share anything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// The credentials object.
    pub cred: bool,
    /// The descriptor table.
    pub fd: bool,
    /// The working directory and umask (`fs_struct`).
    pub fs: bool,
}
