//! Clients that take their time.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::super::attacker::{Target, more};
use super::super::messages;
use super::{Attack, Run, crowd, forever};

pub const ATTACKS: &[fn() -> Attack] = &[
    || {
        Attack::new(
            "slow heads",
            "heads at a byte a second, opened anew when the server has had enough",
            heads,
        )
        .flags(&["--head-timeout", "1500"])
        .holds(2_000, "connections")
        .takes_refusals(1_000)
    },
    || {
        Attack::new("slow bodies", "bodies at a byte a second, half of them chunked", bodies)
            .flags(&["--body-timeout", "1500"])
            .holds(2_000, "connections")
            .takes_refusals(1_000)
    },
];

const CONNECTIONS: usize = 4_000;

fn heads(target: Target) -> Run {
    crowd(&target, CONNECTIONS, |target, number| async move {
        let mut stream = target.connect(number).await?;
        let _held = target.hold();
        stream.write_all(b"POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\nx-slow: ").await?;
        trickle(&target, &mut stream, b"a").await
    });
    Box::pin(async move {
        target.until_held(CONNECTIONS as u64 * 9 / 10).await;
        forever().await;
    })
}

fn bodies(target: Target) -> Run {
    crowd(&target, CONNECTIONS, |target, number| async move {
        let mut stream = target.connect(number).await?;
        let _held = target.hold();
        let chunked = number.is_multiple_of(2);
        let framing = if chunked { "transfer-encoding: chunked\r\n" } else { "content-length: 60000\r\n" };
        stream.write_all(&messages::head("", framing)).await?;
        trickle(&target, &mut stream, if chunked { b"1\r\n \r\n" } else { b" " }).await
    });
    Box::pin(async move {
        target.until_held(CONNECTIONS as u64 * 9 / 10).await;
        forever().await;
    })
}

/// Sends a piece a second until the server ends the connection.
async fn trickle(target: &Target, stream: &mut TcpStream, piece: &[u8]) -> io::Result<()> {
    let (mut read, mut write) = stream.split();
    let send = async {
        loop {
            write.write_all(piece).await?;
            more(&target.counts.sent);
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    };
    let mut room = [0; 1024];
    let ended: io::Result<()> = tokio::select! {
        failed = send => failed,
        read = read.read(&mut room) => read.map(drop),
    };
    more(&target.counts.refused);
    ended
}
