//! Puts an audit together.

use std::os::fd::AsFd;
use std::path::PathBuf;

use super::cost::{Cost, IDMAPPED_OTHERS, OVERLAY_OTHERS};
use super::decide::{Inode, READ, Rules, SEARCH, decide};
use super::model::{Audit, Component, Crossed, Kind};
use super::mounts::Mounts;
use super::path::{self, Place};
use super::trial::{self, Trial};
use crate::host::acl::Acl;
use crate::host::acl_force::{Answer, decides_itself};
use crate::host::acl_xattr::{self, AclKind};
use crate::host::credentials::Credentials;
use crate::host::users::Names;
use crate::host::{HostError, errno, mounts, procfs};

/// What an audit is about.
#[derive(Clone, Debug)]
pub struct Question {
    /// The path; a relative one is taken from the working directory.
    pub path: PathBuf,
    /// Whose access.
    pub who: Credentials,
    /// What the user is called.
    pub name: String,
    /// What is asked of the last component, a sum of read 4, write 2, execute or search 1; `None`:
    /// to search a directory, to read anything else.
    pub last: Option<u8>,
    /// What users and groups are called.
    pub names: Names,
}

/// Looks at every component of a path.
///
/// # Errors
/// When /proc cannot be read. A path that does not go on is no error: the audit says where it stops.
pub fn audit(question: &Question) -> Result<Audit, HostError> {
    let own = Credentials::of_this_thread()?;
    let table = mounts::mounts()?;
    let path = std::path::absolute(&question.path)
        .map_err(|error| HostError::on("find", &question.path)(errno::of_io(&error)))?;
    let (places, error) = path::walk(&path);
    let asked: Vec<u8> = asked_of(&places, error.is_none(), question.last);
    let questions: Vec<_> = places.iter().zip(asked.iter().copied()).collect();
    let trial = trial::ask(&question.who, &own, &questions, error.is_none().then_some(&*path));
    let kernel = procfs::text("/proc/sys/kernel/osrelease");
    let has_shortcut = kernel.as_deref().and_then(release).map(|release| release >= (6, 13));
    let mut crossed = Mounts::new(&table);
    let mut components = Vec::with_capacity(places.len());
    for (index, (place, asked)) in questions.iter().enumerate() {
        let mount = crossed.index(place);
        let facts = Facts {
            place,
            asked: *asked,
            mount,
            crossed: crossed.crossed.get(mount),
            above: index.checked_sub(1).map(|above| &places[above]),
            kernel: trial.answers[index],
        };
        components.push(facts.component(question, has_shortcut.unwrap_or(true)));
    }
    let mounts = crossed.crossed;
    let notes = notes(&trial, &mounts, has_shortcut);
    Ok(Audit {
        path,
        user: question.name.clone(),
        credentials: question.who.clone(),
        kernel,
        has_shortcut,
        components,
        stopped: error.map(|error| error.to_string()),
        mounts,
        walk: trial.walk,
        notes,
    })
}

/// Directories are searched, links only read; the last component is what the path is about.
fn asked_of(places: &[Place], complete: bool, last: Option<u8>) -> Vec<u8> {
    let ordinary = |place: &Place| match (place.target.is_some(), place.is_dir()) {
        (true, _) => 0,
        (false, true) => SEARCH,
        (false, false) => READ,
    };
    let mut asked: Vec<u8> = places.iter().map(ordinary).collect();
    if let (true, Some(end), Some(last)) = (complete, asked.last_mut(), last) {
        *end = last;
    }
    asked
}

struct Facts<'a> {
    place: &'a Place,
    asked: u8,
    mount: usize,
    crossed: Option<&'a Crossed>,
    above: Option<&'a Place>,
    kernel: Option<bool>,
}

