//! The table of hostile and odd HTTP/1.1 requests and of their required answers (RFC 9110, RFC 9112; the classes of fault that HTTP servers
//! had to mend in the last five years). One file is one theme, one row one request.
//!
//! Every row is sent whole, byte by byte, cut in two anywhere, twice, and behind a good request, each time with a good request behind it. In
//! every cell the answers are the row's, no byte of a body or of a refused request is answered as a request of its own, and the good
//! requests around it are answered as if it were not there, as far as the connection goes on.

mod row;
mod cells;

// What stands in a head.
mod lines;
mod versions;
mod methods;
mod targets;
mod hosts;
mod fields;
mod whitespace;

// How long a body is.
mod lengths;
mod codings;
mod both;
mod chunks;
mod extensions;
mod trailers;

// What becomes of the connection.
mod expect;
mod connections;
mod early;
mod pipelines;
mod bounds;

use std::collections::BTreeSet;

use self::row::Row;

/// Each theme is a table and a test that sends all of it.
macro_rules! themes {
    ($($theme:ident)+) => {
        const THEMES: &[(&str, fn() -> Vec<Row>)] = &[$((stringify!($theme), $theme::rows)),+];

        mod sent {
            $(#[test] fn $theme() { super::cells::check(&super::$theme::rows()); })+
        }
    };
}

themes! {
    lines versions methods targets hosts fields whitespace
    lengths codings both chunks extensions trailers
    expect connections early pipelines bounds
}

#[test]
fn the_table() {
    let (mut names, mut cells) = (BTreeSet::new(), 0);
    for (theme, rows) in THEMES {
        let rows = rows();
        assert!(rows.len() >= 5, "{theme} is no theme");
        for row in &rows {
            assert!(!row.rule.is_empty(), "{}: no rule", row.name);
            assert!(names.insert(row.name), "two rows are called {:?}", row.name);
            cells += cells::count(row);
        }
        println!("{theme}: {} rows", rows.len());
    }
    println!("{} rows, {cells} cells", names.len());
    assert!(names.len() >= 120, "{} rows", names.len());
}
