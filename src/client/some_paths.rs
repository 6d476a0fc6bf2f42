//! Some of the paths that a client names, without running it.

use std::collections::BTreeSet;

use crate::loadfile::Program;
use crate::loadfile::program::{PathId, Segment, Wild};

/// Up to `most` different paths of a client, below the run directory: all that the program names, or
/// as many spread over them, for each client others. A pattern, or a name that is only drawn while
/// the client runs, stands for the directory that it is in.
#[must_use]
pub fn some_paths(program: &Program, client: u32, most: usize) -> BTreeSet<Vec<u8>> {
    let count = program.paths.len();
    let take = most.min(count);
    let name = format!("client{client}");
    (0..take)
        .filter_map(|n| u32::try_from((n * count / take + client as usize) % count).ok())
        .map(|index| known_part(program, PathId(index), name.as_bytes()))
        .collect()
}

fn known_part(program: &Program, id: PathId, client_name: &[u8]) -> Vec<u8> {
    let (segments, wild) = program.path(id);
    let mut path = Vec::new();
    let mut whole = wild == Wild::No;
    for segment in segments {
        match *segment {
            Segment::Literal { start, len } => path.extend(program.literal(start, len)),
            Segment::Client => path.extend(client_name),
            Segment::Slot(_) | Segment::Drawn(_) => {
                whole = false;
                break;
            }
        }
    }
    if !whole {
        path.truncate(path.iter().rposition(|byte| *byte == b'/').unwrap_or(0));
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loadfile::{Options, parse_bytes};

    fn paths(text: &str, client: u32, most: usize) -> Vec<String> {
        let program = parse_bytes("test", text.as_bytes(), &Options::default()).unwrap().program;
        let found = some_paths(&program, client, most);
        found.into_iter().map(|path| String::from_utf8(path).unwrap()).collect()
    }

    #[test]
    fn what_is_not_known_yet_is_left_out() {
        let text = "Mkdir \"\\clients\\client1\\a\" NT_STATUS_OK\n\
                    FIND_FIRST \"\\clients\\client1\\a\\*.doc\" 3 9 1 NT_STATUS_OK\n\
                    RANDOMSTRING 1 \"x[ab]y\"\n\
                    Unlink \"\\clients\\client1\\b\\c$1\\d\" 0x16 NT_STATUS_OK\n\
                    QUERY_PATH_INFORMATION \"\\top\" 1 NT_STATUS_OK\n";
        let wanted = ["/clients/client7/a", "/clients/client7/b", "/top"];
        assert_eq!(paths(text, 7, 100), wanted);
    }

    #[test]
    fn a_drawn_name_stands_for_its_directory() {
        let text = "POOL d 9 /client1/a/d\nPOOL f 9 /top\nstat {d}/x *\nstat {f+} ENOENT\n";
        assert_eq!(paths(text, 3, 100), ["", "/client3/a"]);
    }

    #[test]
    fn some_of_many_are_spread_over_all() {
        let line = |n| format!("Unlink \"\\f{n:03}\" 0x16 NT_STATUS_OK\n");
        let text: String = (0..300).map(line).collect();
        assert_eq!(paths(&text, 0, 100).len(), 100);
        assert_eq!(paths(&text, 0, 3), ["/f000", "/f100", "/f200"]);
        assert_eq!(paths(&text, 299, 3), ["/f099", "/f199", "/f299"]);
        assert_eq!(paths(&text, 0, 0), Vec::<String>::new());
    }
}
