//! What connections hold while nothing happens, on the heap. The allocator has sizes of 192, 224, 256, 320, 384, 448, 512, 640 bytes and so on.

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::OwnedSemaphorePermit;

use super::*;
use crate::conn::pending::Course;
use crate::tools::Resource;

/// The task of a connection: the runtime puts 104 bytes around it and aligns the whole to 128, and 513 bytes would take 768.
#[tokio::test]
async fn a_connection_at_rest_is_small() {
    let (service, _) = service(Limits::default());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let io = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    let connection = crate::conn::serve(service, io, Peer::default(), None::<OwnedSemaphorePermit>);
    assert!(size_of_val(&connection) <= 400, "{}", size_of_val(&connection));
}

/// What a stream takes beside its connection, and a call that takes its time.
#[test]
fn a_stream_at_rest_is_small() {
    assert!(size_of::<Course>() <= 256, "{}", size_of::<Course>());
}

/// However much changes meanwhile: who does not read is owed each thing once, and what is staged for it is as much as is written at once.
#[tokio::test]
async fn what_is_told_to_one_who_does_not_read_is_bounded() {
    let mut client = Client::new(limits(|limits| limits.batch_bytes = 1_024));
    let service = Arc::clone(&client.service);
    let registry = service.road().registry();
    registry.add_resource(Resource::text("a:0", "a", "text")).unwrap();
    let uris: Vec<String> = (0..100).map(|at| format!("a:{at}/{}", "x".repeat(1_000))).collect();
    let (asked, method) = (uris.join("\",\""), "subscriptions/listen");
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":7,"method":"{method}","params":{{"notifications":{{"resourceSubscriptions":["{asked}"]}},{meta}}}}}"#
    );
    client.send(post(&format!("MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: {method}\r\n"), &body)).await;
    client.until("]}}}\n\n\r\n").await;
    for _ in 0..50 {
        uris.iter().for_each(|uri| registry.resource_updated(uri));
        drop(service.road().announce());
        tokio::task::yield_now().await;
    }
    service.road().start_draining();
    let told = client.until("0\r\n\r\n").await;
    // What was in the pipe and about to be written, and everything once more.
    assert!(told.len() < 64 * 1024 + 4 * 1024 + 120 * 1_200, "{}", told.len());
    for uri in &uris {
        assert!((1..=2).contains(&count(&told, uri)), "{} of {}", count(&told, uri), &uri[..6]);
    }
    assert_eq!(count(&told, "\"result\""), 1);
}
