//! JSON-RPC answers that are no rejections: results, and errors that go with 200.

use super::json;
use crate::view::id::Id;

/// Opens the result of an envelope whose id is there.
pub fn open_result(out: &mut Vec<u8>) {
    out.extend_from_slice(b",\"result\":{");
}

/// Closes what [`open_result`] opened.
pub fn end_result(out: &mut Vec<u8>) {
    out.extend_from_slice(b"}}");
}

/// Appends the envelope up to the inside of the result object, for an id that is still borrowed from the request.
pub fn begin_result_for(out: &mut Vec<u8>, id: Id<'_>) {
    begin(out);
    id.write(out);
    open_result(out);
}

/// Appends the envelope up to the id's place.
pub fn begin(out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
}

/// Appends a whole error answer. `data` is JSON.
pub fn write_error(out: &mut Vec<u8>, id: Id<'_>, code: i32, message: &str, data: Option<&[u8]>) {
    begin(out);
    id.write(out);
    write_error_member(out, code, message, data);
}

/// Appends the error to an envelope whose id is there, and closes it.
pub fn write_error_member(out: &mut Vec<u8>, code: i32, message: &str, data: Option<&[u8]>) {
    out.extend_from_slice(b",\"error\":{\"code\":");
    json::write_int(out, code);
    out.extend_from_slice(b",\"message\":");
    json::write_str(out, message);
    if let Some(data) = data {
        out.extend_from_slice(b",\"data\":");
        out.extend_from_slice(data);
    }
    out.extend_from_slice(b"}}");
}
