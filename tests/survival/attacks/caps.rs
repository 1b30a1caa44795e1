//! What is counted, at its cap and beyond.

use std::io;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::super::attacker::{Target, more};
use super::super::messages;
use super::super::sockets::{drain, exchange, session};
use super::{Attack, Run, crowd, forever};

pub const ATTACKS: &[fn() -> Attack] = &[
    || {
        Attack::new(
            "sessions at their cap",
            "initialize, again and again, where no session is left",
            sessions_at_cap,
        )
        .flags(&["--sessions", "1000"])
        .sends(500.0)
        .takes_refusals(500)
    },
    || {
        Attack::new("sessions", "sessions opened and left, within the default cap", sessions)
            .holds(5_000, "sessions")
            .sends(500.0)
    },
    || {
        Attack::new(
            "GET streams",
            "event streams opened beyond what their sessions may have, so that older ones end",
            get_streams,
        )
        .sends(200.0)
        .takes_refusals(100)
    },
    || {
        Attack::new("listeners at their cap", "subscriptions/listen beyond the cap", listeners)
            .flags(&["--listeners", "1000"])
            .holds(1_000, "listeners")
            .sends(200.0)
            .takes_refusals(200)
    },
    || {
        Attack::new("tasks at their cap", "calls that become tasks nobody asks after, beyond the cap", tasks)
            .flags(&["--tasks", "1000"])
            .sends(500.0)
    },
    || {
        Attack::new("replay", "calls of sessions whose events are never fetched", replay)
            .flags(&["--replay-memory", "16777216"])
            .sends(100.0)
    },
];

fn sent_first(target: Target, sent: u64) -> Run {
    Box::pin(async move {
        target.until_sent(sent).await;
        forever().await;
    })
}

fn sessions_at_cap(target: Target) -> Run {
    crowd(&target, 32, |target, number| async move {
        let mut stream = target.connect(number).await?;
        let mut buffer = Vec::new();
        loop {
            let answer = exchange(&mut stream, &messages::initialize("2025-11-25"), &mut buffer).await?;
            more(&target.counts.sent);
            match (answer.status, answer.header("retry-after").is_some()) {
                (200, _) => more(&target.counts.answered),
                (503, true) => more(&target.counts.refused),
                (status, _) => target.counts.fault(format!("{status} to initialize")),
            }
        }
    });
    sent_first(target, 1_500)
}

fn sessions(target: Target) -> Run {
    crowd(&target, 32, |target, number| async move {
        let mut stream = target.connect(number).await?;
        while session(&mut stream, "2025-11-25").await?.is_some() {
            more(&target.counts.sent);
            more(&target.counts.held);
        }
        target.counts.fault("no session was opened");
        Ok(())
    });
    sent_first(target, 5_000)
}

/// Opens eight streams of one session after the other, where four may be: the older ones end.
fn get_streams(target: Target) -> Run {
    crowd(&target, 64, |target, number| async move {
        let mut stream = target.connect(number).await?;
        let Some(id) = session(&mut stream, "2025-11-25").await? else { return Ok(()) };
        let mut open = tokio::task::JoinSet::new();
        for _ in 0..8 {
            let mut stream = target.connect(number).await?;
            stream.write_all(&messages::get(&id)).await?;
            until(&mut stream, b"id: ").await?;
            more(&target.counts.sent);
            let counts = target.clone();
            open.spawn(async move {
                let _held = counts.hold();
                until(&mut stream, b"0\r\n\r\n").await?;
                more(&counts.counts.refused);
                io::Result::Ok(())
            });
        }
        Ok(())
    });
    sent_first(target, 200)
}

fn listeners(target: Target) -> Run {
    crowd(&target, 1_100, |target, number| async move {
        let mut stream = target.connect(number).await?;
        loop {
            stream.write_all(&messages::listen()).await?;
            more(&target.counts.sent);
            let mut room = [0; 4096];
            let read = stream.read(&mut room).await?;
            let text = String::from_utf8_lossy(&room[..read]).into_owned();
            if text.contains("text/event-stream") {
                let _held = target.hold();
                drain(&mut stream).await;
                return Ok(());
            }
            if !text.contains("\"error\"") {
                target.counts.fault(format!("{text:?} to a listener"));
            }
            more(&target.counts.refused);
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
    });
    Box::pin(async move {
        target.until_held(1_000).await;
        forever().await;
    })
}

/// Tasks that run on for ten minutes. Where there is no more room a call runs inline: it is given up.
fn tasks(target: Target) -> Run {
    crowd(&target, 64, |target, number| async move {
        let mut stream = target.connect(number).await?;
        super::super::sockets::reset_at_end(&stream);
        let request = messages::task(r#"{"ms":600000}"#);
        let mut buffer = Vec::new();
        loop {
            more(&target.counts.sent);
            let asked = exchange(&mut stream, &request, &mut buffer);
            match tokio::time::timeout(std::time::Duration::from_millis(50), asked).await {
                Ok(answer) => match answer?.status {
                    200 => more(&target.counts.answered),
                    status => target.counts.fault(format!("{status} to a task")),
                },
                Err(_) => {
                    more(&target.counts.refused);
                    return Ok(());
                }
            }
        }
    });
    sent_first(target, 1_500)
}

/// Calls whose events are kept, of many sessions, with connections that are gone before their streams are read.
fn replay(target: Target) -> Run {
    crowd(&target, 64, |target, number| async move {
        let mut stream = target.connect(number).await?;
        let Some(id) = session(&mut stream, "2025-11-25").await? else { return Ok(()) };
        let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"sleep","arguments":{"ms":1,"steps":50},"_meta":{"progressToken":"p"}}}"#;
        let request = messages::in_session(&id, body);
        for _ in 0..50 {
            stream.write_all(&request).await?;
            until(&mut stream, b"0\r\n\r\n").await?;
            more(&target.counts.sent);
        }
        Ok(())
    });
    sent_first(target, 500)
}

/// Reads until these bytes have come.
async fn until(stream: &mut TcpStream, end: &[u8]) -> io::Result<()> {
    let mut text = Vec::new();
    while !text.windows(end.len()).any(|window| window == end) {
        if stream.read_buf(&mut text).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    Ok(())
}
