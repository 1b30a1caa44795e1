//! Clients that go on until nobody listens any more, and count what became of every request.

use std::net::SocketAddr;
use std::thread::JoinHandle;

use bytes::Bytes;
use serde_json::json;

use super::client::{Client, Message, Outcome, call};

/// What became of the requests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    pub sent: u64,
    /// Answered with a result.
    pub served: u64,
    /// Answered with a refusal: the server drains.
    pub refused: u64,
    /// Not begun, as far as its client can tell.
    pub not_begun: u64,
    /// Answered in part.
    pub torn: u64,
    /// Answered with something that nobody has asked for.
    pub other: u64,
}

impl Tally {
    /// Counts an outcome, and says whether the connection goes on.
    fn count(&mut self, outcome: &Outcome) -> bool {
        match outcome {
            Outcome::Answered { status: 200, closes, .. } => {
                self.served += 1;
                return !closes;
            }
            Outcome::Answered { status: 503, closes, .. } => {
                self.refused += 1;
                return !closes;
            }
            Outcome::Answered { .. } => self.other += 1,
            Outcome::Nothing => self.not_begun += 1,
            Outcome::Torn(_) => self.torn += 1,
        }
        false
    }

    fn add(self, other: Self) -> Self {
        Self {
            sent: self.sent + other.sent,
            served: self.served + other.served,
            refused: self.refused + other.refused,
            not_begun: self.not_begun + other.not_begun,
            torn: self.torn + other.torn,
            other: self.other + other.other,
        }
    }
}

/// The clients at work.
pub struct Load(Vec<JoinHandle<Tally>>);

impl Load {
    /// Waits until all of them have nobody left to ask.
    pub fn join(self) -> Tally {
        self.0.into_iter().fold(Tally::default(), |all, client| all.add(client.join().expect("a client")))
    }
}

/// Starts clients of four kinds: one request after the other, four at a time, a connection for each, and many streams of HTTP/2.
pub fn start(address: SocketAddr) -> Load {
    let mut clients = Vec::new();
    for number in 0..8 {
        clients.push(std::thread::spawn(move || one_by_one(address, 1, number)));
        clients.push(std::thread::spawn(move || one_by_one(address, 4, number)));
        clients.push(std::thread::spawn(move || a_connection_each(address, number)));
    }
    clients.extend((0..2).map(|_| std::thread::spawn(move || http2(address))));
    Load(clients)
}

/// What is asked for: mostly what is quick, sometimes what takes a while.
fn message(number: u64) -> Message {
    if number % 7 == 3 {
        call("sleep", json!({"ms": number % 40}))
    } else {
        call("echo", json!({"message": "x"}))
    }
}

fn one_by_one(address: SocketAddr, at_once: u64, number: u64) -> Tally {
    let mut tally = Tally::default();
    while let Some(mut client) = Client::open(address) {
        loop {
            let messages: Vec<u8> = (0..at_once)
                .flat_map(|_| {
                    tally.sent += 1;
                    message(tally.sent + number).bytes()
                })
                .collect();
            client.send_bytes(&messages);
            let mut answered = 0;
            let mut goes_on = true;
            while goes_on && answered < at_once {
                goes_on = tally.count(&client.read());
                answered += 1;
            }
            // What stands behind an answer that closes is not begun.
            tally.not_begun += at_once - answered;
            if !goes_on {
                break;
            }
        }
    }
    tally
}

fn a_connection_each(address: SocketAddr, number: u64) -> Tally {
    let mut tally = Tally::default();
    while let Some(mut client) = Client::open(address) {
        tally.sent += 1;
        tally.count(&client.ask(&message(tally.sent + number)));
    }
    tally
}

fn http2(address: SocketAddr) -> Tally {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let mut tally = Tally::default();
        while let Ok(stream) = tokio::net::TcpStream::connect(address).await {
            let Ok((send, connection)) = h2::client::handshake(stream).await else { continue };
            let driver = tokio::spawn(async move {
                let _ = connection.await;
            });
            let mut streams = tokio::task::JoinSet::new();
            for number in 0..16 {
                streams.spawn(stream_after_stream(send.clone(), address, number));
            }
            drop(send);
            while let Some(streamed) = streams.join_next().await {
                tally = tally.add(streamed.expect("a stream"));
            }
            let _ = driver.await;
        }
        tally
    })
}

/// Asks until the connection takes no more.
async fn stream_after_stream(
    send: h2::client::SendRequest<Bytes>,
    address: SocketAddr,
    number: u64,
) -> Tally {
    let mut tally = Tally::default();
    loop {
        let Ok(mut ready) = send.clone().ready().await else { return tally };
        let (headers, body) = message(tally.sent + number).parts();
        let mut head = http::Request::post(format!("http://{address}/mcp"))
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream");
        for (name, value) in headers {
            head = head.header(name, value);
        }
        let Ok((response, mut stream)) = ready.send_request(head.body(()).expect("a head"), false) else {
            return tally;
        };
        tally.sent += 1;
        let _ = stream.send_data(Bytes::from(body), true);
        let answered = async {
            let response = response.await?;
            let status = response.status().as_u16();
            let mut incoming = response.into_body();
            while let Some(data) = incoming.data().await {
                let _ = incoming.flow_control().release_capacity(data?.len());
            }
            Ok::<_, h2::Error>(status)
        };
        match answered.await {
            Ok(200) => tally.served += 1,
            Ok(503) => tally.refused += 1,
            Ok(_) => tally.other += 1,
            // Whether it was begun shows in what the server counts.
            Err(_) => {
                tally.not_begun += 1;
                return tally;
            }
        }
    }
}
