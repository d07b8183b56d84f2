/// What one association accepts from its peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Stub data of one call, all fragments together.
    pub stub_bytes_max: usize,
    /// Fragments of one call.
    pub fragments_max: usize,
    /// Presentation contexts of one association.
    pub contexts_max: usize,
    /// Security contexts of one association at a server.
    pub security_contexts_max: usize,
    /// Calls that a client may have open at a server.
    pub calls_max: usize,
    /// Orphaned calls whose responses a client still waits to throw away.
    pub orphans_max: usize,
    /// Legs of one authentication.
    pub auth_legs_max: usize,
}

impl Default for Limits {
    /// 64 MiB in 65,536 fragments; a few of everything else.
    fn default() -> Self {
        Self {
            stub_bytes_max: 64 << 20,
            fragments_max: 65_536,
            contexts_max: 32,
            security_contexts_max: 32,
            calls_max: 64,
            orphans_max: 16,
            auth_legs_max: 8,
        }
    }
}
