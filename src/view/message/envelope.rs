//! The protocol's own keys, read into slots in one pass over each object that has some.

use std::collections::HashSet;

use smallvec::SmallVec;

use super::fault::JsonFault;
use crate::view::node::Value;

/// The prefix of the keys in `_meta` that belong to the protocol.
const RESERVED: &str = "io.modelcontextprotocol/";

/// Reserved keys without a slot that are compared with each other one by one; beyond, they go into a set, so that a million of them take
/// no quadratic time.
const FEW: usize = 8;

/// The members of a JSON-RPC message. All are `Some` when the key is there, whatever its value, `null` too.
#[derive(Debug, Clone, Copy, Default)]
pub struct Envelope<'t, 'b> {
    /// Whether the message is an object at all. When not, nothing else is set.
    pub object: bool,
    /// `jsonrpc`.
    pub jsonrpc: Option<Value<'t, 'b>>,
    /// `id`.
    pub id: Option<Value<'t, 'b>>,
    /// `method`.
    pub method: Option<Value<'t, 'b>>,
    /// `params`.
    pub params: Option<Value<'t, 'b>>,
    /// `result`.
    pub result: Option<Value<'t, 'b>>,
    /// `error`.
    pub error: Option<Value<'t, 'b>>,
    /// The members of `params`, when that is an object.
    pub args: Params<'t, 'b>,
}

/// The members of `params` that the protocol itself reads.
#[derive(Debug, Clone, Copy, Default)]
pub struct Params<'t, 'b> {
    /// `_meta`.
    pub meta: Option<Value<'t, 'b>>,
    /// `name`.
    pub name: Option<Value<'t, 'b>>,
    /// `uri`.
    pub uri: Option<Value<'t, 'b>>,
    /// `arguments`.
    pub arguments: Option<Value<'t, 'b>>,
    /// `taskId`.
    pub task_id: Option<Value<'t, 'b>>,
    /// `protocolVersion`.
    pub protocol_version: Option<Value<'t, 'b>>,
    /// `cursor`. A repeated one is no fault: the first counts.
    pub cursor: Option<Value<'t, 'b>>,
    /// The members of `_meta`, when that is an object.
    pub fields: Meta<'t, 'b>,
    /// Whether there are members beyond these, or a repeated one.
    pub others: bool,
}

/// The members of `params._meta` that the protocol itself reads.
#[derive(Debug, Clone, Copy, Default)]
pub struct Meta<'t, 'b> {
    /// `io.modelcontextprotocol/protocolVersion`.
    pub protocol_version: Option<Value<'t, 'b>>,
    /// `io.modelcontextprotocol/clientInfo`.
    pub client_info: Option<Value<'t, 'b>>,
    /// The members of that, when it is an object.
    pub client: Client<'b>,
    /// `io.modelcontextprotocol/clientCapabilities`.
    pub client_capabilities: Option<Value<'t, 'b>>,
    /// `io.modelcontextprotocol/logLevel`.
    pub log_level: Option<Value<'t, 'b>>,
    /// `progressToken`, without prefix. A repeated one is no fault: the first counts.
    pub progress_token: Option<Value<'t, 'b>>,
    /// Whether there are members beyond these, or a repeated one.
    pub others: bool,
}

/// The members of `clientInfo` that the protocol itself reads.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Client<'b> {
    /// `name`, if it is a string. A repeated one is no fault: the first counts.
    pub name: Option<&'b str>,
    /// `version`, likewise.
    pub version: Option<&'b str>,
    /// Whether there are members beyond these, a repeated one, or one that is no string.
    pub others: bool,
}

impl<'b> Client<'b> {
    fn read(value: Value<'_, 'b>) -> Self {
        let mut client = Self::default();
        let (mut named, mut versioned) = (false, false);
        for (key, value) in value.as_object().into_iter().flatten() {
            match key {
                "name" if !named => (named, client.name) = (true, value.as_str()),
                "version" if !versioned => (versioned, client.version) = (true, value.as_str()),
                _ => client.others = true,
            }
        }
        client.others |= named != client.name.is_some() || versioned != client.version.is_some();
        client
    }
}

