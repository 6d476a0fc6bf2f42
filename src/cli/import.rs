//! `jbodbench import`: a recording to a loadfile, and a report of what became of its calls.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;

use super::import_loads::{self, LoadArgs};
use super::say;
use crate::import::dialects::Dialect;
use crate::import::{self, ImportError, Report, Source, Wish};

const EXAMPLES: &str = "\
Examples:
  strace -f --seccomp-bpf -ttt -T -y -s 0 -o tar.strace \\
      -e trace=%file,%desc,%process,close_range,unshare tar xf src.tar
  jbodbench import strace tar.strace -o tar.load
  jbodbench import strace make.strace --root /home/me/src --hide-names -o make.load.gz
  jbodbench run -l tar.load --passes 1 /mnt/d1 /mnt/d2";

const MORE: &str = "\
All processes become one client, in the order in which their calls came back: waits for one another
are in that order. Record with -s 0, which leaves out what was read and written. More is in
docs/import.md.
Exit codes: 0 a load was written; 1 it could not be written, or the recording not be read to its end;
2 usage, or no load in the recording.";

/// Arguments of `import`.
#[derive(Debug, Args)]
pub(super) struct ImportArgs {
    #[command(subcommand)]
    from: From,
}

#[derive(Debug, Subcommand)]
enum From {
    /// Of strace: -f into one file, or -ff into one for each process
    #[command(after_help = EXAMPLES, after_long_help = format!("{EXAMPLES}\n\n{MORE}"))]
    Strace(StraceArgs),
    /// Of loadfiles of dbench 1 and 2, smbtorture and Samba's recorder
    #[command(after_help = import_loads::EXAMPLES,
        after_long_help = format!("{}\n\n{}", import_loads::EXAMPLES, import_loads::MORE))]
    Nbench(LoadArgs),
    /// Of loadfiles of dbench 5's nfs backend, as calls on a local file system
    #[command(after_help = import_loads::NFS_EXAMPLES,
        after_long_help = format!("{}\n\n{}", import_loads::NFS_EXAMPLES, import_loads::NFS_MORE))]
    Nfs(LoadArgs),
}

#[derive(Debug, Args)]
struct StraceArgs {
    /// The recording, plain or gz; several files are those of -ff, which end with a process's number
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Write the load there, compressed if it ends with .gz [default: stdout]
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// The directory whose files become each client's; calls elsewhere are left out
    /// [default: where the first process was]
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
    /// Replace names by ones that tell only their length
    #[arg(long)]
    hide_names: bool,
}

impl ImportArgs {
    pub(super) fn writes_to_stdout(&self) -> bool {
        match &self.from {
            From::Strace(args) => args.out.is_none(),
            From::Nbench(args) | From::Nfs(args) => args.out.is_none(),
        }
    }
}

/// A message and an exit code.
pub(super) type Failure = (String, u8);

pub(super) fn import(args: &ImportArgs) -> u8 {
    let args = match &args.from {
        From::Strace(args) => args,
        From::Nbench(args) => return import_loads::import(args, Dialect::Nbench),
        From::Nfs(args) => return import_loads::import(args, Dialect::Nfs),
    };
    match convert(args) {
        Ok(report) => {
            let _ = write!(io::stderr(), "{report}");
            complain(&report, &args.files);
            0
        }
        Err((message, code)) => {
            if code != 141 {
                say(&message);
            }
            code
        }
    }
}

fn convert(args: &StraceArgs) -> Result<Report, Failure> {
    let mut source = source(&args.files)?;
    let root = args.root.as_deref().map(|root| match root.canonicalize() {
        Ok(root) => root,
        // The recording may come from elsewhere.
        Err(_) => root.to_path_buf(),
    });
    if let Some(root) = root.as_deref().filter(|root| !root.is_absolute()) {
        return Err((
            format!("--root {}: no such directory here; name it from /", root.display()),
            2,
        ));
    }
    let wish = Wish {
        root: root.map(|root| root.as_os_str().as_bytes().to_vec()),
        hide_names: args.hide_names,
        head: head(args),
    };
    let beside = |out: &Path| out.parent().unwrap_or(Path::new("")).to_path_buf();
    let near = args.out.as_deref().map_or_else(std::env::temp_dir, beside);
    let mut spool = spool(&near).map_err(|error| (error.to_string(), 1))?;
    let made = match &args.out {
        None => import::import(&mut source, &wish, &mut spool, &mut io::stdout().lock()),
        Some(path) => write_new(path, |out| import::import(&mut source, &wish, &mut spool, out))?,
    };
    made.map_err(|error| failure(&error, args))
}

