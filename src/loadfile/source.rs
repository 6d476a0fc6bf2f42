//! Bytes of a loadfile: plain or gzip, told apart by their first bytes, and never too many.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;

use super::error::LoadError;

/// Largest loadfile, inflated. A small gzip file can inflate to anything: this keeps it from
/// taking all memory.
pub(super) const MAX_BYTES: u64 = 1 << 30;

const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// The text of a loadfile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Name for messages.
    pub name: String,
    /// The text, inflated. It need not be UTF-8: names of files are not.
    pub bytes: Vec<u8>,
    /// Whether it was compressed.
    pub gzip: bool,
}

impl Source {
    /// Reads a file.
    ///
    /// # Errors
    /// When it cannot be read, is damaged gzip, or is larger than [`MAX_BYTES`].
    pub fn read(path: &Path) -> Result<Self, LoadError> {
        let name = path.display().to_string();
        let raw = read_file(path, MAX_BYTES)
            .map_err(|source| LoadError::Read { file: name.clone(), source })?;
        Self::from_bytes(&name, raw, MAX_BYTES)
    }

    /// Takes bytes, plain or gzip; `limit` is for the inflated size.
    ///
    /// # Errors
    /// When they are damaged gzip or more than `limit`.
    pub fn from_bytes(name: &str, raw: Vec<u8>, limit: u64) -> Result<Self, LoadError> {
        let gzip = raw.starts_with(&GZIP_MAGIC);
        let bytes = if gzip {
            let mut out = Vec::new();
            let mut inflate = MultiGzDecoder::new(raw.as_slice()).take(limit + 1);
            inflate
                .read_to_end(&mut out)
                .map_err(|source| LoadError::Read { file: name.to_owned(), source })?;
            out
        } else {
            raw
        };
        if bytes.len() as u64 > limit {
            return Err(LoadError::TooLarge { file: name.to_owned(), limit });
        }
        Ok(Self { name: name.to_owned(), bytes, gzip })
    }
}

/// Reads at most one byte more than `limit`: `/dev/zero` ends, too.
fn read_file(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let file = File::open(path)?;
    let size = file.metadata()?.len().min(limit);
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0) + 1);
    file.take(limit + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut out = GzEncoder::new(Vec::new(), Compression::fast());
        out.write_all(bytes).unwrap();
        out.finish().unwrap()
    }

    #[test]
    fn gzip_is_inflated_also_in_several_members() {
        let mut raw = gzip(b"Flush 1 *\n");
        raw.extend(gzip(b"Close 1 *\n"));
        let source = Source::from_bytes("x", raw, MAX_BYTES).unwrap();
        assert!(source.gzip);
        assert_eq!(source.bytes, b"Flush 1 *\nClose 1 *\n");
    }

    #[test]
    fn a_bomb_is_an_error() {
        let raw = gzip(&vec![b' '; 1 << 20]);
        assert!(raw.len() < 10_000);
        let error = Source::from_bytes("x", raw, 1000).unwrap_err();
        assert!(matches!(error, LoadError::TooLarge { limit: 1000, .. }), "{error}");
    }

    #[test]
    fn damaged_gzip_is_an_error() {
        let mut raw = gzip(&(0..=255).cycle().take(5000).collect::<Vec<u8>>());
        raw.truncate(raw.len() / 2);
        assert!(matches!(Source::from_bytes("x", raw, 1 << 20), Err(LoadError::Read { .. })));
    }

    #[test]
    fn a_missing_file_is_named() {
        let error = Source::read(Path::new("/nonexistent/x.load")).unwrap_err().to_string();
        assert!(error.contains("/nonexistent/x.load"), "{error}");
    }
}
