//! JSON that is small to send and dear to read.

use tokio::io::AsyncWriteExt;

use super::super::attacker::{Target, more};
use super::super::messages::{self, call_body, modern_headers};
use super::super::sockets::{read_answer, session};
use super::{Attack, Run, crowd, forever};

/// What bodies and answers may take by default is more than the bound on memory: it is held to less, so that the bound can be seen.
const FLAGS: &[&str] = &["--body-memory", "8388608", "--answer-memory", "8388608", "--json-values", "100000"];

pub const ATTACKS: &[fn() -> Attack] = &[
    || {
        Attack::new("bomb: depth", "arrays in arrays, 100,000 deep, and to the end of 8 MB", depth)
            .flags(FLAGS)
            .sends(5.0)
    },
    || {
        Attack::new("bomb: digits", "one number of 8,000,000 digits, and 4,000,000 small ones", digits)
            .flags(FLAGS)
            .sends(5.0)
    },
    || {
        Attack::new("bomb: keys", "an object of 500,000 keys, and one that repeats a key as often", keys)
            .flags(FLAGS)
            .sends(5.0)
    },
    || {
        Attack::new("bomb: escapes", "320,000 escapes in one string of 2 MB, and said back", escapes)
            .flags(FLAGS)
            .sends(5.0)
    },
    || {
        Attack::new("bomb: batch", "batches of 1,000,000 elements in sessions of 2025-03-26", batch)
            .flags(FLAGS)
            .sends(5.0)
    },
];

/// How many clients send bombs at the same time.
const CLIENTS: usize = 8;

fn call_with(arguments: &str) -> Vec<u8> {
    messages::post(&modern_headers("tools/call", Some("echo")), &call_body(1, "echo", arguments))
}

fn depth(target: Target) -> Run {
    let deep = "[".repeat(100_000);
    let close = "]".repeat(100_000);
    throw(
        &target,
        [call_with(&format!(r#"{{"message":{deep}{close}}}"#)), messages::post("", &"[".repeat(7_900_000))],
    );
    go(target)
}

fn digits(target: Target) -> Run {
    let long = "9".repeat(7_900_000);
    let many = "1,".repeat(3_900_000);
    throw(
        &target,
        [call_with(&format!(r#"{{"message":{long}}}"#)), call_with(&format!(r#"{{"message":[{many}1]}}"#))],
    );
    go(target)
}

fn keys(target: Target) -> Run {
    let many: Vec<String> = (0..500_000).map(|number| format!(r#""k{number}":0"#)).collect();
    let same = vec![r#""message":"x""#; 500_000];
    throw(
        &target,
        [call_with(&format!("{{{}}}", many.join(","))), call_with(&format!("{{{}}}", same.join(",")))],
    );
    go(target)
}

fn escapes(target: Target) -> Run {
    let escapes = r"\u0001".repeat(320_000);
    let quotes = r#"\""#.repeat(960_000);
    throw(
        &target,
        [
            call_with(&format!(r#"{{"message":"{escapes}"}}"#)),
            call_with(&format!(r#"{{"message":"{quotes}"}}"#)),
        ],
    );
    go(target)
}

/// Sends both again and again.
fn throw(target: &Target, bombs: [Vec<u8>; 2]) {
    let bombs = bombs.map(|bomb| -> &'static [u8] { Box::leak(bomb.into_boxed_slice()) });
    crowd(target, CLIENTS, move |target, number| async move {
        let mut stream = target.connect(number).await?;
        let mut buffer = Vec::new();
        for bomb in [bombs[number % 2], bombs[(number + 1) % 2]] {
            more(&target.counts.sent);
            let answer = match stream.write_all(bomb).await {
                Ok(()) => read_answer(&mut stream, &mut buffer).await,
                Err(error) => Err(error),
            };
            match answer {
                Ok(answer) if matches!(answer.status, 200 | 400 | 413 | 503) => more(&target.counts.answered),
                Ok(answer) => target.counts.fault(format!("{} to a bomb", answer.status)),
                Err(error) => {
                    more(&target.counts.refused);
                    return Err(error);
                }
            }
        }
        Ok(())
    });
}

fn batch(target: Target) -> Run {
    let many = "0,".repeat(1_000_000);
    let pings = format!("{},", messages::PING).repeat(150_000);
    let bodies: [&'static str; 2] = [format!("[{many}0]").leak(), format!("[{pings}0]").leak()];
    crowd(&target, CLIENTS, move |target, number| async move {
        let mut stream = target.connect(number).await?;
        let Some(id) = session(&mut stream, "2025-03-26").await? else { return Ok(()) };
        let mut buffer = Vec::new();
        for body in bodies {
            more(&target.counts.sent);
            stream.write_all(&messages::in_session(&id, body)).await?;
            let answer = read_answer(&mut stream, &mut buffer).await?;
            if !matches!(answer.status, 400 | 503) {
                target.counts.fault(format!("{} to a batch of a million", answer.status));
            }
            more(&target.counts.answered);
            if answer.header("connection") == Some("close") {
                return Ok(());
            }
        }
        Ok(())
    });
    go(target)
}

fn go(target: Target) -> Run {
    Box::pin(async move {
        target.until_sent(CLIENTS as u64).await;
        forever().await;
    })
}
