//! Users and groups by name, from /etc/passwd and /etc/group alone.
//!
//! libc would also ask directory services, and needs its plug-ins for that; who lives only there is
//! named by numbers.

use std::collections::HashMap;
use std::path::Path;

use super::{HostError, errno};

/// The two files, read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Users {
    users: Vec<User>,
    groups: Vec<Group>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct User {
    name: String,
    uid: u32,
    gid: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Group {
    name: String,
    gid: u32,
    members: Vec<String>,
}

/// A user, and the groups that a login would give.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// The name, where there is one.
    pub name: Option<String>,
    /// The user's number.
    pub uid: u32,
    /// The group: that of /etc/passwd unless another one was asked for.
    pub gid: u32,
    /// Supplementary groups by /etc/group, ascending, without `gid`.
    pub groups: Vec<u32>,
}

/// Why a user could not be found.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UserError {
    /// No such user.
    #[error(
        "{0}: no such user in /etc/passwd (directory services are not asked); give UID:GID as numbers"
    )]
    User(String),
    /// No such group.
    #[error("{0}: no such group in /etc/group (directory services are not asked); give its number")]
    Group(String),
    /// A number without an entry has no group.
    #[error("uid {0} is not in /etc/passwd, so its group is not known; give it: {0}:GID")]
    NoGroup(u32),
    /// A number that means "no change" to the kernel.
    #[error("{0}: 4294967295 is no id, it means \"leave as it is\"")]
    NoId(String),
}

impl Users {
    /// Reads /etc/passwd and /etc/group.
    ///
    /// # Errors
    /// When one of them cannot be read; a missing file is an empty one.
    pub fn read() -> Result<Self, HostError> {
        let text = |file: &str| match std::fs::read(file) {
            Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
            Err(error) => Err(HostError::on("read", Path::new(file))(errno::of_io(&error))),
        };
        Ok(Self::parse(&text("/etc/passwd")?, &text("/etc/group")?))
    }

    /// Takes the files' texts. Lines that are not understood are left out, as libc does.
    #[must_use]
    pub fn parse(passwd: &str, group: &str) -> Self {
        let user = |line: &str| {
            let fields: Vec<&str> = line.split(':').collect();
            let [name, _, uid, gid, ..] = fields[..] else { return None };
            let name =
                Some(name).filter(|name| !name.is_empty() && !name.starts_with(['#', '+', '-']));
            Some(User { name: name?.to_owned(), uid: uid.parse().ok()?, gid: gid.parse().ok()? })
        };
        let group_of = |line: &str| {
            let fields: Vec<&str> = line.split(':').collect();
            let [name, _, gid, ..] = fields[..] else { return None };
            let name =
                Some(name).filter(|name| !name.is_empty() && !name.starts_with(['#', '+', '-']));
            let members = fields.get(3).copied().unwrap_or_default();
            let members = members.split(',').map(str::trim).filter(|member| !member.is_empty());
            Some(Group {
                name: name?.to_owned(),
                gid: gid.parse().ok()?,
                members: members.map(str::to_owned).collect(),
            })
        };
        Self {
            users: passwd.lines().filter_map(user).collect(),
            groups: group.lines().filter_map(group_of).collect(),
        }
    }

    /// Finds `USER[:GROUP]` or `UID[:GID]`, also mixed; a name goes before a number, as in chown.
    ///
    /// # Errors
    /// What is not known, with what to give instead.
    pub fn find(&self, text: &str) -> Result<Account, UserError> {
        let (who, group) = match text.split_once(':') {
            Some((who, group)) => (who, Some(group).filter(|group| !group.is_empty())),
            None => (text, None),
        };
        let gid = group.map(|group| self.group(group)).transpose()?;
        let user = self.users.iter().find(|user| user.name == who).map_or_else(
            || {
                let uid = number(who)?.ok_or_else(|| UserError::User(who.to_owned()))?;
                Ok((uid, self.users.iter().find(|user| user.uid == uid)))
            },
            |user| Ok((user.uid, Some(user))),
        );
        let (uid, entry) = user?;
        let gid = gid.or(entry.map(|user| user.gid)).ok_or(UserError::NoGroup(uid))?;
        let name = entry.map(|user| user.name.clone());
        let mut groups: Vec<u32> = self
            .groups
            .iter()
            .filter(|group| name.as_ref().is_some_and(|name| group.members.contains(name)))
            .map(|group| group.gid)
            .filter(|group| *group != gid)
            .collect();
        groups.sort_unstable();
        groups.dedup();
        Ok(Account { name, uid, gid, groups })
    }

