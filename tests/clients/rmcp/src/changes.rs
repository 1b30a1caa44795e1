//! News from the server: resources that were updated, lists that changed. Sessions subscribe; the modern lane listens.

use std::time::Duration;

use rmcp::model::{ServerNotification, SubscribeRequestParams, SubscriptionFilter, UnsubscribeRequestParams};
use rmcp::service::{Subscription, SubscriptionEnd};
use serde_json::Value;
use tokio::time::{sleep, timeout};

use crate::peer::Peer;
use crate::steps::{step, until};

const WATCHED: &str = "test://watched-resource";
/// Longer than the server collects changes before it tells of them.
const NOTHING_COMES: Duration = Duration::from_millis(250);
const SOON: Duration = Duration::from_secs(3);

async fn tool_names(peer: &Peer) -> Vec<String> {
    let tools = peer.client.list_all_tools().await.expect("tools");
    tools.into_iter().map(|tool| tool.name.into_owned()).collect()
}

async fn prompt_names(peer: &Peer) -> Vec<String> {
    let prompts = peer.client.list_all_prompts().await.expect("prompts");
    prompts.into_iter().map(|prompt| prompt.name).collect()
}

async fn hears(peer: &Peer, tool: &'static str, what: &str) -> Value {
    let from = peer.heard();
    peer.call(tool, Value::Null).await;
    until(what, async || !peer.heard_since(from, what).is_empty()).await;
    sleep(NOTHING_COMES).await;
    let mut told = peer.heard_since(from, what);
    assert_eq!(told.len(), 1, "{told:?}");
    told.remove(0)
}

async fn hears_nothing(peer: &Peer) {
    let from = peer.heard();
    peer.call("test_touch_watched_resource", Value::Null).await;
    sleep(NOTHING_COMES).await;
    assert_eq!(peer.heard_since(from, "updated"), Vec::<Value>::new());
}

pub async fn sessions(peer: &Peer) {
    step(peer.step_name("has an event stream of its own"), async {
        until("the stream", async || peer.wire.exchanges().iter().any(|exchange| exchange.verb == "GET"))
            .await;
        let stream =
            peer.wire.exchanges().into_iter().find(|exchange| exchange.verb == "GET").expect("the stream");
        assert_eq!(stream.fault, None);
    })
    .await;
    step(peer.step_name("is told of updates to what it subscribed to, until it unsubscribes"), async {
        hears_nothing(peer).await;
        peer.client.subscribe(SubscribeRequestParams::new(WATCHED)).await.expect("a subscription");
        for _ in 0..2 {
            assert_eq!(hears(peer, "test_touch_watched_resource", "updated").await["uri"], WATCHED);
        }
        peer.client.unsubscribe(UnsubscribeRequestParams::new(WATCHED)).await.expect("its end");
        hears_nothing(peer).await;
    })
    .await;
    step(peer.step_name("is told that the tools and the prompts have changed"), async {
        let before = tool_names(peer).await;
        hears(peer, "test_trigger_tool_change", "tools").await;
        assert_ne!(tool_names(peer).await, before);
        let before = prompt_names(peer).await;
        hears(peer, "test_trigger_prompt_change", "prompts").await;
        assert_ne!(prompt_names(peer).await, before);
    })
    .await;
}

async fn next(subscription: &mut Subscription) -> Option<ServerNotification> {
    timeout(SOON, subscription.next()).await.expect("news soon").expect("news")
}

async fn is_quiet(subscription: &mut Subscription) {
    let news = timeout(NOTHING_COMES, subscription.next()).await;
    assert!(news.is_err(), "expected nothing, got {news:?}");
}

pub async fn listeners(peer: &Peer) {
    step(peer.step_name("listens for updates of a resource, until it closes"), async {
        let filter = SubscriptionFilter::builder().resource_subscription(WATCHED).build();
        let mut subscription = peer.client.listen(filter.clone()).await.expect("a subscription");
        assert_eq!(subscription.acknowledged(), &filter);
        for _ in 0..2 {
            peer.call("test_touch_watched_resource", Value::Null).await;
            let Some(ServerNotification::ResourceUpdatedNotification(update)) = next(&mut subscription).await
            else {
                panic!("no update");
            };
            assert_eq!(update.params.uri, WATCHED);
        }
        subscription.cancel().await.expect("the end of the subscription");
        assert_eq!(subscription.end(), Some(&SubscriptionEnd::Cancelled));
        hears_nothing(peer).await;
    })
    .await;
    step(peer.step_name("listens for changed tools and prompts, each where it was asked for"), async {
        let mut tools = peer
            .client
            .listen(SubscriptionFilter::builder().tools_list_changed().build())
            .await
            .expect("tools");
        let mut prompts = peer
            .client
            .listen(SubscriptionFilter::builder().prompts_list_changed().build())
            .await
            .expect("prompts");
        let before = tool_names(peer).await;
        peer.call("test_trigger_tool_change", Value::Null).await;
        assert!(matches!(next(&mut tools).await, Some(ServerNotification::ToolListChangedNotification(_))));
        assert_ne!(tool_names(peer).await, before);
        is_quiet(&mut prompts).await;
        let before = prompt_names(peer).await;
        peer.call("test_trigger_prompt_change", Value::Null).await;
        assert!(matches!(
            next(&mut prompts).await,
            Some(ServerNotification::PromptListChangedNotification(_))
        ));
        assert_ne!(prompt_names(peer).await, before);
        is_quiet(&mut tools).await;
    })
    .await;
    step(peer.step_name("listens for nothing: ended at once, gracefully"), async {
        let mut subscription = peer.client.listen(SubscriptionFilter::new()).await.expect("a subscription");
        assert!(next(&mut subscription).await.is_none());
        assert!(matches!(subscription.end(), Some(SubscriptionEnd::Graceful(_))), "{:?}", subscription.end());
    })
    .await;
}
