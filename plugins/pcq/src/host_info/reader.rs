//! Keys and values of the host's registry, each read for itself: what is missing or malformed costs nothing else.

use counter_poll::over_host::PipeChannel;
use counters::rrp::winreg::{Key, Limits, RegistryClient, RegistryValue, ValueRoom};
use counters::rrp::wire::InvalidValue;
use host_session::concerns_one_call;
use tokio::time::Instant;
use wire::Win32Error;

use super::fact::Unread;

/// A failure after which the pipe takes no other call.
pub(crate) type Lost = counters::rrp::Error<host_session::rpc_client::Error>;

/// A result of one key or value, if the pipe is still usable.
pub(crate) type Read<T> = Result<Result<T, Unread>, Lost>;

pub(crate) struct Reader<'a> {
    client: RegistryClient<PipeChannel<'a>>,
    root: Key,
    room: ValueRoom,
    /// From then on nothing new is begun.
    until: Instant,
}

impl<'a> Reader<'a> {
    pub(crate) async fn open(client: RegistryClient<PipeChannel<'a>>, until: Instant) -> Read<Self> {
        let mut client = client.with_limits(LIMITS);
        match client.open_local_machine().await {
            Ok(root) => Ok(Ok(Self { client, root, room: ValueRoom::new(ROOM_BYTES), until })),
            Err(error) => unread(error).map(Err),
        }
    }

    /// Whether the time for reading is over.
    pub(crate) fn is_time_up(&self) -> bool {
        Instant::now() >= self.until
    }

    /// Opens a key below the root.
    pub(crate) async fn key(&mut self, path: &str) -> Read<Key> {
        settle(self.client.open_key(&self.root, path).await)
    }

    /// Opens a key below another one.
    pub(crate) async fn sub_key(&mut self, key: &Key, name: &str) -> Read<Key> {
        settle(self.client.open_key(key, name).await)
    }

    /// How many keys are below one.
    pub(crate) async fn count_sub_keys(&mut self, key: &Key) -> Read<u32> {
        let info = settle(self.client.query_info_key(key).await)?;
        Ok(info.map(|info| info.sub_keys))
    }

    /// The name of a key below one, or `None` after the last one.
    pub(crate) async fn sub_key_name(&mut self, key: &Key, index: u32) -> Read<Option<String>> {
        settle(self.client.enum_key(key, index).await)
    }

    pub(crate) async fn value<T>(
        &mut self,
        key: &Key,
        name: &str,
        decode: fn(&RegistryValue) -> Result<T, InvalidValue>,
    ) -> Read<T> {
        let value = settle(self.client.query_value(key, name, &mut self.room).await)?;
        Ok(value.and_then(|value| {
            decode(&value).map_err(|error| {
                tracing::debug!(value = name, %error, "Malformed value in the registry");
                Unread::Malformed
            })
        }))
    }

    /// Reads a text of at most [`TEXT_CHARS_MAX`] characters; longer ones are cut.
    pub(crate) async fn text(&mut self, key: &Key, name: &str) -> Read<String> {
        let text = self.value(key, name, RegistryValue::text).await?;
        Ok(text.map(|text| bounded(text.trim())))
    }

    /// As [`text`](Self::text), empty if it does not exist.
    pub(crate) async fn optional_text(&mut self, key: &Key, name: &str) -> Read<String> {
        let text = self.text(key, name).await?;
        Ok(optional(text).map(Option::unwrap_or_default))
    }

    pub(crate) async fn close(&mut self, key: Key) -> Result<(), Lost> {
        // A key that does not close is gone.
        settle(self.client.close_key(key).await).map(drop)
    }

    pub(crate) async fn finish(mut self) -> Result<(), Lost> {
        settle(self.client.close_key(self.root).await).map(drop)
    }
}

/// `None` for what does not exist.
pub(crate) fn optional<T>(read: Result<T, Unread>) -> Result<Option<T>, Unread> {
    match read {
        Ok(value) => Ok(Some(value)),
        Err(Unread::NotFound) => Ok(None),
        Err(why) => Err(why),
    }
}

/// The beginning of a text.
pub(crate) fn bounded(text: &str) -> String {
    text.chars().take(TEXT_CHARS_MAX).collect()
}

fn settle<T>(result: Result<T, Lost>) -> Read<T> {
    match result {
        Ok(value) => Ok(Ok(value)),
        Err(error) => unread(error).map(Err),
    }
}

/// What an error says of one key or value, unless it is about the pipe.
fn unread(error: Lost) -> Result<Unread, Lost> {
    let why = match &error {
        counters::rrp::Error::LimitExceeded { .. } => Unread::LimitExceeded,
        counters::rrp::Error::Rpc(rpc::Error::Call { source, .. }) if concerns_one_call(source) => {
            Unread::Refused
        }
        counters::rrp::Error::Rpc(rpc::Error::Stub { .. }) => Unread::Malformed,
        counters::rrp::Error::Rpc(rpc::Error::Status { status, .. }) => match *status {
            Win32Error::ERROR_FILE_NOT_FOUND | Win32Error::ERROR_KEY_DELETED => Unread::NotFound,
            Win32Error::ERROR_ACCESS_DENIED => Unread::AccessDenied,
            _ => Unread::Refused,
        },
        _ => return Err(error),
    };
    tracing::debug!(%error, "Host does not give what its registry was asked for");
    Ok(why)
}

/// Room for a value at first.
const ROOM_BYTES: u32 = 512;
/// A physical memory of some thousand ranges.
const VALUE_BYTES_MAX: u32 = 64 << 10;
const LIMITS: Limits =
    Limits { sub_keys_max: 1 << 12, counter_sets_max: 0, value_bytes_max: VALUE_BYTES_MAX };
/// Characters of a label.
const TEXT_CHARS_MAX: usize = 256;
