//! [MS-COMEV] 2.2.1: criteria that select subscriptions and event classes.

use wire::Guid;

pub const ALL: &str = "ALL";

/// The subscription with this id.
#[must_use]
pub fn by_subscription_id(id: Guid) -> String {
    format!("SubscriptionID={{{id}}}").to_uppercase()
}
