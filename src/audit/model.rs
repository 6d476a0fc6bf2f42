//! What an audit found: plain data.

use std::path::PathBuf;

use serde::Serialize;

use super::cost::Cost;
use super::decide::Decision;
use super::layers::Layer;
use crate::host::acl::Acl;
use crate::host::acl_force::Force;
use crate::host::credentials::Credentials;
use crate::host::mounts::MountFacts;
use crate::host::walk::Walk;

/// All of it.
#[derive(Clone, Debug, Serialize)]
pub struct Audit {
    /// The path, made absolute; links are not resolved in it.
    pub path: PathBuf,
    /// Whose access is judged, by name where there is one.
    pub user: String,
    /// The same by numbers.
    pub credentials: Credentials,
    /// `uname -r`.
    pub kernel: Option<String>,
    /// Whether this kernel is new enough for the shortcut (6.13); `None` if its release is unclear.
    pub has_shortcut: Option<bool>,
    /// From `/` on, in the order in which the kernel asks.
    pub components: Vec<Component>,
    /// Why the last of them is not the end of the path.
    pub stopped: Option<String>,
    /// The mounts they lie on, in the order in which they are entered.
    pub mounts: Vec<Crossed>,
    /// How the kernel walks the whole path as the user.
    pub walk: WalkProbe,
    /// What else is to be known.
    pub notes: Vec<String>,
}

/// The result of the walk probe.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WalkProbe {
    /// The kernel was asked.
    Asked(Walk),
    /// The path cannot be reached as the user: the name of the errno.
    Refused(String),
    /// The caller may not take the user's credentials, or the path has no end.
    NotAsked,
}

/// A directory, link or file on the way.
#[derive(Clone, Debug, Serialize)]
pub struct Component {
    /// Where it is, without the links before it.
    pub path: PathBuf,
    /// What it is.
    pub kind: Kind,
    /// Where a link leads, as it is written there.
    pub target: Option<PathBuf>,
    /// Owner.
    pub uid: u32,
    /// Owner by name, or the number again.
    pub owner: String,
    /// Group.
    pub gid: u32,
    /// Group by name, or the number again.
    pub group: String,
    /// Type and permission bits.
    pub mode: u32,
    /// The access ACL, where there is one.
    pub acl: Option<Acl>,
    /// The default ACL that new files inherit.
    pub default_acl: Option<Acl>,
    /// Which of the mounts it lies on.
    pub mount: usize,
    /// What is asked: a sum of read 4, write 2, execute or search 1; 0 for links.
    pub asked: u8,
    /// Which step decides and how; `None` for links, which are not asked for permission.
    pub decision: Option<Decision>,
    /// Whether the user gets on from here; for a link, whether following it is allowed.
    pub granted: bool,
    /// What the kernel said when asked as the user; `None` if it was not.
    pub kernel: Option<bool>,
    /// What the check costs, where figures are known.
    pub cost: Option<Cost>,
}

/// What a component is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A directory.
    Directory,
    /// A symbolic link.
    Link,
    /// Anything else.
    File,
}

/// A mount on the way.
#[derive(Clone, Debug, Serialize)]
pub struct Crossed {
    /// As the mount table has it.
    pub facts: MountFacts,
    /// Whether ids are mapped on it.
    pub idmapped: bool,
    /// Whether ACLs are in force on it.
    pub force: Force,
    /// Of an overlay: its layers.
    pub layers: Vec<Layer>,
}

impl Audit {
    /// The first component that keeps the user from going on.
    #[must_use]
    pub fn denied_at(&self) -> Option<&Component> {
        self.components.iter().find(|component| !component.granted)
    }

    /// Components of which the kernel says otherwise than the decision.
    pub fn disagreements(&self) -> impl Iterator<Item = &Component> {
        self.components.iter().filter(|c| c.kernel.is_some_and(|said| said != c.granted))
    }

    /// The mount of a component.
    #[must_use]
    pub fn mount_of(&self, component: &Component) -> Option<&Crossed> {
        self.mounts.get(component.mount)
    }
}
