//! The audit in sentences: what decides where, and what that means.

use std::fmt::Write as _;

use super::decide::Step;
use super::model::{Audit, Component, Kind, WalkProbe};
use crate::host::acl::{Who, perms_text};
use crate::host::walk::Walk;

/// More places than this are counted, not named.
const NAMED: usize = 3;

impl Audit {
    /// A sentence about access, one about its price, one about the walk.
    #[must_use]
    pub fn sentences(&self) -> Vec<String> {
        let mut sentences = vec![self.access()];
        if self.denied_at().is_none() && self.stopped.is_none() {
            sentences.extend(self.meaning());
        }
        sentences.push(self.walked());
        sentences
    }

    fn access(&self) -> String {
        let (user, path) = (&self.user, self.path.display());
        if let Some(denied) = self.denied_at() {
            return format!("{user} does not reach {path}: {}", why_denied(denied));
        }
        let steps = self.steps();
        match &self.stopped {
            None => format!("{user} reaches {path}. Decided {steps}."),
            Some(why) => {
                format!("{user} gets as far as could be seen, decided {steps}; then: {why}.")
            }
        }
    }

    /// `by the shortcut in 4 of 6 components, by the group's bits in /a/b`.
    fn steps(&self) -> String {
        let decided: Vec<(&Component, Step)> =
            self.components.iter().filter_map(|c| Some((c, c.decision.as_ref()?.step))).collect();
        let mut parts = Vec::new();
        for step in Step::ALL {
            let here: Vec<&Component> =
                decided.iter().filter(|(_, s)| *s == step).map(|(c, _)| *c).collect();
            let word = article(step);
            match here.len() {
                0 => {}
                n if n == decided.len() && n > 1 => {
                    parts.push(format!("by {word} in all {n} components"));
                }
                n if n > NAMED => {
                    parts.push(format!("by {word} in {n} of {} components", decided.len()));
                }
                _ => {
                    let names: Vec<_> = here.iter().map(|c| c.path.display().to_string()).collect();
                    parts.push(format!("by {word} in {}", names.join(", ")));
                }
            }
        }
        parts.join(", ")
    }

    fn directories(&self) -> impl Iterator<Item = (&Component, Step)> {
        let dirs = self.components.iter().filter(|c| c.kind == Kind::Directory);
        dirs.filter_map(|c| Some((c, c.decision.as_ref()?.step)))
    }

    fn meaning(&self) -> Vec<String> {
        let has = |step| self.directories().any(|(_, s)| s == step);
        let mut said = Vec::new();
        if self.has_shortcut == Some(false) {
            said.push(
                "This kernel has no shortcut (it came with 6.13): owner, ACL and groups are looked \
                 at in every directory."
                    .to_owned(),
            );
        } else if self.directories().all(|(_, step)| step == Step::Shortcut) {
            said.push(
                "Each check is one look at the mode, whoever asks: everybody may search and there \
                 is no ACL, so kernels since 6.13 look at neither owner, group nor ACL, and mounting \
                 with noacl would change nothing."
                    .to_owned(),
            );
        }
        let scanned: usize = self
            .directories()
            .filter_map(|(c, _)| Some(c.decision.as_ref()?.scan.as_ref()?.scanned))
            .sum();
        if scanned > 0 {
            said.push(format!(
                "A walk goes through {scanned} ACL entries; without those ACLs, or with them out of \
                 force, it would not."
            ));
        }
        if has(Step::Capability) {
            said.push(
                "Where a capability decides, the ordinary check is made first and fails: the dearest \
                 way."
                    .to_owned(),
            );
        }
        said
    }

    fn walked(&self) -> String {
        match &self.walk {
            WalkProbe::Asked(Walk::Rcu) => "The walk stays in RCU mode: no locks on the way.".into(),
            WalkProbe::Asked(Walk::Left) => {
                "The walk leaves RCU mode: from some directory on, each component costs a lock and \
                 a reference."
                    .into()
            }
            WalkProbe::Asked(Walk::Unknown) => {
                "This kernel does not say how it walks (openat2 with RESOLVE_CACHED came with 5.12)."
                    .into()
            }
            WalkProbe::Refused(errno) => format!("A stat of the path as this user fails: {errno}."),
            WalkProbe::NotAsked => "How the kernel walks the path was not probed.".into(),
        }
    }
}

fn article(step: Step) -> &'static str {
    match step {
        Step::Shortcut => "the shortcut",
        Step::Owner => "the owner's bits",
        Step::Acl => "the ACL",
        Step::Group => "the group's bits",
        Step::Other => "others' bits",
        Step::Capability => "a capability",
    }
}

fn why_denied(at: &Component) -> String {
    let path = at.path.display();
    let Some(decision) = &at.decision else {
        return format!(
            "the link {path} lies in a sticky directory that everybody may write to and belongs to \
             {}, so it is not followed (sysctl fs.protected_symlinks).",
            at.owner
        );
    };
    let asked = match (at.kind, at.asked) {
        (Kind::Directory, 1) => "search".to_owned(),
        (_, asked) => perms_text(asked),
    };
    let mut text = format!("{path} refuses {asked}; ");
    let bits = at.mode & 0o7777;
    let _ = match (decision.step, &decision.scan) {
        (Step::Acl, Some(scan)) if scan.entry.who == Who::Other => {
            write!(text, "no entry of its ACL grants it, {} is the last one.", scan.entry)
        }
        (Step::Acl, Some(scan)) => {
            let mask = scan.mask.map(|mask| format!(" under mask::{}", perms_text(mask)));
            write!(text, "its ACL entry {}{} decides.", scan.entry, mask.unwrap_or_default())
        }
        (Step::Capability, _) => write!(
            text,
            "{} say no (mode {bits:04o}), and no capability reaches that far.",
            article(decision.before)
        ),
        (step, _) => {
            write!(text, "{} decide (mode {bits:04o}, {}:{}).", article(step), at.owner, at.group)
        }
    };
    text
}

#[cfg(test)]
#[path = "summary_tests.rs"]
mod tests;