impl<'t, 'b> Envelope<'t, 'b> {
    /// Reads one message: a whole body, or an element of a batch.
    ///
    /// # Errors
    /// [`JsonFault::DuplicatedKey`] where one of the protocol's own keys comes twice.
    pub fn read(value: Value<'t, 'b>) -> Result<Self, JsonFault> {
        let mut envelope = Self::default();
        envelope.read_into(value)?;
        Ok(envelope)
    }

    /// The same into slots that are empty yet: to move them would take as long as to fill them.
    pub(super) fn read_into(&mut self, value: Value<'t, 'b>) -> Result<(), JsonFault> {
        let Some(object) = value.as_object() else { return Ok(()) };
        self.object = true;
        for (key, value) in object {
            // The length first: it tells nearly all keys apart.
            let slot = match key.len() {
                2 if key == "id" => &mut self.id,
                5 if key == "error" => &mut self.error,
                6 if key == "method" => &mut self.method,
                6 if key == "params" => &mut self.params,
                6 if key == "result" => &mut self.result,
                7 if key == "jsonrpc" => &mut self.jsonrpc,
                _ => continue,
            };
            fill(slot, key, value)?;
        }
        match self.params {
            Some(params) => self.args.read(params),
            None => Ok(()),
        }
    }
}

impl<'t, 'b> Params<'t, 'b> {
    fn read(&mut self, value: Value<'t, 'b>) -> Result<(), JsonFault> {
        for (key, value) in value.as_object().into_iter().flatten() {
            let slot = match key.len() {
                3 if key == "uri" => &mut self.uri,
                4 if key == "name" => &mut self.name,
                5 if key == "_meta" => &mut self.meta,
                6 if key == "taskId" => &mut self.task_id,
                6 if key == "cursor" && self.cursor.is_none() => &mut self.cursor,
                9 if key == "arguments" => &mut self.arguments,
                15 if key == "protocolVersion" => &mut self.protocol_version,
                _ => {
                    self.others = true;
                    continue;
                }
            };
            fill(slot, key, value)?;
        }
        match self.meta {
            Some(meta) => self.fields.read(meta),
            None => Ok(()),
        }
    }
}

impl<'t, 'b> Meta<'t, 'b> {
    fn read(&mut self, value: Value<'t, 'b>) -> Result<(), JsonFault> {
        let mut others = None;
        for (key, value) in value.as_object().into_iter().flatten() {
            let Some(name) = key.strip_prefix(RESERVED) else {
                if key == "progressToken" && self.progress_token.is_none() {
                    self.progress_token = Some(value);
                } else {
                    self.others = true;
                }
                continue;
            };
            let slot = match name.len() {
                8 if name == "logLevel" => &mut self.log_level,
                10 if name == "clientInfo" => {
                    self.client = Client::read(value);
                    &mut self.client_info
                }
                15 if name == "protocolVersion" => &mut self.protocol_version,
                18 if name == "clientCapabilities" => &mut self.client_capabilities,
                _ => {
                    self.others = true;
                    others.get_or_insert_with(Others::default).add(key)?;
                    continue;
                }
            };
            fill(slot, key, value)?;
        }
        Ok(())
    }
}

fn fill<'t, 'b>(slot: &mut Option<Value<'t, 'b>>, key: &str, value: Value<'t, 'b>) -> Result<(), JsonFault> {
    if slot.is_some() {
        return Err(JsonFault::duplicated(key));
    }
    *slot = Some(value);
    Ok(())
}

/// Reserved keys that have no slot.
#[derive(Default)]
struct Others<'b> {
    few: SmallVec<[&'b str; FEW]>,
    many: HashSet<&'b str>,
}

impl<'b> Others<'b> {
    fn add(&mut self, key: &'b str) -> Result<(), JsonFault> {
        if self.few.contains(&key) {
            return Err(JsonFault::duplicated(key));
        }
        if self.few.len() < FEW {
            self.few.push(key);
        } else if !self.many.insert(key) {
            return Err(JsonFault::duplicated(key));
        }
        Ok(())
    }
}
