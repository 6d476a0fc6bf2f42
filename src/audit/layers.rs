//! The layers of an overlay, as its mount options name them.

use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};
use serde::Serialize;

use crate::host::acl_force::{Answer, Force};
use crate::host::mounts::{MountFacts, mount_id};

/// One layer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Layer {
    /// `upper`, `lower` or `data`.
    pub role: &'static str,
    /// Its directory as it was named when the overlay was mounted.
    pub path: PathBuf,
    /// The file system there; `None` where the directory cannot be found from here.
    pub fstype: Option<String>,
    /// Whether its mount maps ids: then overlayfs cannot use the layer's ACL cache in RCU mode.
    pub idmapped: Option<bool>,
    /// Whether ACLs are in force there.
    pub force: Option<Force>,
}

/// The layers in an overlay's options, looked up in the mount table; none for other file systems.
#[must_use]
pub fn layers(mount: &MountFacts, table: &[MountFacts]) -> Vec<Layer> {
    if mount.fstype != "overlay" {
        return Vec::new();
    }
    let named = parse(&mount.super_options);
    named.into_iter().map(|(role, path)| look_up(role, path, table)).collect()
}

fn look_up(role: &'static str, path: PathBuf, table: &[MountFacts]) -> Layer {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    // A relative one is relative to whoever mounted it.
    let open = |path: &Path| {
        path.is_absolute().then(|| rustix::fs::open(path, flags, Mode::empty()).ok()).flatten()
    };
    let found = open(&path).and_then(|fd| {
        let id = mount_id(fd.as_fd())?;
        let mount = table.iter().find(|mount| mount.mount_id == id)?;
        let force = Answer::of(fd.as_fd()).force(&mount.fstype);
        Some((mount.fstype.clone(), mount.is_idmapped(), force))
    });
    let (fstype, idmapped, force) = match found {
        Some((fstype, idmapped, force)) => (Some(fstype), Some(idmapped), Some(force)),
        None => (None, None, None),
    };
    Layer { role, path, fstype, idmapped, force }
}

/// `upperdir=/u,lowerdir=/a:/b::/data`, or one `lowerdir+=` or `datadir+=` for each.
fn parse(options: &str) -> Vec<(&'static str, PathBuf)> {
    let mut found = Vec::new();
    for option in split(options, ',') {
        let Some((key, value)) = option.split_once('=') else { continue };
        match key {
            "upperdir" => found.push(("upper", plain(value))),
            "lowerdir+" => found.push(("lower", plain(value))),
            "datadir+" => found.push(("data", plain(value))),
            "lowerdir" => {
                // After an empty part come layers that only hold data.
                let mut role = "lower";
                for part in split(value, ':') {
                    if part.is_empty() {
                        role = "data";
                    } else {
                        found.push((role, plain(part)));
                    }
                }
            }
            _ => {}
        }
    }
    found
}

/// Splits at a character that has no backslash before it.
fn split(text: &str, at: char) -> Vec<&str> {
    let (mut parts, mut start, mut escaped) = (Vec::new(), 0, false);
    for (index, c) in text.char_indices() {
        if c == at && !escaped {
            parts.push(&text[start..index]);
            start = index + c.len_utf8();
        }
        escaped = c == '\\' && !escaped;
    }
    parts.push(&text[start..]);
    parts
}

/// Without the backslashes.
fn plain(text: &str) -> PathBuf {
    let (mut out, mut escaped) = (String::with_capacity(text.len()), false);
    for c in text.chars() {
        escaped = c == '\\' && !escaped;
        if !escaped {
            out.push(c);
        }
    }
    out.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(options: &str) -> Vec<(&'static str, String)> {
        let text = |(role, path): (_, PathBuf)| (role, path.to_str().unwrap().to_owned());
        parse(options).into_iter().map(text).collect()
    }

    #[test]
    fn options_as_the_kernel_shows_them() {
        let of = |pairs: &[(&'static str, &str)]| -> Vec<_> {
            pairs.iter().map(|(role, path)| (*role, (*path).to_owned())).collect()
        };
        assert_eq!(
            parsed("rw,lowerdir=/a:/b,upperdir=/u,workdir=/w,index=off"),
            of(&[("lower", "/a"), ("lower", "/b"), ("upper", "/u")])
        );
        assert_eq!(parsed("ro,lowerdir=/a::/d"), of(&[("lower", "/a"), ("data", "/d")]));
        assert_eq!(
            parsed("rw,lowerdir+=/a\\,b,datadir+=/d:e"),
            of(&[("lower", "/a,b"), ("data", "/d:e")])
        );
        assert_eq!(parsed("rw,lowerdir=/a\\:b:/c"), of(&[("lower", "/a:b"), ("lower", "/c")]));
        assert_eq!(parsed("rw"), of(&[]));
    }
}