/// Lines for the head of the load: what it is, without a path of this machine.
fn head(args: &StraceArgs) -> Vec<String> {
    let version = env!("CARGO_PKG_VERSION");
    let name = |path: &PathBuf| path.file_name().map(|n| n.to_string_lossy().into_owned());
    let first = args.files.first().and_then(name).filter(|_| !args.hide_names);
    let of = first.map_or_else(String::new, |name| format!(" of {name}"));
    vec![
        format!("Made by jbodbench {version} import strace{of}: see docs/import.md."),
        "One client makes the calls of all recorded processes, in the order in which they came back."
            .to_owned(),
    ]
}

fn failure(error: &ImportError, args: &StraceArgs) -> Failure {
    let file = args.files.first().map_or_else(String::new, |file| file.display().to_string());
    match error {
        ImportError::Read(error) => (format!("{file}: {error}"), 1),
        ImportError::Write(error) if error.kind() == io::ErrorKind::BrokenPipe => {
            (String::new(), 141)
        }
        ImportError::Write(error) => {
            let out = args.out.as_ref().map_or("the load".into(), |out| out.to_string_lossy());
            (format!("cannot write {out}: {error}"), 1)
        }
        ImportError::NoRoot => (format!("{file}: {error}"), 2),
        ImportError::NoCall(report) | ImportError::NoOperation(report) => {
            complain(report, &args.files);
            (format!("{file}: {error}"), 2)
        }
    }
}

/// Says which lines were not understood.
fn complain(report: &Report, files: &[PathBuf]) {
    for complaint in &report.complaints {
        let file = files.get(complaint.file as usize).or(files.first());
        let file = file.map_or_else(String::new, |file| file.display().to_string());
        let text: String = complaint.text.escape_debug().collect();
        say(&format!("{file}:{}:{}: not understood: {text}", complaint.line, complaint.column));
    }
    let told = report.complaints.len() as u64;
    if report.lines.unknown > told {
        say(&format!("... and {} more such lines", report.lines.unknown - told));
    }
}

/// Where lines come from.
fn source(files: &[PathBuf]) -> Result<Source<'_>, Failure> {
    let told = |path: &Path| {
        let path = path.to_path_buf();
        move |error: io::Error| (format!("{}: {error}", path.display()), 2)
    };
    if let [file] = files {
        open(file).map_err(told(file))?;
        return Ok(Source::One(Box::new(move || open(file))));
    }
    let mut all = Vec::new();
    for file in files {
        let pid = file.to_str().and_then(|name| name.rsplit_once('.')?.1.parse().ok());
        let Some(pid) = pid else {
            let message = "several files must be those of strace -ff, each ending with a dot and the \
                           number of its process";
            return Err((format!("{}: {message}", file.display()), 2));
        };
        let mut text = Vec::new();
        open(file).and_then(|mut reader| reader.read_to_end(&mut text)).map_err(told(file))?;
        all.push((pid, text));
    }
    Ok(Source::Each(all))
}

/// A file, inflated if it is compressed.
fn open(path: &Path) -> io::Result<Box<dyn BufRead>> {
    let mut reader = BufReader::with_capacity(1 << 16, File::open(path)?);
    if reader.fill_buf()?.starts_with(&[0x1f, 0x8b]) {
        return Ok(Box::new(BufReader::new(MultiGzDecoder::new(reader))));
    }
    Ok(Box::new(reader))
}

/// A file without a name, for what must wait.
fn spool(dir: &Path) -> io::Result<File> {
    let name = format!(".jbodbench-import-{}", std::process::id());
    let path = dir.join(name);
    let file = OpenOptions::new().read(true).write(true).create_new(true).open(&path);
    let file = file.map_err(|error| {
        io::Error::new(error.kind(), format!("cannot write to {}: {error}", path.display()))
    })?;
    std::fs::remove_file(&path)?;
    Ok(file)
}

/// Writes a file that is not there yet; nothing is left of one that could not be finished.
pub(super) fn write_new<T>(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> Result<T, ImportError>,
) -> Result<Result<T, ImportError>, Failure> {
    let file = OpenOptions::new().write(true).create_new(true).open(path).map_err(|error| {
        let remedy = match error.kind() {
            io::ErrorKind::AlreadyExists => "; remove it, or name another file",
            _ => "",
        };
        (format!("{}: {error}{remedy}", path.display()), 2)
    })?;
    let out = BufWriter::new(file);
    let made = if path.extension().is_some_and(|ending| ending == "gz") {
        let mut out = GzEncoder::new(out, flate2::Compression::default());
        write(&mut out).and_then(|made| {
            out.finish()?.flush()?;
            Ok(made)
        })
    } else {
        let mut out = out;
        write(&mut out).and_then(|made| {
            out.flush()?;
            Ok(made)
        })
    };
    if made.is_err() {
        let _ = std::fs::remove_file(path);
    }
    Ok(made)
}
