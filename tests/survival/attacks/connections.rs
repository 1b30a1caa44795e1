//! Many connections, at rest and in a hurry, and descriptors that run out.

use std::time::Duration;

use super::super::attacker::{Target, more};
use super::super::messages;
use super::super::sockets::{exchange, reset_at_end};
use super::{Attack, Run, crowd, forever};

pub const ATTACKS: &[fn() -> Attack] = &[
    || {
        Attack::new("idle connections", "one ping each, then silence", idle)
            .flags(&["--connections", "16000"])
            .holds(15_000, "connections")
            .idles()
    },
    || {
        Attack::new(
            "churn at the limit",
            "connections opened, used once and reset, more than may be open",
            churn,
        )
        .flags(&["--connections", "64"])
        .keeps_newcomers_out()
        .sends(200.0)
    },
    || {
        Attack::new("full house", "idle connections on every place there is, and as many in the queue", full)
            .flags(&["--connections", "64"])
            .keeps_newcomers_out()
            .holds(128, "connections")
            .idles()
    },
    || {
        let attack =
            Attack::new("no descriptors", "more connections than the server has descriptors for", full);
        Attack { files: Some(64), ..attack }
            .flags(&["--log", "off"])
            .keeps_newcomers_out()
            .holds(128, "connections")
            .idles()
    },
];

const IDLE: u64 = 15_000;

fn idle(target: Target) -> Run {
    crowd(&target, IDLE as usize, |target, number| async move {
        let mut stream = target.connect(number).await?;
        exchange(&mut stream, &messages::ping(), &mut Vec::new()).await?;
        let _held = target.hold();
        more(&target.counts.sent);
        super::super::sockets::drain(&mut stream).await;
        target.counts.fault("an idle connection was ended");
        Ok(())
    });
    Box::pin(async move {
        target.until_held(IDLE).await;
        forever().await;
    })
}

fn churn(target: Target) -> Run {
    crowd(&target, 128, |target, number| async move {
        let mut stream = target.connect(number).await?;
        reset_at_end(&stream);
        exchange(&mut stream, &messages::ping(), &mut Vec::new()).await?;
        more(&target.counts.sent);
        Ok(())
    });
    Box::pin(async move {
        target.until_sent(100).await;
        forever().await;
    })
}

/// Connects, and asks; whether there is an answer is the server's business.
fn full(target: Target) -> Run {
    crowd(&target, 128, |target, number| async move {
        let mut stream = target.connect(number).await?;
        let _held = target.hold();
        let asked = exchange(&mut stream, &messages::ping(), &mut Vec::new()).await;
        if asked.is_ok() {
            more(&target.counts.answered);
            super::super::sockets::drain(&mut stream).await;
        }
        more(&target.counts.refused);
        Ok(())
    });
    Box::pin(async move {
        target.until_held(128).await;
        // Until every place is taken.
        tokio::time::sleep(Duration::from_millis(300)).await;
        forever().await;
    })
}
