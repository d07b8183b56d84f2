//! SMB 2 and 3 as far as a named pipe needs them, client and server.
