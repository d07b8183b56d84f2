package main

import (
	"bytes"
	"context"
	"net"
	"sync/atomic"
)

// calls watches what go-msrpc sends, since it does not say which names it gives to a call and to its presentation
// context. SMB is signed, not encrypted, and the header of a PDU is never encrypted.
type calls struct {
	net.Dialer
	call, context atomic.Uint32
	// Logons with a MIC and NTLMSSP_NEGOTIATE_VERSION clear, and others.
	logons, otherLogons atomic.Int32
}

// header2 is the right rpc_sec_vt_header2 of the first call on the binding that was made last.
func (c *calls) header2(opnum byte) []byte {
	header := []byte{0, 0, 0, 0, 0x10, 0, 0, 0, 0, 0, 0, 0, 0, 0, opnum, 0}
	little.PutUint32(header[8:], c.call.Load()+1)
	little.PutUint16(header[12:], uint16(c.context.Load()))
	return header
}

func (c *calls) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := c.Dialer.DialContext(ctx, network, address)
	return watched{conn, c}, err
}

type watched struct {
	net.Conn
	calls *calls
}

// Write looks for a bind, or for the alter_context that goes on with its authentication, and for logons in both SMB
// and RPC.
func (w watched) Write(frame []byte) (int, error) {
	w.calls.countLogon(frame)
	const bind, alterContext, callID, contextID = 11, 14, 12, 28
	for _, kind := range []byte{bind, alterContext} {
		at := bytes.Index(frame, []byte{5, 0, kind, 0x07, 0x10, 0, 0, 0})
		if at >= 0 && at+contextID+2 <= len(frame) {
			w.calls.call.Store(little.Uint32(frame[at+callID:]))
			w.calls.context.Store(uint32(little.Uint16(frame[at+contextID:])))
		}
	}
	return w.Conn.Write(frame)
}

// countLogon looks for an AUTHENTICATE_MESSAGE, [MS-NLMP] 2.2.1.3.
func (c *calls) countLogon(frame []byte) {
	const flags, version, mic, end = 60, 1 << 25, 72, 88
	_, message, found := bytes.Cut(frame, []byte("NTLMSSP\x00\x03\x00\x00\x00"))
	if !found {
		return
	}
	message = frame[len(frame)-len(message)-12:]
	if len(message) >= end && little.Uint32(message[flags:])&version == 0 && [16]byte(message[mic:end]) != [16]byte{} {
		c.logons.Add(1)
	} else {
		c.otherLogons.Add(1)
	}
}
