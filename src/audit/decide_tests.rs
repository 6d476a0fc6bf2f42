//! The steps by hand; tests/audit.rs holds them against the kernel.

use super::*;

const DIR: u32 = 0o040_000;
const FILE: u32 = 0o100_000;
const NEW: Rules = Rules { shortcut: true, acl: true, acl_not_cached: false };

fn user(uid: u32, gid: u32, groups: &[u32]) -> Credentials {
    let groups = groups.to_vec();
    Credentials { uid, gid, groups, dac_override: false, dac_read_search: false }
}

fn root() -> Credentials {
    Credentials { dac_override: true, dac_read_search: true, ..user(0, 0, &[]) }
}

/// Owned by 10, group 20.
fn inode(mode: u32) -> Inode {
    Inode { mode, uid: 10, gid: 20, acl: None }
}

fn with_acl(mode: u32, named: &[(Who, u8)]) -> Inode {
    let named: Vec<_> = named.iter().map(|&(who, perms)| AclEntry { who, perms }).collect();
    let acl = Acl::with_named(mode, &named);
    Inode { mode: mode & !0o777 | acl.mode().0, acl: Some(acl), ..inode(mode) }
}

fn search(who: &Credentials, inode: &Inode, rules: Rules) -> (Step, bool) {
    let decision = decide(who, inode, rules, SEARCH);
    (decision.step, decision.granted)
}

#[test]
fn everybody_may_and_no_acl() {
    for who in [user(10, 1, &[]), user(1, 20, &[]), user(1, 1, &[]), root()] {
        assert_eq!(search(&who, &inode(DIR | 0o755), NEW), (Step::Shortcut, true));
        assert_eq!(search(&who, &inode(DIR | 0o711), NEW), (Step::Shortcut, true));
    }
    let (other, acl) = (user(1, 1, &[]), with_acl(DIR | 0o755, &[(Who::User(9), 7)]));
    assert_eq!(search(&other, &acl, NEW), (Step::Acl, true));
    // ACLs out of force: the entries are there and do not count.
    assert_eq!(search(&other, &acl, Rules { acl: false, ..NEW }), (Step::Shortcut, true));
    // Kernels before 6.13, and overlayfs.
    let old = Rules { shortcut: false, ..NEW };
    assert_eq!(search(&other, &inode(DIR | 0o755), old), (Step::Other, true));
    assert_eq!(search(&user(10, 1, &[]), &inode(DIR | 0o755), old), (Step::Owner, true));
    let overlay = Rules { acl_not_cached: true, ..NEW };
    assert_eq!(search(&other, &inode(DIR | 0o755), overlay), (Step::Other, true));
    let off = Rules { acl: false, ..overlay };
    assert_eq!(search(&other, &inode(DIR | 0o755), off), (Step::Shortcut, true));
}

#[test]
fn the_owner_has_the_owners_bits_alone() {
    let owner = user(10, 20, &[]);
    assert_eq!(search(&owner, &inode(DIR | 0o700), NEW), (Step::Owner, true));
    assert_eq!(search(&owner, &inode(DIR | 0o077), NEW), (Step::Owner, false));
    let acl = with_acl(DIR | 0o055, &[(Who::User(10), 7)]);
    assert_eq!(search(&owner, &acl, NEW), (Step::Owner, false));
}

#[test]
fn group_and_others() {
    let (member, other) = (user(1, 1, &[20]), user(1, 1, &[]));
    assert_eq!(search(&member, &inode(DIR | 0o750), NEW), (Step::Group, true));
    assert_eq!(search(&member, &inode(DIR | 0o705), NEW), (Step::Group, false));
    assert_eq!(search(&other, &inode(DIR | 0o705), NEW), (Step::Other, true));
    assert_eq!(search(&other, &inode(DIR | 0o750), NEW), (Step::Other, false));
    // Group and others alike in the asked bit: the group is not even looked up.
    let decision = decide(&member, &inode(DIR | 0o655), NEW, SEARCH);
    assert_eq!((decision.step, decision.group_test), (Step::Other, false));
    let decision = decide(&other, &inode(DIR | 0o705), NEW, SEARCH);
    assert!(decision.group_test);
}

