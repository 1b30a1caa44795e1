//! The protocol's own keys.

use super::{fault, parse, text};
use crate::view::message::{Envelope, JsonScratch};
use crate::view::node::Value;

#[test]
fn envelopes() {
    let body = br#"{"jsonrpc":"2.0","id":7,"method":"tools/call","x":{"method":1},"params":{"name":"n","arguments":{"uri":1},
        "cursor":"a","cursor":"b","_meta":{"io.modelcontextprotocol/protocolVersion":"v","io.modelcontextprotocol/clientInfo":{},
        "io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/logLevel":"info","progressToken":1,"progressToken":2}}}"#;
    parse(&mut JsonScratch::new(128), body, |document| {
        let envelope = document.unwrap().envelope();
        assert!(envelope.object);
        assert_eq!(envelope.jsonrpc.and_then(Value::as_str), Some("2.0"));
        assert_eq!(envelope.method.and_then(Value::as_str), Some("tools/call"));
        assert!(envelope.id.is_some() && envelope.params.is_some());
        assert!(envelope.result.is_none() && envelope.error.is_none());
        let args = envelope.args;
        assert_eq!(args.name.and_then(Value::as_str), Some("n"));
        assert!(
            args.arguments.is_some() && args.meta.is_some() && args.uri.is_none() && args.task_id.is_none()
        );
        assert_eq!(args.cursor.and_then(Value::as_str), Some("a"));
        assert_eq!(args.fields.protocol_version.and_then(Value::as_str), Some("v"));
        assert_eq!(args.fields.log_level.and_then(Value::as_str), Some("info"));
        assert!(args.fields.client_info.is_some() && args.fields.client_capabilities.is_some());
        assert_eq!(args.fields.progress_token.map(Value::to_serde), Some(1.into()));
    });
    // Null is there; params and _meta that are no objects have no members.
    parse(
        &mut JsonScratch::new(128),
        br#"{"id":null,"params":[{"name":1}],"result":{},"error":0}"#,
        |document| {
            let envelope = document.unwrap().envelope();
            assert!(
                envelope.id.is_some_and(Value::is_null)
                    && envelope.result.is_some()
                    && envelope.error.is_some()
            );
            assert!(envelope.params.is_some() && envelope.args.name.is_none());
        },
    );
    parse(
        &mut JsonScratch::new(128),
        br#"{"params":{"_meta":1,"uri":2,"taskId":3,"protocolVersion":4}}"#,
        |document| {
            let args = document.unwrap().envelope().args;
            assert!(
                args.meta.is_some()
                    && args.uri.is_some()
                    && args.task_id.is_some()
                    && args.protocol_version.is_some()
            );
        },
    );
}

#[test]
fn duplicates_among_the_protocols_own_keys() {
    for key in ["jsonrpc", "id", "method", "params", "result", "error"] {
        assert_eq!(
            text(format!("{{\"{key}\":1,\"x\":2,\"{key}\":1}}")),
            format!("the key `{key}` is duplicated")
        );
    }
    assert_eq!(text(r#"{"\u0069d":1,"id":1}"#), "the key `id` is duplicated");
    for key in ["_meta", "name", "uri", "arguments", "taskId", "protocolVersion"] {
        assert_eq!(
            text(format!("{{\"params\":{{\"{key}\":1,\"{key}\":1}}}}")),
            format!("the key `{key}` is duplicated")
        );
    }
    for name in ["protocolVersion", "clientInfo", "clientCapabilities", "logLevel", "other", ""] {
        let key = format!("io.modelcontextprotocol/{name}");
        assert_eq!(
            text(format!("{{\"params\":{{\"_meta\":{{\"{key}\":1,\"{key}\":1}}}}}}")),
            format!("the key `{key}` is duplicated")
        );
    }
    for fine in [
        r#"{"x":1,"x":1,"params":{"cursor":1,"cursor":1,"jsonrpc":1,"jsonrpc":1,"_meta":{"a":1,"a":1,"progressToken":1,"progressToken":1}}}"#,
        r#"{"params":{"arguments":{"name":1,"name":2}},"result":{"id":1,"id":1}}"#,
        r#"[{"id":1,"id":2}]"#,
    ] {
        assert_eq!(fault(fine), None, "{fine}");
    }
    // An element of a batch is read by itself.
    parse(&mut JsonScratch::new(8), br#"[{"id":1},{"id":1,"id":2}]"#, |document| {
        let batch = document.unwrap().root().as_array().unwrap();
        let faults = batch.iter().map(|message| Envelope::read(message).is_err());
        assert!(faults.eq([false, true]));
    });
}

#[test]
fn many_reserved_keys_take_linear_time() {
    let keys = |count: usize, last: usize| {
        let keys: Vec<String> =
            (0..count).chain([last]).map(|n| format!("\"io.modelcontextprotocol/{n}\":0")).collect();
        format!("{{\"params\":{{\"_meta\":{{{}}}}}}}", keys.join(","))
    };
    assert_eq!(fault(keys(200_000, 200_000)), None);
    for last in [0, 7, 8, 199_999] {
        assert_eq!(
            text(keys(200_000, last)),
            format!("the key `io.modelcontextprotocol/{last}` is duplicated")
        );
    }
    let long = format!("io.modelcontextprotocol/{}", "é".repeat(100));
    assert_eq!(
        text(format!("{{\"params\":{{\"_meta\":{{\"{long}\":0,\"{long}\":0}}}}}}")).len(),
        "the key `` is duplicated".len() + 64
    );
}
