//! `tools/list` (server/tools): the tools, page by page.

use super::{Request, listing};
use crate::events::topic::Topic;
use crate::reply::{Exchange, Reply};
use crate::tools::Behind;

/// Answers.
pub fn serve(behind: &Behind, request: &Request<'_, '_, '_>, exchange: &mut Exchange) -> Reply {
    request.settle(Topic::ToolsList);
    listing::serve(behind.registry().snapshot().tools(), behind, request, exchange)
}
