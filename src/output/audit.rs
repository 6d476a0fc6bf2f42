//! An audit of a path as a table and sentences for people, or as CSV. Pure functions.

use std::path::Path;

use super::row::escape;
use super::text::{Grid, shorten};
use crate::audit::cost::{Cost, SOURCE};
use crate::audit::decide::{Decision, Step};
use crate::audit::model::{Crossed, WalkProbe};
use crate::audit::{Audit, Component, Kind};
use crate::host::acl::{Acl, perms_text};
use crate::host::acl_force::Force;
use crate::host::walk::Walk;

/// Width of a path in the table.
const PATH: usize = 44;
/// Entries of an ACL that are printed.
const ENTRIES: usize = 12;

/// The whole text.
#[must_use]
pub fn audit_text(audit: &Audit, color: bool) -> String {
    let mut out = head(audit);
    out.push_str(&component_table(audit, color));
    acls(audit, &mut out);
    out.push('\n');
    out.push_str(&mount_table(audit, color));
    out.push('\n');
    for sentence in audit.sentences() {
        out.push_str(&wrap(&escape(&sentence)));
    }
    out.push_str(&wrap(&agreement(audit)));
    if audit.components.iter().any(|c| c.cost.is_some_and(|cost| cost.high > 1.0)) {
        out.push_str(&wrap(&format!("cost: {SOURCE}")));
    }
    for note in &audit.notes {
        out.push_str(&wrap(&format!("note: {}", escape(note))));
    }
    out
}

fn head(audit: &Audit) -> String {
    let who = &audit.credentials;
    let groups: Vec<String> = who.groups.iter().map(u32::to_string).collect();
    let groups = if groups.is_empty() { "none".to_owned() } else { groups.join(",") };
    let capabilities = match (who.dac_override, who.dac_read_search) {
        (false, false) => "none",
        (true, false) => "CAP_DAC_OVERRIDE",
        (false, true) => "CAP_DAC_READ_SEARCH",
        (true, true) => "CAP_DAC_OVERRIDE CAP_DAC_READ_SEARCH",
    };
    format!(
        "{} for {} (uid {}, gid {}, other groups {groups}; capabilities {capabilities})\n\n",
        escape(&audit.path.display().to_string()),
        escape(&audit.user),
        who.uid,
        who.gid
    )
}

fn component_table(audit: &Audit, color: bool) -> String {
    let head = ["component", "owner", "group", "mode", "asked", "decides", "granted", "cost"];
    let mut grid = Grid::new(7, &head);
    for component in &audit.components {
        let mut name = shorten(&component.path.display().to_string(), PATH);
        if let Some(target) = &component.target {
            name = format!("{name} -> {}", shorten(&target.display().to_string(), PATH / 2));
        }
        let granted = if component.granted { "yes" } else { "NO" };
        grid.push(vec![
            name,
            escape(&component.owner).into_owned(),
            escape(&component.group).into_owned(),
            mode(component),
            asked(component).to_owned(),
            component.decision.as_ref().map_or_else(|| "-".to_owned(), decides),
            granted.to_owned(),
            cost_text(component.cost),
        ]);
    }
    grid.render(color, false)
}

/// `0755`, with a plus where there is an ACL, as in ls.
fn mode(component: &Component) -> String {
    let plus = if component.acl.is_some() { "+" } else { "" };
    format!("{:04o}{plus}", component.mode & 0o7777)
}

fn asked(component: &Component) -> String {
    match (component.kind, component.asked) {
        (Kind::Link, _) => "follow".to_owned(),
        (Kind::Directory, 1) => "search".to_owned(),
        (Kind::File, 4) => "read".to_owned(),
        (_, asked) => perms_text(asked),
    }
}

/// The step, and what of it: the entry and the mask, the capability.
fn decides(decision: &Decision) -> String {
    let word = decision.step.word();
    match (decision.step, &decision.scan, decision.capability) {
        (Step::Capability, _, Some(name)) => format!("{} ({name})", decision.step.word()),
        (Step::Capability, _, None) => format!("{word} (after {})", decision.before.word()),
        (_, Some(scan), _) => {
            let mask = scan.mask.map(|mask| format!(" mask::{}", perms_text(mask)));
            format!("{word} {}{}", scan.entry, mask.unwrap_or_default())
        }
        _ => word.to_owned(),
    }
}

fn cost_text(cost: Option<Cost>) -> String {
    match cost {
        None => "-".to_owned(),
        Some(cost) if cost.low >= cost.high => format!("{}", cost.high),
        Some(cost) => format!("{}-{}", cost.low, cost.high),
    }
}

