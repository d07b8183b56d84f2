//! The plugin ABI: the C header and its Rust mirror.
