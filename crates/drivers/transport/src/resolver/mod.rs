//! Addresses of host names, found without blocking a thread.
//!
//! A [`Resolver`] reads what the C library reads: `/etc/hosts` and `/etc/resolv.conf` with its name servers, search
//! domains, `ndots`, `timeout` and `attempts`. Both files are read again when they change. It asks DNS only: other
//! services of `nsswitch.conf` (mDNS, NIS, LDAP) are not asked.
//!
//! Slow names do not hold up other names:
//!
//! - Addresses and names of the hosts file are answered at once, without any query.
//! - Callers of the same name share one look-up. A look-up is cancelled when its last caller drops it.
//! - The number of look-ups in flight is limited. When the limit is reached, the oldest one ends with
//!   [`LookupError::TimedOut`] and makes room.
//! - When a name server is silent for a second, the next server is asked as well.
//! - When the name servers are silent or fail, the last good addresses of a name are used for up to an hour.
//!
//! | module | job |
//! | --- | --- |
//! | `lookup` | one call from name to addresses |
//! | `flights` | look-ups in flight: shared, limited, ended |
//! | `answers` | addresses that were found earlier |
//! | `system` | the two files of the machine |
//! | `hosts` | parsing a hosts file |
//! | `servers` | queries to the name servers |
//! | `candidates` | the names to try for one name, with search domains |
//! | `order` | which address to try first |
//! | `literal` | addresses that are written as a name |

mod answers;
mod candidates;
mod error;
mod flights;
mod hosts;
mod literal;
mod lookup;
mod order;
mod servers;
mod system;

pub use self::error::{LookupError, LookupErrorKind};
pub use self::literal::literal;
pub use self::lookup::{Limits, Resolver};
pub use self::system::Files;
