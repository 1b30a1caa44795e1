//! What a server sends on HTTP/2 (RFC 9113), read strictly: what is not right panics.

use std::collections::{BTreeMap, VecDeque};

use super::hpack::Decoder;
use crate::response::Response;

pub const DATA: u8 = 0;
pub const HEADERS: u8 = 1;
pub const PRIORITY: u8 = 2;
pub const RST_STREAM: u8 = 3;
pub const SETTINGS: u8 = 4;
pub const PUSH_PROMISE: u8 = 5;
pub const PING: u8 = 6;
pub const GOAWAY: u8 = 7;
pub const WINDOW_UPDATE: u8 = 8;
pub const CONTINUATION: u8 = 9;

pub const END_STREAM: u8 = 1;
pub const ACK: u8 = 1;
pub const END_HEADERS: u8 = 4;
pub const PADDED: u8 = 8;

/// What every window is until something else is said.
pub const WINDOW: i64 = 65_535;
/// The largest frame that we take, as long as we do not say otherwise.
pub const FRAME: usize = 16_384;

pub fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut frame = (payload.len() as u32).to_be_bytes()[1..].to_vec();
    frame.extend_from_slice(&[kind, flags]);
    frame.extend_from_slice(&stream.to_be_bytes());
    frame.extend_from_slice(payload);
    frame
}

/// A stream as far as the server has come with it.
#[derive(Debug)]
pub struct Heard {
    /// What it may still send.
    window: i64,
    /// The final head has come, and then as much of the body.
    pub response: Option<Response>,
    /// The answer is whole.
    pub ended: bool,
    /// The server has reset it, with this code.
    pub reset: Option<u32>,
    /// We have reset it.
    pub left: bool,
    /// It asked with HEAD.
    pub head: bool,
}

/// A change of our settings that the server has not acknowledged: the window that streams begin with, and the header table.
#[derive(Debug)]
struct Said {
    window: Option<i64>,
    table: Option<usize>,
}

/// Reads along.
#[derive(Debug)]
pub struct Watch {
    buffer: Vec<u8>,
    decoder: Decoder,
    /// The header block that is being sent: its stream, whether that ends with it.
    block: Option<(u32, bool, Vec<u8>)>,
    frames: usize,
    pub streams: BTreeMap<u32, Heard>,
    /// What the server may still send on all streams.
    window: i64,
    /// The window that streams begin with.
    initial: i64,
    said: VecDeque<Said>,
    pings: VecDeque<[u8; 8]>,
    /// The server's settings: streams at once, and the window of each.
    pub max_streams: usize,
    pub stream_window: i64,
    /// What the server has given to us since it was looked at: by stream, 0 for all together.
    pub given: Vec<(u32, i64)>,
    /// Bytes that came since we looked: by stream.
    pub taken: Vec<(u32, i64)>,
    /// The last stream that will be served, and the error.
    pub parting: Option<(u32, u32)>,
    /// Frames that are to be sent back: acknowledgements.
    pub due: Vec<u8>,
    /// Nobody knows any more what the server has been sent.
    pub wild: bool,
}

impl Default for Watch {
    fn default() -> Self {
        Self {
            buffer: Vec::new(),
            decoder: Decoder::default(),
            block: None,
            frames: 0,
            streams: BTreeMap::new(),
            window: WINDOW,
            initial: WINDOW,
            said: VecDeque::new(),
            pings: VecDeque::new(),
            // Until it says otherwise: it may refuse more already.
            max_streams: 1,
            stream_window: WINDOW,
            given: Vec::new(),
            taken: Vec::new(),
            parting: None,
            due: Vec::new(),
            wild: false,
        }
    }
}

impl Watch {
    /// We open a stream.
    pub fn opens(&mut self, stream: u32, head: bool) {
        let heard =
            Heard { window: self.initial, response: None, ended: false, reset: None, left: false, head };
        self.streams.entry(stream).or_insert(heard);
    }

    /// We say how large the window of each stream and the header table are to be. What grows does so at once, as the server may know it
    /// before we hear that it does.
    pub fn says(&mut self, window: Option<u32>, table: Option<u32>) {
        let window = window.map(i64::from);
        if let Some(more) = window.filter(|&window| window > self.initial) {
            self.set_initial(more);
        }
        let table = table.map(|table| table as usize);
        self.decoder.most = self.decoder.most.max(table.unwrap_or(0));
        self.said.push_back(Said { window, table });
    }

    fn set_initial(&mut self, window: i64) {
        let more = window - self.initial;
        self.streams.values_mut().for_each(|heard| heard.window += more);
        self.initial = window;
    }

    /// We give it room; not more than a window can be.
    pub fn gives(&mut self, stream: u32, bytes: i64) {
        match self.streams.get_mut(&stream) {
            Some(heard) => heard.window += bytes,
            None if stream == 0 => self.window += bytes,
            None => {}
        }
    }

