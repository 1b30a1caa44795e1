//! What a client does on HTTP/2.

use arbitrary::Arbitrary;

/// One run. Where the input ends every number is 0 and every enum its first variant: a request, sent whole.
#[derive(Debug, Arbitrary)]
pub struct Script {
    /// The legacy lane is off at 255; authentication is on above 191.
    pub legacy: u8,
    pub auth: u8,
    /// Chooses the server's limits.
    pub limits: u8,
    /// What the pipe holds.
    pub width: u8,
    /// The client's own settings: the window of a stream, the header table.
    pub window: Option<u16>,
    pub table: Option<u16>,
    pub steps: Vec<Step>,
}

#[derive(Debug, Arbitrary)]
pub struct Step {
    pub act: Act,
    /// Where its bytes are cut; below 128 nowhere.
    pub cut: u8,
}

#[derive(Debug, Arbitrary)]
pub enum Act {
    /// A whole request.
    Ask(Ask),
    /// The head of a request whose body comes later.
    Begin(Ask),
    /// So much more of a body that is not whole; all of it at 255.
    Body {
        stream: u8,
        len: u8,
        pad: u8,
    },
    /// The rest of a body, then trailers.
    Trailers {
        stream: u8,
        form: u8,
    },
    /// A request that is none.
    Spoiled(Ask, Spoil),
    /// Time passes: sixteenths of a second.
    Wait(u8),
    /// All that was asked for comes.
    Settle,
    /// The client reads and makes room, reads alone, or does not read.
    Mood(u8),
    Room {
        stream: u8,
        bytes: u16,
    },
    Ping(u8),
    Settings {
        window: Option<u16>,
        table: Option<u16>,
        other: Option<(u16, u8)>,
    },
    Priority {
        stream: u8,
        on: u8,
        weight: u8,
    },
    Reset {
        stream: u8,
        code: u8,
    },
    Unknown {
        kind: u8,
        flags: u8,
        stream: u8,
        len: u8,
    },
    Leave,
    /// Something that costs a client little, many times over.
    Flood {
        kind: u8,
        times: u16,
    },
    /// Any frame.
    Frame {
        kind: u8,
        flags: u8,
        stream: u8,
        payload: Vec<u8>,
    },
    /// A header block that is damaged.
    Damaged {
        ask: Ask,
        at: u16,
        byte: u8,
    },
    Bytes(Vec<u8>),
    /// The server begins to drain.
    Drain(u8),
}

#[derive(Debug, Arbitrary)]
pub struct Ask {
    pub which: u8,
    /// How each of its fields is written, in turns.
    pub forms: [u8; 4],
    /// Where its block is split into frames, and its body; nowhere at 0.
    pub split: u8,
    /// Bit 0: its length is not declared. Bit 1: the last frame is empty. Bit 2: padding. Bit 3: a priority. Bit 4: `expect`.
    pub shape: u8,
}

/// What makes a request none.
#[derive(Debug, Clone, Copy, Arbitrary)]
pub enum Spoil {
    NoMethod,
    NoPath,
    NoScheme,
    NoHost,
    EmptyPath,
    Twice(u8),
    Late,
    Unknown,
    Status,
    Upper,
    Space,
    Connection(u8),
    Te,
    LineBreak(u8),
    Long,
    Short,
    TwoHosts,
    Length,
}
