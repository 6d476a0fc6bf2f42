//! Bytes and rules of ACLs; tests/acl.rs holds them against getfacl and setfacl.

use proptest::prelude::*;

use super::*;

fn entry(who: Who, perms: u8) -> AclEntry {
    AclEntry { who, perms }
}

/// `setfacl -m u:4000:rx,g:50:r` on a directory of mode 0750, as
/// `getfattr -e hex -n system.posix_acl_access` shows it.
const SEEN: &str = "0200000001000700ffffffff02000500a00f000004000500ffffffff\
                    080004003200000010000500ffffffff20000000ffffffff";

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

#[test]
fn a_value_that_setfacl_made() {
    let acl = Acl::decode(&bytes(SEEN)).unwrap();
    let text: Vec<String> = acl.entries.iter().map(ToString::to_string).collect();
    assert_eq!(
        text,
        ["user::rwx", "user:4000:r-x", "group::r-x", "group:50:r--", "mask::r-x", "other::---"]
    );
    let named = [entry(Who::Group(50), 4), entry(Who::User(4000), 5)];
    assert_eq!(Acl::with_named(0o750, &named), acl);
    assert_eq!(acl.encode(), bytes(SEEN));
    assert_eq!((acl.named(), acl.mode(), acl.check()), (2, (0o750, false), Ok(())));
}

#[test]
fn a_mode_and_its_three_entries() {
    for mode in 0..=0o777 {
        let acl = Acl::of_mode(mode);
        assert_eq!((acl.mode(), acl.check()), ((mode, true), Ok(())));
        assert_eq!(acl, Acl::with_named(mode, &[]));
    }
    let masked = Acl { entries: vec![entry(Who::Mask, 1)] };
    assert_eq!(masked.mode(), (0o010, false));
}

#[test]
fn what_is_no_acl() {
    let seen = bytes(SEEN);
    assert_eq!(Acl::decode(&[]), Err(AclError::Length(0)));
    assert_eq!(Acl::decode(&seen[..11]), Err(AclError::Length(11)));
    assert_eq!(Acl::decode(&[1, 0, 0, 0]), Err(AclError::Version(1)));
    assert_eq!(Acl::decode(&[2, 0, 0, 0]), Ok(Acl::default()));
    let mut wrong = seen.clone();
    wrong[4] = 3;
    assert_eq!(Acl::decode(&wrong), Err(AclError::Tag { index: 0, tag: 3 }));
    let mut wrong = seen;
    wrong[15] = 1;
    assert_eq!(Acl::decode(&wrong), Err(AclError::Perms { index: 1, perms: 0x105 }));
}

#[test]
fn what_the_kernel_would_refuse() {
    let of = |entries: &[AclEntry]| Acl { entries: entries.to_vec() }.check();
    let [user, group, other] = [Who::Owner, Who::OwningGroup, Who::Other].map(|who| entry(who, 7));
    let (named, mask) = (entry(Who::User(1), 4), entry(Who::Mask, 7));
    assert_eq!(of(&[]), Err(AclError::Missing("the owner")));
    assert_eq!(of(&[user, other]), Err(AclError::Missing("the group")));
    assert_eq!(of(&[user, group]), Err(AclError::Missing("others")));
    assert_eq!(of(&[user, named, group, other]), Err(AclError::NoMask));
    assert_eq!(of(&[user, named, named, group, mask, other]), Err(AclError::Order(2)));
    assert_eq!(of(&[group, user, other]), Err(AclError::Order(1)));
    assert_eq!(
        of(&[user, group, entry(Who::Other, 8)]),
        Err(AclError::Perms { index: 2, perms: 8 })
    );
    let many: Vec<AclEntry> = (0..8200).map(|uid| entry(Who::User(uid), 0)).collect();
    assert_eq!(Acl::with_named(0, &many).check(), Err(AclError::TooMany(8204)));
}

fn any_acl() -> impl Strategy<Value = Acl> {
    let who = prop_oneof![
        Just(Who::Owner),
        any::<u32>().prop_map(Who::User),
        Just(Who::OwningGroup),
        any::<u32>().prop_map(Who::Group),
        Just(Who::Mask),
        Just(Who::Other),
    ];
    let entries = proptest::collection::vec((who, 0_u8..8), 0..40);
    entries.prop_map(|list| Acl {
        entries: list.into_iter().map(|(who, perms)| entry(who, perms)).collect(),
    })
}

proptest! {
    #[test]
    fn decode_undoes_encode(acl in any_acl()) {
        prop_assert_eq!(Acl::decode(&acl.encode()), Ok(acl));
    }

    #[test]
    fn decode_takes_or_refuses_whatever_comes(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
        if let Ok(acl) = Acl::decode(&bytes) {
            prop_assert_eq!(acl.encode().len(), bytes.len());
        }
    }

    #[test]
    fn named_entries_make_a_valid_acl(
        mode in 0_u32..0o1000,
        named in proptest::collection::btree_map(any::<u32>(), 0_u8..8, 0..20),
    ) {
        let named: Vec<_> = named.into_iter().map(|(id, perms)| entry(Who::User(id), perms)).collect();
        let acl = Acl::with_named(mode, &named);
        prop_assert_eq!(acl.check(), Ok(()));
        prop_assert_eq!(acl.named(), named.len());
    }
}
