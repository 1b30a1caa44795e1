use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::base::limits::Limits;
use crate::tools::{BadCursor, RawTool};

fn limits(page_size: u64) -> Limits {
    let mut limits = Limits::default();
    limits.set("page_size", page_size).unwrap();
    limits
}

fn tool(name: &str) -> RawTool {
    RawTool::new(name, "d", json!({"type": "object"}), |_: Value| async {})
}

fn page(registry: &Registry, cursor: Option<&str>) -> (Vec<String>, Option<String>) {
    let snapshot = registry.snapshot();
    let members = snapshot.tools().page(Revision::V2025_11_25, cursor).unwrap();
    let page: Value =
        serde_json::from_str(&format!("{{{}}}", std::str::from_utf8(&members).unwrap())).unwrap();
    let names = page["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap().to_owned())
        .collect();
    (names, page.get("nextCursor").map(|cursor| cursor.as_str().unwrap().to_owned()))
}

fn walk(registry: &Registry, mut between: impl FnMut()) -> Vec<Vec<String>> {
    let mut pages = Vec::new();
    let mut cursor = None;
    loop {
        let (names, next) = page(registry, cursor.as_deref());
        pages.push(names);
        match next {
            Some(next) => cursor = Some(next),
            None => return pages,
        }
        between();
    }
}

#[test]
fn an_empty_registry_has_one_empty_page() {
    for &revision in Revision::ALL {
        assert_eq!(&*Registry::default().snapshot().tools().page(revision, None).unwrap(), b"\"tools\":[]");
    }
}

#[test]
fn bad_cursors_are_told() {
    let registry = Registry::new(&limits(1));
    registry.add(tool("a")).unwrap();
    registry.add(tool("b")).unwrap();
    let (_, next) = page(&registry, None);
    let next = next.unwrap();
    for bad in ["", "x", "invalid-cursor", "AAAAAAAAAAAA", &next[..11], &format!("{next}=")] {
        assert_eq!(
            registry.snapshot().tools().page(Revision::V2026_07_28, Some(bad)),
            Err(BadCursor),
            "{bad:?}"
        );
    }
    let never = String::from_utf8(crate::tools::cursor::encode(b't', 2).to_vec()).unwrap();
    assert_eq!(registry.snapshot().tools().page(Revision::V2026_07_28, Some(&never)), Err(BadCursor));
    assert_eq!(page(&registry, Some(&next)), (vec!["b".to_owned()], None));
    registry.remove("b");
    assert_eq!(page(&registry, Some(&next)), (vec![], None));
}

#[test]
fn whole_pages_are_lent() {
    let registry = Registry::new(&limits(2));
    for name in ["a", "b", "c", "d", "e"] {
        registry.add(tool(name)).unwrap();
    }
    let snapshot = registry.snapshot();
    let (_, next) = page(&registry, None);
    for cursor in [None, next.as_deref()] {
        let page = snapshot.tools().page(Revision::V2025_03_26, cursor).unwrap();
        assert!(matches!(page, std::borrow::Cow::Borrowed(_)));
    }
    registry.apply_limits(&limits(3));
    assert_eq!(walk(&registry, || ()), [vec!["a", "b", "c"], vec!["d", "e"]]);
    assert_eq!(registry.generation(), 5);
}

#[derive(Debug, Clone)]
enum Change {
    Add(u8),
    Replace(u8),
    Remove(u8),
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        (0..40_u8).prop_map(Change::Add),
        (0..40_u8).prop_map(Change::Replace),
        (0..40_u8).prop_map(Change::Remove),
    ]
}

/// The names in registration order, as a plain list says.
fn apply(registry: &Registry, model: &mut Vec<String>, change: &Change) {
    let (Change::Add(key) | Change::Replace(key) | Change::Remove(key)) = change;
    let name = format!("t{key}");
    let known = model.contains(&name);
    match change {
        Change::Add(_) => assert_eq!(registry.add(tool(&name)).is_ok(), !known),
        Change::Replace(_) => registry.replace(tool(&name)).unwrap(),
        Change::Remove(_) => assert_eq!(registry.remove(&name), known),
    }
    match change {
        Change::Add(_) | Change::Replace(_) if !known => model.push(name),
        Change::Remove(_) => model.retain(|other| *other != name),
        Change::Add(_) | Change::Replace(_) => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_walk_visits_every_tool_once(page_size in 1_u64..9, changes in prop::collection::vec(change(), 0..60)) {
        let registry = Registry::new(&limits(page_size));
        let mut model = Vec::new();
        for change in &changes {
            apply(&registry, &mut model, change);
        }
        let pages = walk(&registry, || ());
        let expected: Vec<_> = model.chunks(usize::try_from(page_size).unwrap()).map(<[String]>::to_vec).collect();
        prop_assert_eq!(pages, if expected.is_empty() { vec![Vec::new()] } else { expected });
    }

    #[test]
    fn a_walk_survives_changes(
        page_size in 1_u64..5,
        start in 1..20_u8,
        changes in prop::collection::vec(change(), 0..60),
    ) {
        let registry = Registry::new(&limits(page_size));
        let mut model = Vec::new();
        for key in 0..start {
            apply(&registry, &mut model, &Change::Add(key));
        }
        let (mut changes, mut touched) = (changes.into_iter(), BTreeSet::new());
        let original = model.clone();
        let pages = walk(&registry, || {
            for change in changes.by_ref().take(3) {
                let (Change::Add(key) | Change::Replace(key) | Change::Remove(key)) = change;
                if matches!(change, Change::Remove(_)) {
                    touched.insert(format!("t{key}"));
                }
                apply(&registry, &mut model, &change);
            }
        });
        let seen: Vec<_> = pages.concat();
        for name in original.iter().filter(|name| !touched.contains(*name)) {
            prop_assert_eq!(seen.iter().filter(|other| *other == name).count(), 1, "{}", name);
        }
        let kept: Vec<_> = seen.iter().filter(|name| !touched.contains(*name)).collect();
        prop_assert_eq!(kept.iter().collect::<BTreeSet<_>>().len(), kept.len());
    }
}

#[test]
fn threads_may_change_it_while_others_walk() {
    let registry = Registry::new(&limits(3));
    for at in 0..10 {
        registry.add(tool(&format!("stays{at}"))).unwrap();
    }
    let expected: Vec<_> = (0..10).map(|at| format!("stays{at}")).collect();
    std::thread::scope(|scope| {
        for thread in 0..3 {
            let registry = registry.clone();
            scope.spawn(move || {
                for _ in 0..50 {
                    let name = format!("comes{thread}");
                    registry.add(tool(&name)).unwrap();
                    assert!(registry.remove(&name));
                }
            });
        }
        for _ in 0..50 {
            let mut seen = walk(&registry, || ()).concat();
            seen.retain(|name| name.starts_with("stays"));
            assert_eq!(seen, expected);
        }
    });
    assert_eq!(registry.generation(), 10 + 300);
}
