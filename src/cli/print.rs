//! Tables printed from the code, for people and for README.

use std::fmt::Write;

use twolane::{Limits, Rejection};

/// The rejection table as Markdown.
pub(crate) fn rejections_markdown() -> String {
    twolane::rejection_table()
}

/// The rejection table in columns.
pub(crate) fn rejections_text() -> String {
    let mut out = String::new();
    for rejection in Rejection::ALL {
        let row = rejection.row();
        let code = if row.code == 0 { String::new() } else { row.code.to_string() };
        let name = format!("{}.{}", row.rejecter.name(), row.reason);
        let _ = writeln!(out, "{name:46} {} {code:7} {:15} {}", row.status, row.id.word(), row.verbs.words());
    }
    out
}

/// The limits as Markdown.
pub(crate) fn limits_markdown() -> String {
    Limits::markdown()
}
