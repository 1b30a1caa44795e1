//! `Host` (RFC 9110 7.2, RFC 9112 3.2).

use super::row::*;

const ONE: &str = "9112 3.2: exactly one Host, else 400";
const FORM: &str = "9112 3.2: a Host that is no host with an optional port is 400";
const POLICY: &str =
    "9112 3.3 leaves the choice: hosts that are not allowed are refused, and the body is dropped unread";

pub fn rows() -> Vec<Row> {
    let host = |value: &str| ping_with(format!("Host: {value}\r\n"));
    vec![
        refused("no Host", ONE, 400, ping_with("")),
        refused("two hosts that are the same", ONE, 400, ping_with(format!("{HOST}{HOST}"))),
        refused("two hosts", ONE, 400, ping_with(format!("{HOST}Host: evil.example\r\n"))),
        refused("two hosts in two spellings", ONE, 400, ping_with(format!("{HOST}hOST: evil.example\r\n"))),
        refused("two hosts, one empty", ONE, 400, ping_with(format!("Host:\r\n{HOST}"))),
        refused("a list of hosts", FORM, 400, host("localhost, evil.example")),
        refused("a user before the host", FORM, 400, host("localhost@evil.example")),
        refused("a path behind the host", FORM, 400, host("localhost/evil")),
        refused("a query behind the host", FORM, 400, host("localhost?evil")),
        refused("a URL for a host", FORM, 400, host("http://localhost")),
        refused("a space in the host", FORM, 400, host("local host")),
        refused("a tab in the host", FORM, 400, host("localhost\tevil.example")),
        refused("a port that is none", FORM, 400, host("localhost:80x")),
        refused("two ports", FORM, 400, host("localhost:80:80")),
        refused("an address without brackets", FORM, 400, host("::1")),
        refused("a bracket that stays open", FORM, 400, host("[::1")),
        refused("words behind the bracket", FORM, 400, host("[::1].evil.example")),
        refused("a letter beyond ASCII in the host", FORM, 400, host("localh\u{f6}st")),
        refused(
            "a port and no host",
            "9110 4.2.1: an http URL without a host is invalid; stricter: so is the Host that would make one",
            400,
            host(":80"),
        ),
        served("a host with a port", FORM, 200, host("localhost:8080")),
        served("a host with an empty port", FORM, 200, host("localhost:")),
        served("a host with whitespace around it", "9110 5.5: it is no part of the value", 200, {
            host("\t localhost \t")
        }),
        served("an empty host", POLICY, 403, host("")),
        served("a foreign host with a request in its body", POLICY, 403, {
            let head = "POST /mcp HTTP/1.1\r\nHost: evil.example\r\n";
            format!("{head}{TYPE}{}\r\n{}", length(smuggled().len()), smuggled())
        }),
    ]
}
