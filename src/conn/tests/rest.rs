//! What connections hold while nothing happens, on the heap. The allocator has sizes of 192, 224, 256, 320, 384, 448, 512, 640 bytes and so on.

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::OwnedSemaphorePermit;

use super::*;
use crate::conn::pending::Course;

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
