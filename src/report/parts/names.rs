//! Short names for disks: what all labels begin with is said once.

/// Labels of disks without the directory that they have in common.
pub(super) struct Names {
    prefix: String,
}

impl Names {
    pub(super) fn new<'l>(labels: impl IntoIterator<Item = &'l String>) -> Self {
        let mut labels = labels.into_iter();
        let Some(first) = labels.next() else { return Self { prefix: String::new() } };
        let (mut length, mut several) = (first.len(), false);
        for label in labels {
            several = true;
            let same = first.bytes().zip(label.bytes()).take_while(|(a, b)| a == b).count();
            length = length.min(same);
        }
        // Up to a slash, which is never a part of another character.
        let end = first.as_bytes()[..length].iter().rposition(|byte| *byte == b'/');
        match end.filter(|end| several && *end > 0) {
            Some(end) => Self { prefix: first[..=end].to_owned() },
            None => Self { prefix: String::new() },
        }
    }

    pub(super) fn short<'l>(&self, label: &'l str) -> &'l str {
        label.strip_prefix(self.prefix.as_str()).filter(|rest| !rest.is_empty()).unwrap_or(label)
    }

    /// A sentence about what was left out.
    pub(super) fn note(&self) -> String {
        match self.prefix.as_str() {
            "" => String::new(),
            prefix => format!(" Disks are below {prefix}."),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_common_directory_goes() {
        let names = |labels: &[&str]| {
            let labels: Vec<String> = labels.iter().map(|l| (*l).to_owned()).collect();
            let names = Names::new(&labels);
            labels.iter().map(|l| names.short(l).to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(names(&["/mnt/d1", "/mnt/d12"]), ["d1", "d12"]);
        assert_eq!(names(&["/mnt/d1", "/srv/d1"]), ["/mnt/d1", "/srv/d1"]);
        assert_eq!(names(&["/mnt/d1"]), ["/mnt/d1"]);
        assert_eq!(names(&["/a/é/x", "/a/è/x"]), ["é/x", "è/x"]);
    }
}