/// The ACLs below the table, each in a line.
fn acls(audit: &Audit, out: &mut String) {
    let mut begun = false;
    for component in &audit.components {
        for (name, acl) in [("ACL", &component.acl), ("default ACL", &component.default_acl)] {
            let Some(acl) = acl else { continue };
            if !begun {
                out.push('\n');
                begun = true;
            }
            let path = shorten(&component.path.display().to_string(), PATH);
            out.push_str(&format!("{name} of {path}: {}\n", entries(acl, ENTRIES)));
        }
    }
}

fn entries(acl: &Acl, most: usize) -> String {
    let shown: Vec<String> = acl.entries.iter().take(most).map(ToString::to_string).collect();
    let more = acl.entries.len().saturating_sub(most);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    shown.join(" ") + &more
}

fn mount_table(audit: &Audit, color: bool) -> String {
    let mut grid = Grid::new(5, &["mount", "type", "ACLs", "idmapped", "options"]);
    let yes = |yes: bool| if yes { "yes" } else { "no" }.to_owned();
    for mount in &audit.mounts {
        grid.push(vec![
            shorten(&path_text(&mount.facts.mount_point), PATH),
            mount.facts.fstype.clone(),
            force_word(Some(mount.force)).to_owned(),
            yes(mount.idmapped),
            shorten(&options(mount), PATH),
        ]);
        for layer in &mount.layers {
            grid.push(vec![
                format!("  {} {}", layer.role, shorten(&path_text(&layer.path), PATH - 8)),
                layer.fstype.clone().unwrap_or_else(|| "?".into()),
                force_word(layer.force).to_owned(),
                layer.idmapped.map_or_else(|| "?".to_owned(), yes),
                String::new(),
            ]);
        }
    }
    grid.render(color, false)
}

fn path_text(path: &Path) -> String {
    path.display().to_string()
}

/// Options of the mount, then those of the file system that are not said already.
fn options(mount: &Crossed) -> String {
    let own: Vec<&str> = mount.facts.mount_options.split(',').collect();
    let more = mount.facts.super_options.split(',').filter(|option| !own.contains(option));
    own.iter().copied().chain(more).collect::<Vec<_>>().join(",")
}

fn force_word(force: Option<Force>) -> &'static str {
    match force.and_then(|force| force.effective) {
        Some(true) => "in force",
        Some(false) => "off",
        None => "unknown",
    }
}

fn agreement(audit: &Audit) -> String {
    let asked = audit.components.iter().filter(|c| c.kernel.is_some()).count();
    let wrong: Vec<_> =
        audit.disagreements().map(|c| escape(&path_text(&c.path)).into_owned()).collect();
    match (asked, wrong.is_empty()) {
        (0, _) => "The kernel was not asked: what is above follows from its rules.".to_owned(),
        (1, true) => "Asked as this user, the kernel says the same.".to_owned(),
        (n, true) => format!("Asked as this user, the kernel says the same of all {n} of them."),
        (_, false) => format!(
            "ASKED AS THIS USER, THE KERNEL SAYS OTHERWISE at {}: something beside mode, ACL and \
             capabilities decides there (a security module, a server, a read-only or noexec mount, \
             an immutable file, an owner that the mount does not map).",
            wrong.join(", ")
        ),
    }
}

/// Lines of at most 100 characters, broken at blanks, the later ones set in.
fn wrap(text: &str) -> String {
    let (mut out, mut width) = (String::new(), 0);
    for word in text.split(' ') {
        let length = word.chars().count();
        if width > 0 && width + 1 + length > 100 {
            out.push_str("\n  ");
            width = 2;
        } else if width > 0 {
            out.push(' ');
            width += 1;
        }
        out.push_str(word);
        width += length;
    }
    out.push('\n');
    out
}

/// The columns of the CSV; docs/permissions.md explains them.
pub const AUDIT_COLUMNS: [&str; 32] = [
    "row",
    "number",
    "path",
    "kind",
    "target",
    "user",
    "uid",
    "owner",
    "owner_uid",
    "group",
    "group_gid",
    "mode",
    "acl_entries",
    "acl",
    "default_acl",
    "asked",
    "step",
    "granted",
    "kernel",
    "entry",
    "mask",
    "scanned",
    "capability",
    "cost_low",
    "cost_high",
    "mount_point",
    "fstype",
    "acl_effective",
    "idmapped",
    "options",
    "walk_rcu",
    "errno",
];

