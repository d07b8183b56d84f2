use super::{Bind, BindAck};

/// C706 12.6.4.1 `rpcconn_alter_context_hdr_t`, without the common header
///
/// A client adds presentation contexts, or sends a further leg of its authentication. The layout is that of a
/// bind; fragment sizes and group are written and not read.
#[doc(alias = "rpcconn_alter_context_hdr_t")]
pub type AlterContext = Bind;

/// C706 12.6.4.2 `rpcconn_alter_context_response_hdr_t`, without the common header
///
/// The answer to an [`AlterContext`]. The layout is that of a bind_ack, with an empty secondary address.
#[doc(alias = "rpcconn_alter_context_response_hdr_t")]
pub type AlterContextResponse = BindAck;
