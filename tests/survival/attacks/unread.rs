//! Clients that ask and do not read.

use tokio::io::AsyncWriteExt;

use super::super::attacker::{Target, more};
use super::super::{messages, sockets};
use super::{Attack, OPENING, Run, crowd, forever};

/// By default they may take more than the bound on memory.
const FLAGS: &[&str] = &["--answer-memory", "8388608", "--body-memory", "8388608"];

pub const ATTACKS: &[fn() -> Attack] = &[
    || {
        Attack::new("unread answers", "answers of 60 kB, asked for again and again, and never read", answers)
            .flags(FLAGS)
            .holds(1_000, "connections")
    },
    || {
        Attack::new("unread long answers", "answers of 4 MB that are never read", long_answers)
            .flags(FLAGS)
            .holds(80, "connections")
    },
    || {
        Attack::new("unread streams", "calls that report progress 500 times a second to nobody", streams)
            .holds(500, "connections")
    },
];

fn answers(target: Target) -> Run {
    ask(&target, 1_500, 60_000, 4);
    Box::pin(async move {
        target.until_held(1_500).await;
        forever().await;
    })
}

fn long_answers(target: Target) -> Run {
    ask(&target, 100, 4_000_000, 1);
    Box::pin(async move {
        target.until_held(80).await;
        forever().await;
    })
}

/// Has so many clients ask for echoes of this length, and read nothing.
fn ask(target: &Target, count: usize, length: usize, times: usize) {
    let message = "a".repeat(length);
    let request = messages::call(1, "echo", &format!(r#"{{"message":"{message}"}}"#));
    let request: &'static [u8] = Box::leak(request.into_boxed_slice());
    crowd(target, count, move |target, number| async move {
        let turn = OPENING.acquire().await.expect("it is never closed");
        let mut stream = sockets::connect_narrow(2 + (number % 8) as u8, target.address).await?;
        drop(turn);
        let _held = target.hold();
        for _ in 0..times {
            if let Err(error) = stream.write_all(request).await {
                more(&target.counts.refused);
                return Err(error);
            }
            more(&target.counts.sent);
        }
        // The other end may be closed, but nothing is read.
        forever().await;
        Ok(())
    });
}

fn streams(target: Target) -> Run {
    crowd(&target, 500, |target, number| async move {
        let turn = OPENING.acquire().await.expect("it is never closed");
        let mut stream = sockets::connect_narrow(2 + (number % 8) as u8, target.address).await?;
        drop(turn);
        stream.write_all(&messages::call_with_progress("sleep", r#"{"ms":60000,"steps":1000}"#)).await?;
        let _held = target.hold();
        more(&target.counts.sent);
        forever().await;
        Ok(())
    });
    Box::pin(async move {
        target.until_held(500).await;
        forever().await;
    })
}
