//! One address that wants everything. Loopback addresses have no limits of their own unless asked: here each stands for a machine.

use std::io;
use std::time::Duration;

use super::super::attacker::{Target, more};
use super::super::sockets::{drain, exchange, reset_at_end};
use super::super::{messages, sockets};
use super::{Attack, OPENING, Run, crowd, forever};

pub const ATTACKS: &[fn() -> Attack] = &[
    || {
        Attack::new("one peer's connections", "one address wants every place there is", connections)
            .flags(&["--limit-loopback", "--peer-connections", "100", "--connections", "1000"])
            .holds(100, "connections")
            .takes_refusals(500)
    },
    || {
        Attack::new("one peer's requests", "one address calls without end, over 64 connections", requests)
            .flags(&["--limit-loopback", "--peer-rate", "1000", "--peer-burst", "1000"])
            .sends(1_500.0)
            .takes_refusals(1_000)
    },
];

/// The address that all of it comes from.
const HOST: u8 = 2;

fn connections(target: Target) -> Run {
    crowd(&target, 1_500, |target, _| async move {
        let turn = OPENING.acquire().await.expect("it is never closed");
        let connected = sockets::connect_from(HOST, target.address).await;
        drop(turn);
        more(&target.counts.sent);
        let asked = match connected {
            Ok(mut stream) => {
                reset_at_end(&stream);
                exchange(&mut stream, &messages::ping(), &mut Vec::new()).await.map(|_| stream)
            }
            // It was ended as soon as it was there.
            Err(error) => Err(error),
        };
        let Ok(mut stream) = asked else {
            more(&target.counts.refused);
            tokio::time::sleep(Duration::from_millis(200)).await;
            return Ok(());
        };
        let _held = target.hold();
        drain(&mut stream).await;
        target.counts.fault("a connection within the limit was ended");
        Ok(())
    });
    Box::pin(async move {
        target.until_held(100).await;
        forever().await;
    })
}

fn requests(target: Target) -> Run {
    crowd(&target, 64, |target, _| async move {
        let mut stream = sockets::connect_from(HOST, target.address).await?;
        let request = messages::call(1, "add", r#"{"a":1,"b":2}"#);
        let mut buffer = Vec::new();
        loop {
            let answer = exchange(&mut stream, &request, &mut buffer).await?;
            more(&target.counts.sent);
            match (answer.status, answer.header("retry-after").is_some()) {
                (200, _) => more(&target.counts.answered),
                (429 | 503, true) => more(&target.counts.refused),
                (status, _) => target.counts.fault(format!("{status} to a call")),
            }
            if answer.header("connection") == Some("close") {
                return io::Result::Ok(());
            }
        }
    });
    Box::pin(async move {
        target.until_sent(1_000).await;
        forever().await;
    })
}
