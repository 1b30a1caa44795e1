//! Reads the sources and holds them to the architecture: floors, who may name which library, file sizes, the chain, the words, and the
//! tables that README repeats.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use twolane::tables::chain::CHAIN;

/// Rooms by floor. Rooms of one floor do not see each other.
const FLOORS: [(&str, u8); 13] = [
    ("base", 0),
    ("tables", 1),
    ("view", 2),
    ("reply", 3),
    ("schema", 3),
    ("events", 4),
    ("session", 5),
    ("tasks", 6),
    ("tools", 7),
    ("methods", 8),
    ("road", 9),
    ("conn", 10),
    ("server", 11),
];

/// Libraries that only some rooms, or files, may name.
const KEPT: [(&str, &[&str]); 4] = [
    ("httparse", &["view/head"]),
    ("simd_json", &["view/", "schema/"]),
    ("h2::", &["conn/", "server/"]),
    ("tokio::net", &["conn/", "server/"]),
];

/// Files of the road that are no stages.
const ROAD_HELPERS: [&str; 14] = [
    "allow",
    "batch",
    "call",
    "media",
    "pace",
    "peer_rates",
    "pending",
    "post",
    "router",
    "sentinel",
    "settings",
    "shared",
    "shedding",
    "stream",
];

/// Words that the field has other words for.
const BANNED: [&str; 7] =
    ["middleware", "interceptor", "whitelist", "blacklist", "mcp_token", "rejection_code", "session_token"];

const MOST_LINES: usize = 400;

struct Source {
    /// Below `src`, with `/`.
    path: String,
    text: String,
}

impl Source {
    fn room(&self) -> Option<&str> {
        let (folder, _) = self.path.split_once('/')?;
        FLOORS.iter().any(|(room, _)| *room == folder).then_some(folder)
    }

    fn is_test(&self) -> bool {
        self.path.ends_with("/tests.rs") || self.path.contains("/tests/")
    }

    /// The text without comments and without the test module, which stands last in a file.
    fn code(&self) -> Vec<&str> {
        let mut lines = Vec::new();
        let mut rest = self.text.lines().peekable();
        while let Some(line) = rest.next() {
            let next_is_module =
                rest.peek().is_some_and(|next| next.starts_with("mod ") && next.ends_with('{'));
            if line == "#[cfg(test)]" && next_is_module {
                break;
            }
            let trimmed = line.trim();
            if !trimmed.is_empty() && !trimmed.starts_with("//") {
                lines.push(line);
            }
        }
        lines
    }
}

fn sources() -> Vec<Source> {
    fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    walk(&root, &mut found);
    found.sort();
    let sources: Vec<_> = found
        .into_iter()
        .map(|path| Source {
            path: path.strip_prefix(&root).unwrap().to_string_lossy().replace('\\', "/"),
            text: fs::read_to_string(&path).unwrap(),
        })
        .collect();
    assert!(sources.len() > 40, "the sources were not found");
    sources
}

/// Rooms named after `crate::`, in paths and in groups.
fn rooms_named(code: &str) -> BTreeSet<&str> {
    let mut named = BTreeSet::new();
    for (at, _) in code.match_indices("crate::") {
        let rest = &code[at + "crate::".len()..];
        let Some(group) = rest.strip_prefix('{') else {
            named.insert(word(rest));
            continue;
        };
        let mut depth = 1;
        let mut start = 0;
        for (offset, c) in group.char_indices() {
            depth += i32::from(c == '{') - i32::from(c == '}');
            if depth == 0 || (depth == 1 && c == ',') {
                named.insert(word(group[start..offset].trim_start_matches([',', ' ', '\n'])));
                start = offset + 1;
            }
            if depth == 0 {
                break;
            }
        }
    }
    named
}

fn word(text: &str) -> &str {
    let text = text.trim_start();
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
    &text[..end]
}

fn floor(room: &str) -> Option<u8> {
    FLOORS.iter().find(|(name, _)| *name == room).map(|(_, floor)| *floor)
}

#[test]
fn groups_and_paths_are_seen() {
    let named = rooms_named("use crate::{base::a, tables::{b, c}, road};\n crate::view::head;");
    assert_eq!(named.into_iter().collect::<Vec<_>>(), ["base", "road", "tables", "view"]);
}

#[test]
fn a_file_names_lower_floors_only() {
    let mut faults = Vec::new();
    for source in sources() {
        let Some(room) = source.room() else { continue };
        let own = floor(room).unwrap();
        for named in rooms_named(&source.code().join("\n")) {
            if floor(named).is_some_and(|other| named != room && other >= own) {
                faults.push(format!("{} names {named}", source.path));
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn every_folder_is_a_room_with_a_floor() {
    for source in sources() {
        if let Some((folder, _)) = source.path.split_once('/') {
            assert!(floor(folder).is_some() || folder == "cli", "src/{folder} has no floor");
        }
    }
}

#[test]
fn libraries_stay_in_their_rooms() {
    let mut faults = Vec::new();
    for source in sources() {
        let code = source.code().join("\n");
        for (library, places) in KEPT {
            let starts_a_name =
                |at: usize| !code[..at].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
            let named = code.match_indices(library).any(|(at, _)| starts_a_name(at));
            if named && !places.iter().any(|place| source.path.starts_with(place)) {
                faults.push(format!("{} names {library}", source.path));
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn files_are_small() {
    let mut faults = Vec::new();
    for source in sources() {
        // Tables are data, and tests in files of their own are tests.
        if source.path.starts_with("tables/") || source.is_test() {
            continue;
        }
        let lines = source.code().len();
        if lines > MOST_LINES {
            faults.push(format!("{} has {lines} lines of code", source.path));
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn the_road_is_the_chain() {
    let sources = sources();
    let files: BTreeSet<&str> = sources
        .iter()
        .filter_map(|source| source.path.strip_prefix("road/")?.strip_suffix(".rs"))
        .filter(|name| *name != "mod" && !name.contains('/'))
        .collect();
    let stages: Vec<&str> = CHAIN.iter().map(|stage| stage.name()).collect();
    for stage in &stages {
        assert!(files.contains(stage), "stage {stage} has no file");
    }
    for file in files {
        let known = stages.contains(&file) || ROAD_HELPERS.contains(&file);
        assert!(known, "src/road/{file}.rs is neither a stage nor a known helper");
    }
    let road = sources.iter().find(|source| source.path == "road/mod.rs").unwrap();
    let declared: Vec<&str> = road
        .text
        .lines()
        .filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'))
        .take(stages.len())
        .collect();
    assert_eq!(declared, stages, "road/mod.rs declares the stages in chain order");
}

#[test]
fn one_word_for_one_thing() {
    let mut faults = Vec::new();
    for source in sources() {
        for (number, line) in source.text.lines().enumerate() {
            let lower = line.to_lowercase();
            for banned in BANNED.into_iter().filter(|banned| lower.contains(banned)) {
                faults.push(format!("{}:{} says {banned}", source.path, number + 1));
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn readme_repeats_the_tables() {
    let readme = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap();
    for (name, table) in [
        ("rejections", twolane::tables::rejection::markdown()),
        ("limits", twolane::base::limits::Limits::markdown()),
    ] {
        let (begin, end) = (format!("<!-- {name}:begin -->"), format!("<!-- {name}:end -->"));
        let from = readme.find(&begin).unwrap_or_else(|| panic!("README has no {begin}")) + begin.len();
        let until = readme[from..].find(&end).unwrap_or_else(|| panic!("README has no {end}")) + from;
        assert_eq!(readme[from..until].trim(), table.trim(), "README's {name} table differs from the code");
    }
}
