//! Rows as bytes: CSV lines and JSON objects.

use serde_json::{Map, Value};

use super::columns::{Column, SCHEMA};
use super::row::Row;

/// The header line of a CSV file.
pub(super) fn csv_header() -> Vec<u8> {
    csv_line(Column::names())
}

/// One line with a cell per column.
pub(super) fn csv_row(row: &Row) -> Vec<u8> {
    csv_line(row.iter().map(|(_, cell)| cell.csv()))
}

fn csv_line<T: AsRef<str>>(cells: impl Iterator<Item = T>) -> Vec<u8> {
    let mut line = csv::Writer::from_writer(Vec::new());
    for cell in cells {
        drop(line.write_field(cell.as_ref())); // memory does not refuse
    }
    drop(line.write_record(None::<&[u8]>));
    line.into_inner().unwrap_or_default()
}

/// The beginning of a JSON document.
pub(super) fn json_head() -> Vec<u8> {
    let version = Value::from(env!("CARGO_PKG_VERSION"));
    format!("{{\"schema\":{SCHEMA},\"tool_version\":{version},\"rows\":[").into_bytes()
}

/// One object of the array, with what separates it from the one before.
pub(super) fn json_row(row: &Row, first: bool) -> Vec<u8> {
    let object: Map<String, Value> = row
        .iter()
        .filter_map(|(column, cell)| Some((column.name().to_owned(), cell.json()?)))
        .collect();
    format!("{}\n{}", if first { "" } else { "," }, Value::Object(object)).into_bytes()
}

/// The end of a JSON document.
pub(super) fn json_tail(host: Option<&Value>) -> Vec<u8> {
    let host = host.map_or(String::new(), |host| format!(",\"host\":{host}"));
    format!("\n]{host}}}\n").into_bytes()
}
