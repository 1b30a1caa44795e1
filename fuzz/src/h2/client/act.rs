//! What each step of a script does, and whether it is right.

use super::*;
use crate::h2::watch::{
    ACK, CONTINUATION, DATA, END_HEADERS, HEADERS, PING, PRIORITY, PUSH_PROMISE, SETTINGS,
};

impl Client<'_> {
    pub(super) async fn act(&mut self, act: &Act, cut: u8) {
        match act {
            Act::Ask(ask) => self.ask(ask, None, true, cut).await,
            Act::Begin(ask) => self.ask(ask, None, false, cut).await,
            Act::Spoiled(ask, spoil) => self.ask(ask, Some(*spoil), true, cut).await,
            Act::Body { stream, len, pad } => self.body(*stream, *len, *pad, cut).await,
            Act::Trailers { stream, form } => self.trailers(*stream, *form, cut).await,
            Act::Wait(time) => self.wait(Duration::from_millis(u64::from(*time) * 62)).await,
            Act::Settle => self.settle().await,
            Act::Mood(mood) => {
                self.set_mood([Mood::Generous, Mood::Reads, Mood::Deaf][usize::from(mood % 3)]);
            }
            Act::Room { stream, bytes } => self.room(*stream, *bytes, cut).await,
            Act::Ping(payload) => {
                self.shared.watch.borrow_mut().pings([*payload; 8]);
                self.send(&frame(PING, 0, 0, &[*payload; 8]), cut).await;
            }
            Act::Settings { window, table, other } => {
                self.settings(window.map(u32::from), table.map(u32::from), *other, cut).await;
            }
            Act::Priority { stream, on, weight } => {
                let [stream, on] = [stream, on].map(|at| u32::from(at % 16) * 2 + 1);
                if stream == on {
                    // `h2` resets a stream then that may not be open at all.
                    self.go_wild();
                }
                let payload = [&on.to_be_bytes()[..], &[*weight]].concat();
                self.send(&frame(PRIORITY, 0, stream, &payload), cut).await;
            }
            Act::Reset { stream, code } => self.reset(*stream, *code, cut).await,
            Act::Unknown { kind, flags, stream, len } => {
                let payload = vec![*flags; usize::from(*len)];
                self.send(&frame(kind | 16, *flags, u32::from(*stream), &payload), cut).await;
            }
            Act::Leave => {
                self.late = true;
                self.send(&frame(GOAWAY, 0, 0, &[0; 8]), cut).await;
            }
            Act::Flood { kind, times } => self.flood(*kind, *times, cut).await,
            Act::Frame { kind, flags, stream, payload } => {
                self.go_wild();
                self.send(&frame(*kind, *flags, (*stream).into(), payload), cut).await;
            }
            Act::Damaged { ask, at, byte } => self.damaged(ask, *at, *byte, cut).await,
            Act::Bytes(bytes) => {
                self.go_wild();
                self.send(bytes, cut).await;
            }
            Act::Drain(0) => self.drain().await,
            Act::Drain(_) => {}
        }
        self.look(self.mood() == Mood::Generous).await;
    }

    /// Nobody knows from here on what the server takes it for.
    fn go_wild(&mut self) {
        self.foul = true;
        self.shared.watch.borrow_mut().wild = true;
    }

    /// The call on a stream: 0 is the newest.
    fn pick(&self, at: u8) -> Option<u32> {
        let count = self.calls.len();
        self.calls.keys().rev().nth(usize::from(at) % count.max(1)).copied()
    }

    async fn ask(&mut self, ask: &Ask, spoil: Option<Spoil>, whole: bool, cut: u8) {
        let auth = self.expected.options.auth;
        let asked = asked(ask.which, &self.sessions, auth);
        let fields = write::fields(&asked, ask, spoil);
        let expect = match spoil {
            // `h2` forgets that a field was wrong when its frame ends within another one, and takes what follows a frame whose fields are
            // wrong for a frame that nobody waits for.
            Some(_) if ask.split > 0 => Expect::Anything,
            Some(spoil) if refused(spoil, &asked, ask) => Expect::Refusal,
            Some(_) => Expect::Anything,
            None if asked.endless || self.service.stop().phase() != Phase::Running => Expect::Anything,
            None => Expect::Answer(self.expected.answer(ask.which).await),
        };
        // What is no name or value at all is a fault of the connection to `h2`.
        // Who has been told to go opens nothing more.
        self.foul |= self.shared.watch.borrow().parting.is_some();
        self.foul |= spoil.is_some() && ask.split > 0;
        self.foul |=
            matches!(spoil, Some(Spoil::Unknown | Spoil::Upper | Spoil::Space | Spoil::LineBreak(_)));
        let stream = self.next;
        self.next += 2;
        let block = write::block(&mut self.encoder, &fields, ask);
        let empty = asked.body.is_empty();
        let mut out = write::head(stream, &block, empty, ask);
        let owed = self.owes() && !asked.endless && !matches!(expect, Expect::Anything);
        let window = {
            let mut watch = self.shared.watch.borrow_mut();
            watch.opens(stream, asked.method == "HEAD");
            watch.stream_window
        };
        let call = Call {
            expect,
            owed,
            body: asked.body.into_bytes(),
            sent: empty,
            late: false,
            begun: Instant::now(),
            window,
            ask: Ask { which: ask.which, forms: ask.forms, split: ask.split, shape: ask.shape },
            judged: false,
        };
        self.calls.insert(stream, call);
        if whole && !empty {
            out.extend(self.more(stream, usize::MAX, true));
        }
        self.calls.get_mut(&stream).expect("it was put there").owed &= whole || empty;
        self.send(&out, cut).await;
    }

    /// More of a body, as far as there is room: `end` ends it.
    fn more(&mut self, stream: u32, len: usize, end: bool) -> Vec<u8> {
        let call = self.calls.get_mut(&stream).expect("it is there");
        let len = len.min(call.body.len());
        let end = end && len == call.body.len();
        let (out, taken) = write::body(stream, &call.body[..len], end, &call.ask);
        if taken > call.window.min(self.window) {
            call.owed = false;
            return Vec::new();
        }
        call.window -= taken;
        self.window -= taken;
        call.body.drain(..len);
        call.sent = end;
        out
    }

    /// The call whose body is not whole, if nothing stands against sending more of it.
    fn unsent(&self, at: u8) -> Option<u32> {
        let stream = self.pick(at)?;
        let heard = &self.shared.watch.borrow().streams[&stream];
        (!self.calls[&stream].sent && heard.reset.is_none() && !heard.left).then_some(stream)
    }

    /// Whether a body that is whole now has come in time.
    fn complete(&mut self, stream: u32) {
        let owed = self.owes();
        let call = self.calls.get_mut(&stream).expect("it is there");
        let fit = !matches!(call.expect, Expect::Anything);
        call.late |= call.begun.elapsed() >= LEAN;
        call.owed = call.sent && owed && fit && !call.late;
    }

    async fn body(&mut self, at: u8, len: u8, pad: u8, cut: u8) {
        let Some(stream) = self.unsent(at) else { return };
        let call = self.calls.get_mut(&stream).expect("it is there");
        call.ask.split = pad;
        let (len, end) = if len == 255 { (usize::MAX, true) } else { (len.into(), false) };
        let out = self.more(stream, len, end);
        self.complete(stream);
        self.send(&out, cut).await;
    }

    async fn trailers(&mut self, at: u8, form: u8, cut: u8) {
        let Some(stream) = self.unsent(at) else { return };
        let mut out = self.more(stream, usize::MAX, false);
        let call = self.calls.get_mut(&stream).expect("it is there");
        if !call.body.is_empty() {
            return;
        }
        call.sent = true;
        let ask = Ask { which: 0, forms: [form; 4], split: form, shape: 0 };
        let fields =
            [(b"x-sum".to_vec(), vec![b'7'; usize::from(form)]), (b"grpc-status".to_vec(), b"0".to_vec())];
        let block = write::block(&mut self.encoder, &fields, &Ask { forms: [form & 127; 4], ..ask });
        out.extend(write::head(
            stream,
            &block,
            true,
            &Ask { which: 0, forms: [0; 4], split: form, shape: 0 },
        ));
        self.complete(stream);
        self.send(&out, cut).await;
    }

    async fn room(&mut self, at: u8, bytes: u16, cut: u8) {
        let stream = if at == 255 { 0 } else { self.pick(at).unwrap_or(0) };
        let more = if bytes == u16::MAX { i32::MAX as u32 } else { bytes.into() };
        {
            let mut watch = self.shared.watch.borrow_mut();
            self.foul |= more == 0 || watch.overflows(stream, more.into());
            watch.gives(stream, more.into());
        }
        self.send(&frame(watch::WINDOW_UPDATE, 0, stream, &more.to_be_bytes()), cut).await;
    }

    pub(super) async fn settings(
        &mut self,
        window: Option<u32>,
        table: Option<u32>,
        other: Option<(u16, u8)>,
        cut: u8,
    ) {
        let mut payload = Vec::new();
        let mut put = |id: u16, value: u32| {
            payload.extend_from_slice(&id.to_be_bytes());
            payload.extend_from_slice(&value.to_be_bytes());
        };
        window.into_iter().for_each(|window| put(4, window));
        table.into_iter().for_each(|table| put(1, table));
        if let Some((id, value)) = other {
            let id = if id >= 256 { id } else { id % 12 };
            let known = [1, 4].contains(&id);
            self.foul |= known || id == 8 || id == 5 || id == 2 && value > 1;
            if !known {
                put(id, value.into());
            }
        }
        {
            let mut watch = self.shared.watch.borrow_mut();
            watch.says(window, table);
        }
        self.send(&frame(SETTINGS, 0, 0, &payload), cut).await;
    }

    async fn reset(&mut self, at: u8, code: u8, cut: u8) {
        let Some(stream) = self.pick(at) else { return };
        // More than a few at once are a flood to `h2`.
        self.resets += 1;
        self.foul |= self.resets > 15;
        self.shared.watch.borrow_mut().streams.get_mut(&stream).expect("it is open").left = true;
        self.send(&frame(RST_STREAM, 0, stream, &u32::from(code).to_be_bytes()), cut).await;
        self.calls.get_mut(&stream).expect("it is open").owed = false;
    }

    async fn flood(&mut self, kind: u8, times: u16, cut: u8) {
        self.go_wild();
        let stream = self.next;
        let mut out = Vec::new();
        if [2, 3, 4].contains(&(kind % 12)) {
            let get = Ask { which: 10, forms: [0; 4], split: 0, shape: 0 };
            let fields = write::fields(&asked(10, &self.sessions, false), &get, None);
            let block = write::block(&mut self.encoder, &fields, &get);
            let flags = if kind % 12 == 3 { 0 } else { END_HEADERS };
            out.extend(frame(HEADERS, flags, stream, &block));
            self.next += 2;
        }
        for at in 0..u32::from(times % 1_500) {
            match kind % 12 {
                0 => out.extend(frame(PING, 0, 0, &[9; 8])),
                1 => out.extend(frame(SETTINGS, 0, 0, &[])),
                2 => out.extend(frame(DATA, 0, stream, &[])),
                3 => out.extend(frame(CONTINUATION, 0, stream, &[])),
                4 => out.extend(frame(watch::WINDOW_UPDATE, 0, stream, &1_u32.to_be_bytes())),
                5 => out.extend(frame(PRIORITY, 0, at * 2 + 1, &[0; 5])),
                6 => {
                    // Rapid reset: `:method: GET`, `:path: /`, `:scheme: http`, and no host.
                    out.extend(frame(HEADERS, END_STREAM | END_HEADERS, self.next, &[0x82, 0x84, 0x86]));
                    out.extend(frame(RST_STREAM, 0, self.next, &[0, 0, 0, 8]));
                    self.next += 2;
                }
                7 => {
                    // What makes the server reset: a window that overflows.
                    out.extend(frame(HEADERS, END_HEADERS, self.next, &[0x83, 0x84, 0x86]));
                    out.extend(frame(watch::WINDOW_UPDATE, 0, self.next, &i32::MAX.to_be_bytes()));
                    self.next += 2;
                }
                8 => out.extend(frame(PUSH_PROMISE, END_HEADERS, 1, &[0, 0, 0, 2])),
                9 => out.extend(frame(SETTINGS, ACK, 0, &[])),
                10 => out.extend(frame(77, 0, 0, &[])),
                _ => {
                    out.extend(frame(HEADERS, END_STREAM | END_HEADERS, self.next, &[0x82, 0x84, 0x86]));
                    self.next += 2;
                }
            }
        }
        self.send(&out, cut).await;
    }

    async fn damaged(&mut self, ask: &Ask, at: u16, byte: u8, cut: u8) {
        self.go_wild();
        let asked = asked(ask.which, &self.sessions, self.expected.options.auth);
        let fields = write::fields(&asked, ask, None);
        let mut block = write::block(&mut self.encoder, &fields, ask);
        let at = usize::from(at) % block.len();
        block[at] = byte;
        let out = write::head(self.next, &block, true, ask);
        self.next += 2;
        self.send(&out, cut).await;
    }

    async fn drain(&mut self) {
        // What has been sent is there by then, unless it waits for room.
        sleep(Duration::from_millis(1)).await;
        self.late = true;
        for call in self.calls.values_mut().filter(|call| !call.judged) {
            (call.owed, call.expect) = (false, Expect::Anything);
        }
        self.service.road().start_draining();
        self.service.stop().advance(Phase::Draining);
    }
}

/// Whether it must be noticed that a request is none.
fn refused(spoil: Spoil, asked: &Asked, ask: &Ask) -> bool {
    match spoil {
        // Known when the body comes, and some are answered before that.
        Spoil::Long | Spoil::Short => {
            ask.shape & 1 == 0 && asked.method == "POST" && asked.path == "/mcp" && !asked.body.is_empty()
        }
        _ => true,
    }
}