impl Facts<'_> {
    fn component(&self, question: &Question, shortcut: bool) -> Component {
        let (place, who) = (self.place, &question.who);
        let link = place.target.is_some();
        let answer = if link { Answer::None } else { Answer::of(place.fd.as_fd()) };
        let rules = self.rules(&answer, shortcut);
        let acl = match answer {
            Answer::Acl(acl) => Some(acl),
            _ => None,
        };
        let inode = Inode { mode: place.mode, uid: place.uid, gid: place.gid, acl };
        let decision = (!link).then(|| decide(who, &inode, rules, self.asked));
        let overlay = self.crossed.is_some_and(|mount| mount.facts.fstype == "overlay");
        // The figures are of directories, relative to a shortcut that is there to be taken.
        let fits = shortcut && place.is_dir() && self.asked == SEARCH && !overlay;
        let priced = decision.filter(|_| fits);
        Component {
            path: place.path.clone(),
            kind: match (link, place.is_dir()) {
                (true, _) => Kind::Link,
                (_, true) => Kind::Directory,
                _ => Kind::File,
            },
            target: place.target.clone(),
            uid: place.uid,
            owner: question.names.user(place.uid),
            gid: place.gid,
            group: question.names.group(place.gid),
            mode: place.mode,
            acl: inode.acl,
            default_acl: self.default_acl(),
            mount: self.mount,
            asked: self.asked,
            granted: decision.map_or_else(|| self.may_follow(who), |decision| decision.granted),
            decision,
            kernel: self.kernel,
            cost: priced.as_ref().and_then(Cost::of),
        }
    }

    fn rules(&self, answer: &Answer, shortcut: bool) -> Rules {
        let overlay = self.crossed.is_some_and(|mount| mount.facts.fstype == "overlay");
        Rules { shortcut, acl: *answer != Answer::Off, acl_not_cached: overlay }
    }

    fn default_acl(&self) -> Option<Acl> {
        let fd = self.place.fd.as_fd();
        self.place.is_dir().then(|| acl_xattr::get_fd(fd, AclKind::Default).ok())??
    }

    /// The sysctl fs.protected_symlinks: in a sticky directory that everybody may write to, a link is
    /// followed only by its owner, or if it belongs to the directory's owner. No capability helps.
    fn may_follow(&self, who: &Credentials) -> bool {
        let Some(above) = self.above else { return true };
        let open_to_all = above.mode & 0o1002 == 0o1002;
        let link = self.place;
        let strange = link.uid != who.uid && link.uid != above.uid;
        !(open_to_all
            && strange
            && procfs::number("/proc/sys/fs/protected_symlinks").unwrap_or(0_u32) != 0)
    }
}

/// Major and minor number of a release such as `6.18.44-cloud`.
fn release(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.split(|c: char| !c.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

fn notes(trial: &Trial, mounts: &[Crossed], has_shortcut: Option<bool>) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(errno) = trial.why_not {
        notes.push(format!(
            "the kernel was not asked as this user ({}): only root can take another user's \
             credentials",
            errno::name(errno)
        ));
    }
    if has_shortcut.is_none() {
        notes.push("the kernel's release is unclear: taken for 6.13 or later".to_owned());
    }
    let modules = procfs::text("/sys/kernel/security/lsm").unwrap_or_default();
    let strict = ["selinux", "apparmor", "smack", "tomoyo"];
    let strict: Vec<&str> = modules.split(',').filter(|name| strict.contains(name)).collect();
    if !strict.is_empty() {
        notes.push(format!("{} may refuse what is granted here", strict.join(" and ")));
    }
    for mount in mounts {
        let (point, kind) = (mount.facts.mount_point.display(), &mount.facts.fstype);
        if let Some(why) = decides_itself(kind) {
            notes.push(format!("{point} ({kind}): {why}"));
        } else if let Some(caveat) = mount.force.caveat {
            notes.push(format!("{point}: {caveat}"));
            notes.push(format!(
                "{point}: there is no shortcut on overlayfs while ACLs are in force; others took \
                 {OVERLAY_OTHERS} times as long as the owner on another machine"
            ));
        }
        if mount.idmapped {
            notes.push(format!(
                "{point} is idmapped: owners and ACLs are shown, and checked, as they are mapped there"
            ));
        }
        for layer in mount.layers.iter().filter(|layer| layer.idmapped == Some(true)) {
            notes.push(format!(
                "{point}: its {} layer {} is idmapped: whoever does not own a directory in it leaves \
                 RCU mode there on every walk, and took {IDMAPPED_OTHERS} times as long as the owner \
                 on another machine",
                layer.role,
                layer.path.display()
            ));
        }
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::release;

    #[test]
    fn releases() {
        assert_eq!(release("6.18.44-fc-v595"), Some((6, 18)));
        assert_eq!(release("6.9-rc1"), Some((6, 9)));
        assert_eq!(release("7.0"), Some((7, 0)));
        assert_eq!(release("next"), None);
        assert!((6, 9) < (6, 13));
    }
}
