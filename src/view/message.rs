//! A request body: JSON text into a tape, in place and into storage that is reused, then the protocol's own keys into slots.

mod envelope;
mod fault;
mod spelling;
mod values;
#[cfg(test)]
pub(crate) mod tests;

use simd_json::{Buffers, Node, Tape};

use super::node::Value;
pub use envelope::{Client, Envelope, Meta, Params};
pub use fault::JsonFault;
use spelling::Recorder;
pub use spelling::{LONGEST_ID, Spellings};

/// Readable bytes that must follow a body in its buffer. They are left as they were, so the next request may lie there.
pub const PADDING: usize = 64;

const _: () = assert!(PADDING == simd_json::INPUT_PADDING);

/// Storage that parsing reuses, one per connection or worker.
///
/// It grows to several times the largest body's size, and to some thirty times that of a body that is nothing but punctuation: see
/// [`Self::shrink`].
pub struct JsonScratch {
    buffers: Buffers,
    tape: Tape<'static>,
    recorder: Recorder,
    max_depth: usize,
    max_values: usize,
    /// The largest body since the storage was last given back, in bytes.
    largest: usize,
    /// The most pieces that one was found to be made of.
    structurals: usize,
}

impl std::fmt::Debug for JsonScratch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("JsonScratch")
            .field("max_depth", &self.max_depth)
            .field("largest", &self.largest)
            .finish()
    }
}

impl JsonScratch {
    /// Storage for bodies that nest at most `max_depth` arrays and objects.
    #[must_use]
    pub fn new(max_depth: usize) -> Self {
        Self {
            buffers: Buffers::with_max_depth(0, max_depth),
            tape: Tape(Vec::new()),
            recorder: Recorder::new(),
            max_depth,
            max_values: usize::MAX,
            largest: 0,
            structurals: 0,
        }
    }

    /// The same for bodies of at most `most` values.
    #[must_use]
    pub fn of_values(self, most: usize) -> Self {
        Self { max_values: most, ..self }
    }

    /// Parses `buf[..len]`, after which at least [`PADDING`] bytes must follow in `buf`, and hands the document to `then`. The text is
    /// overwritten: strings are unescaped in place.
    ///
    /// `then` gets a fault where the body is not JSON, where the parser's bounds refuse it, or where one of the protocol's own keys comes
    /// twice in the message.
    pub fn parse<R>(
        &mut self,
        buf: &mut [u8],
        len: usize,
        then: impl FnOnce(Result<Document<'_, '_>, JsonFault>) -> R,
    ) -> R {
        let Some(body) = buf.get(..len) else { return then(Err(JsonFault::Empty)) };
        if let Some(fault) = fault::before_parsing(body) {
            return then(Err(fault));
        }
        if len > self.max_values && values::exceed(body, self.max_values) {
            return then(Err(JsonFault::TooMany { ceiling: self.max_values }));
        }
        self.largest = self.largest.max(len);
        self.recorder.record(body);
        let mut tape = std::mem::replace(&mut self.tape, Tape(Vec::new())).reset();
        let filled = simd_json::fill_tape_padded(buf, len, &mut self.buffers, &mut tape);
        self.structurals = self.structurals.max(self.buffers.structural_indexes().len());
        match filled {
            Ok(()) => {
                self.recorder.link(&tape.0, self.buffers.structural_indexes());
                let root = Value::new(&tape.0);
                let spellings = self.recorder.spellings(tape.0.len());
                let mut envelope = Envelope::default();
                let read = envelope.read_into(root);
                let result = then(read.map(|()| Document { root, envelope: &envelope, spellings }));
                self.tape = tape.reset();
                result
            }
            Err(error) => {
                let nodes = tape.0.len();
                let root_closed = match tape.0.first() {
                    Some(Node::Object { count, .. } | Node::Array { count, .. }) => count + 1 == nodes,
                    Some(Node::Static(_) | Node::String(_)) | None => false,
                };
                self.tape = tape.reset();
                let evidence = fault::Evidence {
                    body: &buf[..len],
                    structurals: self.buffers.structural_indexes(),
                    nodes,
                    root_closed,
                    max_depth: self.max_depth,
                };
                then(Err(evidence.explain(&error)))
            }
        }
    }

    /// Bytes of storage held, give or take what vectors grow by in advance.
    #[must_use]
    pub fn held(&self) -> usize {
        let structurals = self.structurals.max(self.largest / 8);
        self.largest
            + 2 * structurals * size_of::<u32>()
            + self.tape.0.capacity() * size_of::<Node<'static>>()
    }

    /// Gives the storage back if a body longer than `keep` bytes has made it grow.
    pub fn shrink(&mut self, keep: usize) {
        if self.largest > keep {
            *self = Self::new(self.max_depth).of_values(self.max_values);
        }
    }
}

/// A parsed body.
#[derive(Debug, Clone, Copy)]
pub struct Document<'t, 'b> {
    root: Value<'t, 'b>,
    envelope: &'t Envelope<'t, 'b>,
    spellings: Spellings<'t>,
}

impl<'t, 'b> Document<'t, 'b> {
    /// The whole body.
    #[must_use]
    pub const fn root(&self) -> Value<'t, 'b> {
        self.root
    }

    /// The protocol's own members of an object; of any other root an envelope with nothing in it.
    #[must_use]
    pub const fn envelope(&self) -> &'t Envelope<'t, 'b> {
        self.envelope
    }

    /// How ids that are floats were spelled, for [`super::id::Id::read`].
    #[must_use]
    pub const fn spellings(&self) -> Spellings<'t> {
        self.spellings
    }
}
