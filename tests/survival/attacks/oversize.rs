//! Everything too long.

use std::io;

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::super::attacker::{Target, more};
use super::super::messages;
use super::{Attack, Run, crowd, forever};

pub const ATTACKS: &[fn() -> Attack] = &[
    || {
        Attack::new(
            "oversize heads",
            "request lines, queries, header lines and header counts above the limits",
            heads,
        )
        .sends(500.0)
        .takes_refusals(500)
    },
    || {
        Attack::new(
            "oversize bodies",
            "bodies above the limit by length and in chunks, chunk extensions and trailers without end",
            bodies,
        )
        .flags(&["--body", "2000000", "--body-memory", "8388608"])
        .sends(20.0)
        .takes_refusals(20)
    },
];

fn too_long(number: usize) -> Vec<u8> {
    let long = "a".repeat(70_000);
    match number % 5 {
        0 => format!("POST /{long} HTTP/1.1\r\nhost: a\r\n\r\n"),
        1 => format!("POST /mcp?{long} HTTP/1.1\r\nhost: a\r\n\r\n"),
        2 => format!("POST /mcp HTTP/1.1\r\nhost: a\r\nx-long: {long}\r\n\r\n"),
        3 => format!("POST /mcp HTTP/1.1\r\nhost: a\r\n{}\r\n", "x: y\r\n".repeat(5_000)),
        _ => format!(
            "POST /mcp HTTP/1.1\r\nhost: a\r\n{}\r\n",
            format!("x: {}\r\n", &long[..9_000]).repeat(20)
        ),
    }
    .into_bytes()
}

fn heads(target: Target) -> Run {
    crowd(&target, 64, |target, number| async move {
        attempt(&target, number, &too_long(number), &[431, 414, 400]).await
    });
    Box::pin(async move {
        target.until_sent(20).await;
        forever().await;
    })
}

fn bodies(target: Target) -> Run {
    crowd(&target, 32, |target, number| async move {
        let chunked = "transfer-encoding: chunked\r\n";
        let bytes = match number % 4 {
            0 => messages::head("", "content-length: 800000000\r\n"),
            1 => [messages::head("", chunked), b"10000\r\n".to_vec(), vec![b' '; 0x1_0000], b"\r\n".to_vec()]
                .concat(),
            2 => [messages::head("", chunked), b"1;x=".to_vec(), vec![b'a'; 70_000]].concat(),
            _ => [
                messages::head("", chunked),
                b"0\r\n".to_vec(),
                b"x: yyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\r\n".repeat(2_000),
            ]
            .concat(),
        };
        if number % 4 != 1 {
            return attempt(&target, number, &bytes, &[413, 400, 431]).await;
        }
        // The same chunk over and over.
        let head = messages::head("", chunked);
        attempt_again(&target, number, &head, &bytes[head.len()..]).await
    });
    Box::pin(async move {
        target.until_sent(20).await;
        forever().await;
    })
}

/// Sends it, and has it refused.
async fn attempt(target: &Target, number: usize, bytes: &[u8], expected: &[u16]) -> io::Result<()> {
    let mut stream = target.connect(number).await?;
    super::super::sockets::reset_at_end(&stream);
    // What is too long may be refused before it has been taken whole.
    let _: io::Result<()> = stream.write_all(bytes).await;
    more(&target.counts.sent);
    expect(target, &mut stream, expected).await
}

async fn attempt_again(target: &Target, number: usize, head: &[u8], piece: &[u8]) -> io::Result<()> {
    let mut stream = target.connect(number).await?;
    super::super::sockets::reset_at_end(&stream);
    stream.write_all(head).await?;
    more(&target.counts.sent);
    // The server reads on for a while behind its answer, so that this is not lost to a reset, and drops what comes.
    for _ in 0..2_000 {
        if stream.write_all(piece).await.is_err() {
            more(&target.counts.refused);
            return Ok(());
        }
    }
    target.counts.fault("a body of 128 MB was taken");
    Ok(())
}

/// Reads a status line, where the connection has not been reset meanwhile.
async fn expect(target: &Target, stream: &mut tokio::net::TcpStream, expected: &[u16]) -> io::Result<()> {
    let mut room = [0; 256];
    let read = match stream.read(&mut room).await {
        Ok(read) => read,
        // It was refused so early that our bytes met a closed connection.
        Err(_) => {
            more(&target.counts.refused);
            return Ok(());
        }
    };
    let text = String::from_utf8_lossy(&room[..read]);
    let status: u16 = text.get(9..12).and_then(|status| status.parse().ok()).unwrap_or(0);
    if expected.contains(&status) || read == 0 {
        more(&target.counts.refused);
    } else {
        target.counts.fault(format!("{text:?} to an oversize request"));
    }
    Ok(())
}