#[test]
fn entries_in_their_order() {
    let acl = with_acl(
        DIR | 0o710,
        &[(Who::User(1), 4), (Who::User(2), 1), (Who::Group(30), 1), (Who::Group(31), 4)],
    );
    let scan = |who: &Credentials| {
        let decision = decide(who, &acl, NEW, SEARCH);
        let scan = decision.scan.unwrap();
        (decision.granted, scan.entry.to_string(), scan.mask, scan.scanned)
    };
    assert_eq!(scan(&user(1, 30, &[])), (false, "user:1:r--".into(), Some(5), 2));
    assert_eq!(scan(&user(2, 1, &[])), (true, "user:2:--x".into(), Some(5), 3));
    assert_eq!(scan(&user(3, 20, &[])), (true, "group::--x".into(), Some(5), 4));
    assert_eq!(scan(&user(3, 3, &[31, 30])), (true, "group:30:--x".into(), Some(5), 5));
    assert_eq!(scan(&user(3, 31, &[])), (false, "other::---".into(), None, 8));
    assert_eq!(scan(&user(3, 3, &[])), (false, "other::---".into(), None, 8));
}

#[test]
fn the_mask_takes_away() {
    let mut inode = with_acl(DIR | 0o755, &[(Who::User(1), 7)]);
    let acl = inode.acl.as_mut().unwrap();
    acl.entries.iter_mut().find(|entry| entry.who == Who::Mask).unwrap().perms = 4;
    inode.mode = DIR | 0o745;
    let decision = decide(&user(1, 1, &[]), &inode, NEW, SEARCH);
    assert_eq!((decision.step, decision.granted), (Step::Acl, false));
    assert_eq!(decision.scan.unwrap().mask, Some(4));
    // In a group that has an entry, no entry of which grants: others' bits do not count.
    let closed = with_acl(DIR | 0o745, &[(Who::Group(5), 4)]);
    assert_eq!(search(&user(9, 5, &[]), &closed, NEW), (Step::Acl, false));
    assert_eq!(search(&user(9, 6, &[]), &closed, NEW), (Step::Acl, true));
    // An empty mask: the ACL is passed over, and the group bits are 0.
    inode.mode = DIR | 0o705;
    inode.acl.as_mut().unwrap().entries.iter_mut().find(|e| e.who == Who::Mask).unwrap().perms = 0;
    assert_eq!(search(&user(1, 1, &[]), &inode, NEW), (Step::Other, true));
    assert_eq!(search(&user(3, 20, &[]), &inode, NEW), (Step::Group, false));
}

#[test]
fn capabilities_come_last() {
    let closed = inode(DIR | 0o700);
    let decision = decide(&root(), &closed, NEW, SEARCH);
    assert_eq!(
        (decision.step, decision.granted, decision.before),
        (Step::Capability, true, Step::Other)
    );
    assert_eq!(decision.capability, Some("CAP_DAC_READ_SEARCH"));
    let decision = decide(&root(), &closed, NEW, SEARCH | WRITE);
    assert_eq!(decision.capability, Some("CAP_DAC_OVERRIDE"));
    // Root of its own closed directory.
    let own = Inode { uid: 0, ..inode(DIR) };
    assert_eq!(decide(&root(), &own, NEW, SEARCH).before, Step::Owner);
    // A file that nobody may execute.
    assert_eq!(search(&root(), &inode(FILE | 0o644), NEW), (Step::Capability, false));
    assert_eq!(search(&root(), &inode(FILE | 0o100), NEW), (Step::Capability, true));
    assert!(decide(&root(), &inode(FILE), NEW, READ | WRITE).granted);
    // The smaller capability does not write.
    let reader = Credentials { dac_read_search: true, ..user(1, 1, &[]) };
    assert_eq!(search(&reader, &closed, NEW), (Step::Capability, true));
    let decision = decide(&reader, &closed, NEW, WRITE);
    assert_eq!(
        (decision.step, decision.granted, decision.capability),
        (Step::Capability, false, None)
    );
}