    /// Whether so much more room overflows a window.
    pub fn overflows(&self, stream: u32, bytes: i64) -> bool {
        let most = self.said.iter().filter_map(|said| said.window).max().unwrap_or(0);
        let window = match self.streams.get(&stream) {
            Some(heard) => heard.window + (most - self.initial).max(0),
            None => self.window,
        };
        window + bytes > i64::from(i32::MAX)
    }

    /// What there is for the server to send into.
    pub fn room(&self, stream: u32) -> i64 {
        self.streams.get(&stream).map_or(self.window, |heard| heard.window)
    }

    pub fn pings(&mut self, payload: [u8; 8]) {
        self.pings.push_back(payload);
    }

    /// Nothing that was asked for is missing.
    pub fn settled(&self) {
        assert!(self.said.is_empty(), "{} settings are not acknowledged", self.said.len());
        assert!(self.pings.is_empty(), "{} pings are not answered", self.pings.len());
    }

    /// The connection has ended.
    pub fn ends(&self) {
        assert!(self.buffer.is_empty(), "half a frame at the end: {}", self.buffer.escape_ascii());
        assert!(self.block.is_none(), "half a header block at the end");
    }

    /// Takes what has come.
    pub fn read(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
        let mut rest = &std::mem::take(&mut self.buffer)[..];
        while let Some((&head, tail)) = rest.split_first_chunk::<9>() {
            let [high, middle, low, kind, flags, stream @ ..] = head;
            let length = usize::from(high) << 16 | usize::from(middle) << 8 | usize::from(low);
            assert!(length <= FRAME, "a frame of {length} bytes");
            let Some((payload, tail)) = tail.split_at_checked(length) else { break };
            rest = tail;
            let stream = u32::from_be_bytes(stream);
            assert_eq!(stream >> 31, 0, "the reserved bit");
            self.frame(kind, flags, stream, payload);
            self.frames += 1;
        }
        self.buffer = rest.to_vec();
    }

    fn frame(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
        assert!(self.frames > 0 || (kind, flags) == (SETTINGS, 0), "the first frame is {kind}");
        assert_eq!(self.block.is_some(), kind == CONTINUATION, "{kind} between the frames of a block");
        let alone = [SETTINGS, PING, GOAWAY].contains(&kind);
        assert!(alone == (stream == 0) || kind == WINDOW_UPDATE, "{kind} on stream {stream}");
        let failed = self.parting.is_some_and(|(_, error)| error != 0);
        match kind {
            DATA | HEADERS | CONTINUATION => {
                assert!(!failed, "an answer behind the end");
                assert_eq!(flags & (PADDED | 0x20), 0, "padding, or a priority");
                if kind == DATA {
                    self.data(flags, stream, payload)
                } else {
                    self.head(kind, flags, stream, payload)
                }
            }
            RST_STREAM => {
                let code = u32::from_be_bytes(payload.try_into().expect("a code"));
                let heard = self.stream(stream);
                heard.reset = heard.reset.or(Some(code));
            }
            SETTINGS => self.settings(flags, payload),
            PING => self.ping(flags, payload.try_into().expect("eight bytes")),
            GOAWAY => self.goaway(payload),
            WINDOW_UPDATE => {
                let more = i64::from(u32::from_be_bytes(payload.try_into().expect("four bytes")));
                assert!(more > 0 && more <= i64::from(i32::MAX), "{more} more");
                if stream != 0 {
                    self.stream(stream);
                }
                self.given.push((stream, more));
            }
            _ => panic!("a frame of the kind {kind}"),
        }
    }

    fn stream(&mut self, stream: u32) -> &mut Heard {
        if self.wild {
            self.opens(stream, false);
        }
        self.streams.get_mut(&stream).unwrap_or_else(|| panic!("stream {stream} was not opened"))
    }

    fn data(&mut self, flags: u8, stream: u32, payload: &[u8]) {
        let (len, wild) = (payload.len() as i64, self.wild);
        self.window -= len;
        assert!(wild || self.window >= 0, "the connection's window is exceeded");
        let heard = self.stream(stream);
        heard.window -= len;
        assert!(wild || heard.window >= 0 || len == 0, "the window of {stream} is exceeded");
        heard.more("data");
        let response = heard.response.as_mut().expect("data before the head");
        response.body.extend_from_slice(payload);
        if flags & END_STREAM != 0 {
            heard.end(wild);
        }
        self.taken.push((stream, len));
    }

