//! What the runs ran under: once what was the same for all, then what differed.

use std::collections::BTreeSet;

use crate::output::{Column, Role, shorten};
use crate::report::model::{Group, Material};
use crate::report::page::{Section, Table};

/// Facts and keys that a reader of the page asks for.
const ALSO: [Column; 6] = [
    Column::Host,
    Column::Kernel,
    Column::ToolVersion,
    Column::RunLabel,
    Column::EngineFallback,
    Column::Scheduler,
];

/// Said in columns of their own.
const NOT: [Column; 1] = [Column::Options];

/// Values of a column that are shown.
const VALUES: usize = 6;

/// Characters of a value that are shown.
const WIDTH: usize = 200;

pub(super) fn section(material: &Material) -> Section {
    let mut section = Section::new("Conditions");
    let shown = |column: &&Column| {
        !NOT.contains(column) && (column.role() == Role::Condition || ALSO.contains(column))
    };
    let several = material.groups.len() > 1;
    let caption = if several { "The same in all runs" } else { "In all runs" };
    let mut same = Table::new(caption, 2, &["condition", "value", "meaning"]).with_words_last();
    let mut differing = Vec::new();
    for column in Column::ALL.iter().filter(shown) {
        let texts: Vec<String> = material.groups.iter().map(|group| text(group, *column)).collect();
        let distinct: BTreeSet<&String> = texts.iter().collect();
        if distinct.len() > 1 {
            differing.push((*column, texts));
        } else if !texts[0].is_empty() {
            same.push(vec![column.name().into(), texts[0].clone(), column.meaning().into()]);
        }
    }
    if !differing.is_empty() {
        section.table(differences(material, &differing));
    }
    section.table(same);
    section.text("What is not listed is not known, or was not asked for.");
    section
}

fn differences(material: &Material, differing: &[(Column, Vec<String>)]) -> Table {
    let names: Vec<&str> = differing.iter().map(|(column, _)| column.name()).collect();
    let head: Vec<&str> = std::iter::once("runs of").chain(names).collect();
    let mut table = Table::new("What differed", head.len(), &head);
    for (index, group) in material.groups.iter().enumerate() {
        let values = differing.iter().map(|(_, texts)| match texts[index].as_str() {
            "" => "-".to_owned(),
            text => text.to_owned(),
        });
        table.push(std::iter::once(group.label.clone()).chain(values).collect());
    }
    table
}

/// The values of a column in a group: a shelf has a hundred of some.
fn text(group: &Group, column: Column) -> String {
    let Some(values) = group.values.get(&column) else { return String::new() };
    if values.len() > VALUES {
        return format!("{} different values", values.len());
    }
    let values: Vec<&str> = values.iter().map(String::as_str).collect();
    shorten(&values.join(" and "), WIDTH)
}