    fn group(&self, text: &str) -> Result<u32, UserError> {
        match self.groups.iter().find(|group| group.name == text) {
            Some(group) => Ok(group.gid),
            None => number(text)?.ok_or_else(|| UserError::Group(text.to_owned())),
        }
    }

    /// Names by uid and by gid; of several entries with one number the first counts.
    #[must_use]
    pub fn names(&self) -> Names {
        let mut names = Names::default();
        for user in &self.users {
            names.users.entry(user.uid).or_insert_with(|| user.name.clone());
        }
        for group in &self.groups {
            names.groups.entry(group.gid).or_insert_with(|| group.name.clone());
        }
        names
    }
}

/// A number, `None` for what is not one.
fn number(text: &str) -> Result<Option<u32>, UserError> {
    match text.parse::<u32>() {
        Ok(u32::MAX) => Err(UserError::NoId(text.to_owned())),
        Ok(id) if text.bytes().all(|byte| byte.is_ascii_digit()) => Ok(Some(id)),
        _ => Ok(None),
    }
}

/// What users and groups are called.
#[derive(Clone, Debug, Default)]
pub struct Names {
    users: HashMap<u32, String>,
    groups: HashMap<u32, String>,
}

impl Names {
    /// A user's name, or the number.
    #[must_use]
    pub fn user(&self, uid: u32) -> String {
        self.users.get(&uid).cloned().unwrap_or_else(|| uid.to_string())
    }

    /// A group's name, or the number.
    #[must_use]
    pub fn group(&self, gid: u32) -> String {
        self.groups.get(&gid).cloned().unwrap_or_else(|| gid.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PASSWD: &str = "root:x:0:0:root:/root:/bin/bash\nalice:x:1000:100::/home/alice:/bin/sh\n\
                          +nis\n# comment\n1001:x:7:7:::\nnobody:x:65534:65534:nobody:/:/bin/false\n";
    const GROUP: &str = "root:x:0:\nusers:x:100:\nwheel:*:10:root,alice\naudio:x:29:alice\n\
                         twice:x:10:alice\nnobody:x:65534:\n";

    fn find(text: &str) -> Result<(u32, u32, Vec<u32>), UserError> {
        let account = Users::parse(PASSWD, GROUP).find(text)?;
        Ok((account.uid, account.gid, account.groups))
    }

    #[test]
    fn names_and_numbers() {
        assert_eq!(find("alice"), Ok((1000, 100, vec![10, 29])));
        assert_eq!(find("1000"), Ok((1000, 100, vec![10, 29])));
        assert_eq!(find("alice:audio"), Ok((1000, 29, vec![10])));
        assert_eq!(find("alice:5"), Ok((1000, 5, vec![10, 29])));
        assert_eq!(find("4000:4001"), Ok((4000, 4001, vec![])));
        assert_eq!(find("nobody:"), Ok((65534, 65534, vec![])));
        // A user who is called like a number goes before the number.
        assert_eq!(find("1001"), Ok((7, 7, vec![])));
    }

    #[test]
    fn who_is_not_known() {
        assert_eq!(find("bob"), Err(UserError::User("bob".into())));
        assert_eq!(find("alice:staff"), Err(UserError::Group("staff".into())));
        assert_eq!(find("4000"), Err(UserError::NoGroup(4000)));
        assert_eq!(find("4294967295:1"), Err(UserError::NoId("4294967295".into())));
        assert_eq!(find("+5:1"), Err(UserError::User("+5".into())));
        assert_eq!(find("4294967296:1"), Err(UserError::User("4294967296".into())));
    }

    #[test]
    fn names_of_numbers() {
        let names = Users::parse(PASSWD, GROUP).names();
        assert_eq!((names.user(1000), names.user(4)), ("alice".into(), "4".into()));
        assert_eq!((names.group(10), names.group(11)), ("wheel".into(), "11".into()));
    }

    #[test]
    fn root_of_this_machine() {
        let root = Users::read().unwrap().find("root").unwrap();
        assert_eq!((root.uid, root.gid), (0, 0));
    }
}