/// A row for each component, mount, layer, and one for the walk; empty cells mean unknown or none.
#[must_use]
pub fn audit_rows(audit: &Audit) -> Vec<Vec<String>> {
    let rows =
        audit.components.iter().enumerate().map(|(number, c)| component_row(audit, number, c));
    let mut rows: Vec<Cells> = rows.collect();
    for (number, mount) in audit.mounts.iter().enumerate() {
        let mut cells = Cells::new("mount", audit);
        cells.set("number", number).set("path", path_text(&mount.facts.mount_point));
        mount_cells(&mut cells, mount);
        rows.push(cells);
        for layer in &mount.layers {
            let mut cells = Cells::new("layer", audit);
            cells.set("number", number).set("path", path_text(&layer.path)).set("kind", layer.role);
            cells.some("fstype", layer.fstype.as_ref()).some("idmapped", layer.idmapped);
            cells.some("acl_effective", layer.force.and_then(|force| force.effective));
            cells.set("mount_point", path_text(&mount.facts.mount_point));
            rows.push(cells);
        }
    }
    let mut walk = Cells::new("walk", audit);
    walk.set("path", path_text(&audit.path));
    match &audit.walk {
        WalkProbe::Asked(Walk::Rcu) => _ = walk.set("walk_rcu", 1),
        WalkProbe::Asked(Walk::Left) => _ = walk.set("walk_rcu", 0),
        WalkProbe::Refused(errno) => _ = walk.set("errno", errno),
        WalkProbe::Asked(Walk::Unknown) | WalkProbe::NotAsked => {}
    }
    rows.push(walk);
    rows.into_iter().map(|cells| cells.0).collect()
}

fn component_row(audit: &Audit, number: usize, component: &Component) -> Cells {
    let mut cells = Cells::new("component", audit);
    let kind = match component.kind {
        Kind::Directory => "directory",
        Kind::Link => "link",
        Kind::File => "file",
    };
    cells.set("number", number).set("path", path_text(&component.path)).set("kind", kind);
    cells.some("target", component.target.as_deref().map(path_text));
    cells.set("owner", &component.owner).set("owner_uid", component.uid);
    cells.set("group", &component.group).set("group_gid", component.gid);
    cells.set("mode", format!("{:04o}", component.mode & 0o7777));
    let list = |acl: &Acl| entries(acl, usize::MAX);
    if component.kind != Kind::Link {
        cells.set("acl_entries", component.acl.as_ref().map_or(0, Acl::named));
    }
    cells.some("acl", component.acl.as_ref().map(list));
    cells.some("default_acl", component.default_acl.as_ref().map(list));
    cells.set("asked", asked(component)).set("granted", component.granted);
    cells.some("kernel", component.kernel);
    if let Some(decision) = &component.decision {
        cells.set("step", decision.step.word()).some("capability", decision.capability);
        if let Some(scan) = &decision.scan {
            cells.set("entry", scan.entry).set("scanned", scan.scanned);
            cells.some("mask", scan.mask.map(perms_text));
        }
    }
    cells.some("cost_low", component.cost.map(|cost| cost.low));
    cells.some("cost_high", component.cost.map(|cost| cost.high));
    if let Some(mount) = audit.mount_of(component) {
        mount_cells(&mut cells, mount);
    }
    cells
}

fn mount_cells(cells: &mut Cells, mount: &Crossed) {
    cells
        .set("mount_point", path_text(&mount.facts.mount_point))
        .set("fstype", &mount.facts.fstype);
    cells.some("acl_effective", mount.force.effective).set("idmapped", mount.idmapped);
    cells.set("options", options(mount));
}

/// A row that is filled by column name.
struct Cells(Vec<String>);

impl Cells {
    fn new(row: &str, audit: &Audit) -> Self {
        let mut cells = Self(vec![String::new(); AUDIT_COLUMNS.len()]);
        cells.set("row", row).set("user", &audit.user).set("uid", audit.credentials.uid);
        cells
    }

    fn set(&mut self, column: &str, value: impl ToString) -> &mut Self {
        let index = AUDIT_COLUMNS.iter().position(|name| *name == column);
        debug_assert!(index.is_some(), "{column}");
        if let Some(index) = index {
            self.0[index] = value.to_string();
        }
        self
    }

    fn some(&mut self, column: &str, value: Option<impl ToString>) -> &mut Self {
        match value {
            Some(value) => self.set(column, value),
            None => self,
        }
    }
}