    fn head(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
        let block = self.block.get_or_insert((stream, flags & END_STREAM != 0, Vec::new()));
        assert_eq!(block.0, stream, "a block of another stream's");
        assert!(kind == HEADERS || flags & !END_HEADERS == 0);
        block.2.extend_from_slice(payload);
        if flags & END_HEADERS == 0 {
            return;
        }
        let (stream, end, block) = self.block.take().expect("it is there");
        let fields = self.decoder.decode(&block);
        let wild = self.wild;
        let heard = self.stream(stream);
        heard.more("a head");
        assert!(heard.response.is_none(), "a second answer on {stream}");
        let response = response(fields);
        if response.status >= 200 {
            heard.response = Some(response);
            if end {
                heard.end(wild);
            }
        } else {
            assert!(response.status == 100 && response.fields.is_empty() && !end, "{response:?}");
        }
    }

    fn settings(&mut self, flags: u8, payload: &[u8]) {
        if flags & ACK != 0 {
            assert!(payload.is_empty());
            let Some(said) = self.said.pop_front() else {
                assert!(self.wild, "settings are acknowledged that were not sent");
                return;
            };
            // It may not be the last word.
            if let Some(window) = said.window {
                let later = self.said.iter().filter_map(|said| said.window).max().unwrap_or(0);
                self.set_initial(window.max(later));
            }
            if let Some(table) = said.table {
                let later = self.said.iter().filter_map(|said| said.table).max().unwrap_or(0);
                self.decoder.most = table.max(later);
            }
            return;
        }
        assert_eq!(payload.len() % 6, 0);
        for setting in payload.chunks(6) {
            let value = u32::from_be_bytes([setting[2], setting[3], setting[4], setting[5]]);
            match u16::from_be_bytes([setting[0], setting[1]]) {
                3 => self.max_streams = value as usize,
                4 => {
                    assert!(value <= i32::MAX as u32);
                    self.stream_window = value.into();
                }
                5 => assert!((FRAME as u32..1 << 24).contains(&value)),
                1 | 6 => {}
                2 | 8 => assert!(value <= 1),
                other => panic!("a setting {other}"),
            }
        }
        self.due.extend(frame(SETTINGS, ACK, 0, &[]));
    }

    fn ping(&mut self, flags: u8, payload: [u8; 8]) {
        if flags & ACK == 0 {
            self.due.extend(frame(PING, ACK, 0, &payload));
            return;
        }
        match self.pings.iter().position(|sent| *sent == payload) {
            Some(at) => drop(self.pings.remove(at)),
            None => assert!(self.wild, "a ping is answered that was not sent"),
        }
    }

    fn goaway(&mut self, payload: &[u8]) {
        let (last, rest) = payload.split_first_chunk().expect("a stream");
        let (error, _) = rest.split_first_chunk().expect("an error");
        let (last, error) = (u32::from_be_bytes(*last), u32::from_be_bytes(*error));
        assert!(last >> 31 == 0);
        assert!(self.parting.is_none_or(|(before, _)| last <= before), "it serves more than it said before");
        self.parting = Some((last, error));
    }
}

impl Heard {
    /// Nothing more comes for it.
    pub fn over(&self) -> bool {
        self.ended || self.reset.is_some()
    }

    /// Something more comes for it.
    fn more(&self, what: &str) {
        assert!(!self.ended, "{what} behind the end of the answer");
        assert!(self.reset.is_none(), "{what} behind a reset");
    }

    fn end(&mut self, wild: bool) {
        self.ended = true;
        let response = self.response.as_mut().expect("it ends with a head or behind one");
        if let Some(length) = response.field("content-length") {
            let length: usize = length.parse().expect("digits");
            // What nobody knows to have been asked may have been HEAD.
            response.head_only = self.head || wild && response.body.is_empty();
            assert_eq!(response.body.len(), if response.head_only { 0 } else { length }, "{response:?}");
        }
    }
}

fn response(fields: Vec<(Vec<u8>, Vec<u8>)>) -> Response {
    let mut fields = fields.into_iter().map(|(name, value)| {
        let text = |bytes| String::from_utf8(bytes).expect("our own words");
        (text(name), text(value))
    });
    let (name, status) = fields.next().expect("a status");
    assert!(name == ":status" && status.len() == 3, "{name}: {status}");
    let status = status.parse().expect("digits");
    let mut kept = Vec::new();
    let mut dates = 0;
    for (name, value) in fields {
        assert!(!name.starts_with(':') && name == name.to_ascii_lowercase(), "{name}");
        assert!(!["connection", "keep-alive", "transfer-encoding", "upgrade"].contains(&&name[..]), "{name}");
        assert!(!value.contains(['\r', '\n', '\0']) && value.trim() == value, "{name}: {value:?}");
        if name == "date" {
            dates += 1;
        } else {
            kept.push((name, value));
        }
    }
    assert_eq!(dates, usize::from(status >= 200), "every final answer is dated");
    Response { status, fields: kept, body: Vec::new(), head_only: false }
}
