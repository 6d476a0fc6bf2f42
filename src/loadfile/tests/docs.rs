//! docs/loadfile.md describes the language: every word must be in it.

use crate::op::OpKind;

const DOC: &str = include_str!("../../../docs/loadfile.md");

#[test]
fn every_word_is_documented() {
    for kind in OpKind::ALL {
        assert!(DOC.contains(&format!("`{}", kind.word())), "{kind} is not in docs/loadfile.md");
    }
    for word in [
        "LOOP",
        "ENDLOOP",
        "REPEAT",
        "SLEEP",
        "SETSP",
        "WAITSP",
        "WRITEPATTERN",
        "RANDOMSTRING",
        "PREPARE",
        "END",
        "PHASE",
        "CHOOSE",
        "SHUFFLE",
        "POOL",
        "SHARED",
        "SET",
        "Sleep",
    ] {
        assert!(DOC.contains(&format!("`{word}")), "{word} is not in docs/loadfile.md");
    }
}

#[test]
fn every_built_in_load_is_in_the_table_of_loads() {
    let table = include_str!("../../../docs/loads.md");
    for load in crate::loadfile::builtin::BUILTINS {
        assert!(
            table.contains(&format!("`{}`", load.name)),
            "{} is not in docs/loads.md",
            load.name
        );
    }
}

#[test]
fn every_repair_has_its_line() {
    for number in 1..=22 {
        assert!(DOC.contains(&format!("| P{number} |")), "P{number} is not in docs/loadfile.md");
    }
}
