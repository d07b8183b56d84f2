//! Byte streams under the protocols: TCP, in-memory duplex, and their middleware.
