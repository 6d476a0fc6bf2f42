//! The kernel asked as the user: may it use each place, and how is the path walked?

use std::os::fd::AsFd;
use std::path::Path;

use rustix::io::Errno;

use super::model::WalkProbe;
use super::path::Place;
use crate::host::credentials::Credentials;
use crate::host::errno;
use crate::host::sys::may_access;
use crate::host::walk::walk_rcu;

/// What the kernel said.
pub(super) struct Trial {
    /// For each place; `None` where it gave no answer.
    pub(super) answers: Vec<Option<bool>>,
    pub(super) walk: WalkProbe,
    /// Why it could not be asked.
    pub(super) why_not: Option<Errno>,
}

/// Asks for the places with what is asked of each (0: nothing), and for the whole path where it has
/// an end.
pub(super) fn ask(
    who: &Credentials,
    own: &Credentials,
    places: &[(&Place, u8)],
    path: Option<&Path>,
) -> Trial {
    let questions = || {
        let answers = places.iter().map(|(place, asked)| answer(place, *asked)).collect();
        let walk = match path.map(walk_rcu) {
            None => WalkProbe::NotAsked,
            Some(Ok(walk)) => WalkProbe::Asked(walk),
            Some(Err(errno)) => WalkProbe::Refused(errno::name(errno)),
        };
        Trial { answers, walk, why_not: None }
    };
    if who.same_rights(own) {
        return questions();
    }
    who.run_as(questions).unwrap_or_else(|errno| Trial {
        answers: vec![None; places.len()],
        walk: WalkProbe::NotAsked,
        why_not: Some(errno),
    })
}

fn answer(place: &Place, asked: u8) -> Option<bool> {
    if asked == 0 {
        return None;
    }
    match may_access(place.fd.as_fd(), asked) {
        Ok(()) => Some(true),
        // EROFS and EPERM are no matter of permission bits, but a no all the same.
        Err(Errno::ACCESS | Errno::PERM | Errno::ROFS) => Some(false),
        Err(_) => None,
    }
}
