//! Asking clients in the middle of a call: one way of asking, over both eras.

mod error;
mod form;
mod turn;
mod question;
mod elicitation;
mod sampling;
mod roots;
mod given;
mod memory;
mod sealing_key;
pub mod seal;
mod asking;
mod asks;
mod context;

pub use asking::Asking;
pub(super) use asks::Asks;
pub use elicitation::{Elicitation, Elicited};
pub use error::{AskError, MISSING_CAPABILITY, required};
pub use form::{Field, Form, Format};
pub use given::Given;
pub use memory::Memory;
pub use roots::Root;
pub use sampling::{IncludeContext, Sampled, Sampling, ToolChoice};
pub use sealing_key::SealingKey;
pub use turn::{Block, Turn};
