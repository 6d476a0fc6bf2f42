//! SET lines and `${...}`: one text becomes the other that is written out by hand.

use super::super::parameters::{apply, parse_given, refuse_strangers};
use super::super::{LoadError, Source};
use super::*;

fn source(text: &str) -> Source {
    Source { name: "t.load".to_owned(), bytes: text.as_bytes().to_vec(), gzip: false }
}

fn given(set: &[(&str, &str)]) -> Vec<(String, String)> {
    set.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

/// The program with some values.
fn with(text: &str, set: &[(&str, &str)]) -> Result<Program, LoadError> {
    let source = source(text);
    let applied = apply(&source, &given(set))?;
    super::super::load_applied(applied, &Options::default()).map(|loaded| loaded.program)
}

/// Line, column and message of the first fault.
fn fault(text: &str, set: &[(&str, &str)]) -> (u32, u32, String) {
    match with(text, set) {
        Err(LoadError::Lines(faults)) => {
            let first = faults.kept.into_iter().next().unwrap();
            (first.line, first.column, first.message)
        }
        other => panic!("{other:?}"),
    }
}

const TEXT: &str = "# sizes of ${nothing}\nSET size=4k\nSET \"text=a b\"\nSET half=${size/2}\n\nPREPARE\n\
                    Mkdir \"/${text}\" *\nEND\nWRITEPATTERN <${text}> \"${size}\"\n\
                    REPEAT ${(half-48)/1000+1}\nWriteX 1 *%${size*3} ${half} ${half} *\n";

/// Numbers by hand: 4k is 4096, half of it 2048; (2048 - 48) / 1000 + 1 = 3; 3 x 4096 = 12,288.
#[test]
fn a_load_is_the_one_that_is_written_out() {
    let out = "PREPARE\nMkdir \"/a b\" *\nEND\nWRITEPATTERN <a b> \"4096\"\nREPEAT 3\n\
               WriteX 1 *%12288 2048 2048 *\n";
    assert_eq!(with(TEXT, &[]).unwrap().sha256, good(out).sha256);
    // 8000 / 2 = 4000, (4000 - 48) / 1000 + 1 = 4; 3 x 8000 = 24,000.
    let other = "PREPARE\nMkdir \"/x\" *\nEND\nWRITEPATTERN <x> \"8000\"\nREPEAT 4\n\
                 WriteX 1 *%24000 4000 4000 *\n";
    let program = with(TEXT, &[("size", "8000"), ("text", "x")]).unwrap();
    assert_eq!(program.sha256, good(other).sha256);
    assert_ne!(program.sha256, good(out).sha256);
    // Lines stay where they are.
    assert_eq!(program.insts.last().unwrap().line, 11);
}

#[test]
fn without_set_lines_it_is_text() {
    let program = good("Mkdir \"/a${b\" *\nMkdir /${size/0} *\n");
    assert_eq!(path(&program, 0), "/a${b");
    assert_eq!(path(&program, 1), "/${size/0}");
    // A string and a parameter side by side.
    let both = "SET n=7\nRANDOMSTRING 1 \"[ab]\"\nMkdir /$1${n}$2 *\n";
    assert_eq!(path(&good(both), 0), "/<1>7$2");
}

#[test]
fn parameters_are_listed_with_their_values() {
    let source = source(TEXT);
    let applied = apply(&source, &given(&[("size", "1m")])).unwrap();
    let found: Vec<_> = applied
        .parameters
        .iter()
        .map(|p| (p.line, p.name.as_str(), p.default.as_str(), p.value.as_str(), p.given))
        .collect();
    let expected = [
        (2, "size", "4k", "1048576", true),
        (3, "text", "a b", "a b", false),
        (4, "half", "524288", "524288", false),
    ];
    assert_eq!(found, expected);
}

#[test]
fn mistakes_have_their_place() {
    for (text, line, column, part) in [
        ("SET a=1\nFlush ${b} *\n", 2, 9, "no SET line above names b"),
        ("SET a=${b}\nSET b=1\nFlush 1 *\n", 1, 9, "names b"),
        ("SET \"a=${b}\"\nFlush 1 *\n", 1, 10, "names b"),
        ("SET a=1\n Flush ${a/0} *\n", 2, 11, "division by zero"),
        ("SET a=9223372036854775807\nFlush ${a+1} *\n", 2, 10, "64 bits"),
        ("SET a=b\nFlush ${a} *\nFlush ${a*2} *\n", 3, 9, "a is `b`, which is no number"),
        ("SET a=1\nFlush ${a *\n", 2, 7, "not closed"),
        ("SET a=1\nFlush ${} *\n", 2, 9, "missing"),
        ("SET a=1\nSET a=2\nFlush 1 *\n", 2, 5, "line 1, too"),
        ("SET a\nFlush 1 *\n", 1, 5, "without a `=`"),
        ("SET =b\nFlush 1 *\n", 1, 5, "cannot be set"),
        ("SET 1a=b\nFlush 1 *\n", 1, 5, "cannot be set"),
        ("SET a=b c\nFlush 1 *\n", 1, 9, "too much"),
        ("SET\nFlush 1 *\n", 1, 4, "missing"),
        ("SET \"a=1\nFlush 1 *\n", 1, 5, "not closed"),
        ("SET a=1\nFlush 1 *\n SET b=2\n", 3, 2, "below other lines"),
        ("PREPARE\nSET a=1\nEND\nFlush 1 *\n", 2, 1, "below other lines"),
        ("0.5 SET a=1\nFlush 1 *\n", 1, 1, "timestamp"),
        ("SET a=\x01\nFlush 1 *\n", 1, 7, "'\\u{1}'"),
    ] {
        let found = fault(text, &[]);
        assert_eq!((found.0, found.1), (line, column), "{text}: {}", found.2);
        assert!(found.2.contains(part), "{text}: {}", found.2);
    }
    // What a value makes of its line is told with the line as it is then.
    let (line, column, message) = fault("SET n=2\nLOOP ${n}\nFlush 1 *\nENDLOOP\n", &[("n", "x")]);
    assert_eq!((line, column), (2, 6));
    assert!(message.contains("`x` is not a count"), "{message}");
}

/// A bad parameter is not a bad line that could be left out.
#[test]
fn lenient_skips_no_parameters() {
    for text in ["SET a\nFlush 1 *\n", "SET a=1\nFlush ${b} *\nFlush 1 *\n"] {
        assert!(parse_bytes("t", text.as_bytes(), &Options { lenient: true }).is_err(), "{text}");
    }
    let late = "Flosh 1 *\nSET a=1\nFlush 1 *\n";
    assert_eq!(lenient(late).skipped_lines, 2);
}

#[test]
fn values_cannot_break_their_line() {
    assert_eq!(parse_given("a=b=c"), Ok(("a".to_owned(), "b=c".to_owned())));
    assert_eq!(parse_given("a="), Ok(("a".to_owned(), String::new())));
    for text in ["a", "=b", "a b=c", "a=\"", "a=x\ny", "a=${b}", "\u{e9}=1"] {
        assert!(parse_given(text).is_err(), "{text}");
    }
    assert!(parse_given(&format!("a={}", "x".repeat(1001))).is_err());
    let flags = "SET more=\nopen /a O_WRONLY|O_CREAT${more} 0600 1 *\n";
    let sync = with(flags, &[("more", "|O_SYNC")]).unwrap().sha256;
    assert_eq!(sync, good("open /a O_WRONLY|O_CREAT|O_SYNC 0600 1 *\n").sha256);
}

/// A file cannot grow without bounds.
#[test]
fn lines_do_not_explode() {
    let text = format!("SET a={}\nMkdir /{} *\n", "x".repeat(1000), "${a}".repeat(16_000));
    let (line, _, message) = fault(&text, &[]);
    assert_eq!(line, 2);
    assert!(message.contains("too long"), "{message}");
    let many: String = (0..101).map(|n| format!("SET a{n}=1\n")).collect();
    assert_eq!(fault(&(many + "Flush 1 *\n"), &[]).0, 101);
}

#[test]
fn names_that_no_file_has_are_refused() {
    let source = source(TEXT);
    let parameters = apply(&source, &[]).unwrap().parameters;
    let files = [("a.load", parameters.as_slice()), ("b.load", &[])];
    let refuse = |name: &str| refuse_strangers(&given(&[(name, "1")]), files.iter().copied());
    assert_eq!(refuse("size"), Ok(()));
    let message = refuse("sise").unwrap_err();
    assert!(message.contains("a.load: size, text, half; b.load: none"), "{message}");
}
