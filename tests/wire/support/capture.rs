//! What a server says through `tracing`, kept per server: its thread has a subscriber of its own.

use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

/// The target of the events that rejections emit.
pub const REJECT: &str = "twolane::wire::reject";

/// One event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    pub level: Level,
    pub target: String,
    /// In the order in which they were recorded.
    pub fields: Vec<(&'static str, String)>,
}

impl Told {
    pub fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(other, _)| *other == name).map(|(_, value)| value.as_str())
    }
}

/// Everything a server has said. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct Capture(Arc<Mutex<Vec<Told>>>);

impl Capture {
    /// Takes out what was said since the last time.
    pub fn take(&self) -> Vec<Told> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }

    /// Takes out the events of rejections since the last time; all others are lost.
    pub fn take_rejections(&self) -> Vec<Told> {
        let mut told = self.take();
        told.retain(|told| told.target == REJECT);
        told
    }
}

impl Subscriber for Capture {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event() && metadata.target().starts_with("twolane")
    }

    fn new_span(&self, _span: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _span: &Id, _values: &Record<'_>) {}

    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let metadata = event.metadata();
        let mut told =
            Told { level: *metadata.level(), target: metadata.target().to_owned(), fields: Vec::new() };
        event.record(&mut told);
        self.0.lock().unwrap().push(told);
    }

    fn enter(&self, _span: &Id) {}

    fn exit(&self, _span: &Id) {}
}

impl Visit for Told {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.fields.push((field.name(), value.to_owned()));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.fields.push((field.name(), format!("{value:?}")));
    }
}
