//! Sentences about audits that were put together by hand.

use super::*;
use crate::audit::decide::{Inode, Rules, SEARCH, decide};
use crate::host::acl::{Acl, AclEntry};
use crate::host::credentials::Credentials;

const NEW: Rules = Rules { shortcut: true, acl: true, acl_not_cached: false };

fn who(uid: u32) -> Credentials {
    let root = uid == 0;
    Credentials { uid, gid: uid, groups: vec![], dac_override: root, dac_read_search: root }
}

/// A directory of uid 10 and gid 20, searched.
fn dir(path: &str, mode: u32, named: &[(Who, u8)], uid: u32) -> Component {
    let named: Vec<_> = named.iter().map(|&(who, perms)| AclEntry { who, perms }).collect();
    let acl = (!named.is_empty()).then(|| Acl::with_named(mode, &named));
    let mode = 0o040_000 | mode;
    let inode = Inode { mode, uid: 10, gid: 20, acl: acl.clone() };
    let decision = decide(&who(uid), &inode, NEW, SEARCH);
    Component {
        path: path.into(),
        kind: Kind::Directory,
        target: None,
        uid: 10,
        owner: "ann".into(),
        gid: 20,
        group: "crew".into(),
        mode,
        acl,
        default_acl: None,
        mount: 0,
        asked: SEARCH,
        decision: Some(decision),
        granted: decision.granted,
        kernel: None,
        cost: None,
    }
}

fn sentences(uid: u32, components: Vec<Component>, walk: WalkProbe) -> String {
    let audit = Audit {
        path: "/a/b".into(),
        user: "bob".into(),
        credentials: who(uid),
        kernel: None,
        has_shortcut: Some(true),
        components,
        stopped: None,
        mounts: vec![],
        walk,
        notes: vec![],
    };
    audit.sentences().join(" ")
}

#[track_caller]
fn says(text: &str, wanted: &[&str]) {
    for wanted in wanted {
        assert!(text.contains(wanted), "no `{wanted}` in: {text}");
    }
}

#[test]
fn all_by_the_shortcut() {
    let dirs = vec![dir("/", 0o755, &[], 5), dir("/a", 0o755, &[], 5)];
    let text = sentences(5, dirs, WalkProbe::Asked(Walk::Rcu));
    says(
        &text,
        &[
            "bob reaches /a/b. Decided by the shortcut in all 2 components.",
            "noacl would change nothing",
            "stays in RCU mode",
        ],
    );
}

#[test]
fn mixed() {
    let acl = [(Who::User(5), 5)];
    let dirs = vec![dir("/", 0o755, &[], 5), dir("/a", 0o755, &acl, 5), dir("/a/b", 0o705, &[], 5)];
    let text = sentences(5, dirs, WalkProbe::Asked(Walk::Left));
    says(
        &text,
        &[
            "by the shortcut in /, by the ACL in /a, by others' bits in /a/b.",
            "goes through 2 ACL entries",
            "leaves RCU mode",
        ],
    );
    assert!(!text.contains("noacl"), "{text}");
    let text = sentences(0, vec![dir("/", 0o700, &[], 0)], WalkProbe::NotAsked);
    says(&text, &["by a capability in /", "made first and fails", "was not probed"]);
}

#[test]
fn refused() {
    let denied = |mode, named: &[(Who, u8)], uid| {
        let refused = WalkProbe::Refused("EACCES".into());
        sentences(uid, vec![dir("/", 0o755, &[], uid), dir("/a", mode, named, uid)], refused)
    };
    says(
        &denied(0o750, &[], 5),
        &[
            "bob does not reach /a/b: /a refuses search; others' bits decide (mode 0750, ann:crew).",
            "fails: EACCES",
        ],
    );
    let text = denied(0o755, &[(Who::User(5), 4)], 5);
    says(&text, &["its ACL entry user:5:r-- under mask::r-x decides."]);
    let text = denied(0o750, &[(Who::User(6), 4)], 5);
    says(&text, &["no entry of its ACL grants it, other::--- is the last one."]);
}

#[test]
fn a_link_that_is_not_followed() {
    let link =
        Component { kind: Kind::Link, decision: None, granted: false, ..dir("/t", 0, &[], 5) };
    let text = sentences(5, vec![link], WalkProbe::NotAsked);
    says(
        &text,
        &["the link /t lies in a sticky directory", "belongs to ann", "fs.protected_symlinks"],
    );
}
