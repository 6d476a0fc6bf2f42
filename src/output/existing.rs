//! Opening a result file that is there already.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use super::columns::Column;
use super::sink::SinkError;

/// A header is some two thousand bytes; what is longer without a line end is no file of ours.
const HEADER_MAX: u64 = 64 * 1024;

/// Opens it and says whether a header is still to be written.
pub(super) fn open(path: &Path, append: bool) -> Result<(File, bool), SinkError> {
    let fail = |source| SinkError::new(path, source);
    if !std::fs::metadata(path).map_err(fail)?.is_file() {
        // /dev/full, a pipe: nothing there that could be lost.
        return Ok((OpenOptions::new().write(true).open(path).map_err(fail)?, true));
    }
    if !append {
        return Err(SinkError::Exists { path: path.into() });
    }
    let mut file = OpenOptions::new().read(true).append(true).open(path).map_err(fail)?;
    if file.metadata().map_err(fail)?.len() == 0 {
        return Ok((file, true));
    }
    if let Some(good_bytes) = torn(&mut file).map_err(fail)? {
        return Err(SinkError::TornLine { path: path.into(), good_bytes });
    }
    file.rewind().map_err(fail)?;
    let mut header = Vec::new();
    BufReader::new((&mut file).take(HEADER_MAX)).read_until(b'\n', &mut header).map_err(fail)?;
    match difference(&header) {
        None => Ok((file, false)),
        Some((number, found, expected)) => {
            Err(SinkError::HeaderDiffers { path: path.into(), number, found, expected })
        }
    }
}

/// The first column, from 1, in which a header is not ours: what it says, what it should say.
fn difference(header: &[u8]) -> Option<(usize, String, String)> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(header);
    let mut record = csv::StringRecord::new();
    let found: Vec<String> = match reader.read_record(&mut record) {
        Ok(_) => record.iter().map(|name| format!("\"{}\"", name.escape_debug())).collect(),
        Err(_) => vec!["not UTF-8".into()],
    };
    let ours: Vec<String> = Column::names().map(|name| format!("\"{name}\"")).collect();
    let missing = || "missing".to_owned();
    (0..found.len().max(ours.len())).find(|&i| found.get(i) != ours.get(i)).map(|i| {
        let expected = ours.get(i).cloned().unwrap_or_else(|| "nothing there".into());
        (i + 1, found.get(i).cloned().unwrap_or_else(missing), expected)
    })
}

/// Where the last line starts, if it has no end.
fn torn(file: &mut File) -> io::Result<Option<u64>> {
    let mut end = file.seek(SeekFrom::End(0))?;
    let mut block = [0; 4096];
    let mut first = true;
    while end > 0 {
        let start = end.saturating_sub(block.len() as u64);
        let part = &mut block[..(end - start) as usize];
        file.seek(SeekFrom::Start(start))?;
        file.read_exact(part)?;
        if first && part.last() == Some(&b'\n') {
            return Ok(None);
        }
        if let Some(at) = part.iter().rposition(|byte| *byte == b'\n') {
            return Ok(Some(start + at as u64 + 1));
        }
        (end, first) = (start, false);
    }
    Ok(Some(0))
}
