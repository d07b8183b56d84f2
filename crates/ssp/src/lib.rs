//! Security contexts: NTLM and SPNEGO.
