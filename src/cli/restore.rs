//! `jbodbench restore`: mount options that a killed run left changed.

use std::io::Write;

use super::say;
use crate::front;
use crate::host::noacl::journal::Journal;

/// Sets back what no running process will.
pub(super) fn restore() -> u8 {
    let mut code = 0;
    let mut done = 0;
    if let Err(error) = Journal::listable() {
        say(&error.to_string());
        return 1;
    }
    for path in Journal::unreadable() {
        say(&format!(
            "{}: not a journal that this version can read, nothing is done about it; look at it, set the \
             mount back by hand (mount -o remount,acl or noacl), and remove the file",
            path.display()
        ));
        code = 1;
    }
    for journal in Journal::all() {
        if let Some(pid) = journal.owner() {
            let point = journal.entry.mount_point.display();
            say(&format!("{point}: left alone, process {pid} of its run sets it back"));
            continue;
        }
        match front::undo(&journal) {
            Ok(text) => {
                done += 1;
                // Who reads it may be gone; what was done stays done.
                let _ = writeln!(std::io::stdout(), "{text}");
            }
            Err(text) => {
                say(&text);
                code = 1;
            }
        }
    }
    if done == 0 && code == 0 {
        let _ = writeln!(std::io::stdout(), "nothing to restore");
    }
    code
}

/// A process that undoes one remount, named by its argument.
pub(super) fn helper(journal: &std::ffi::OsStr) {
    for line in front::restore(journal) {
        let _ = writeln!(std::io::stdout(), "{line}");
    }
}
