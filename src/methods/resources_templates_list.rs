//! `resources/templates/list` (server/resources): the templates of resources, page by page.

use super::{Request, listing};
use crate::reply::{Exchange, Reply};
use crate::tools::Behind;

/// Answers.
pub fn serve(behind: &Behind, request: &Request<'_, '_, '_>, exchange: &mut Exchange) -> Reply {
    // Nothing is settled: the change that is owed may be one of the resources themselves.
    listing::serve(behind.registry().snapshot().templates(), behind, request, exchange)
}
