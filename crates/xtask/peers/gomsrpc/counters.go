package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"unicode/utf16"

	"github.com/oiweiwei/go-msrpc/dcerpc"
	"github.com/oiweiwei/go-msrpc/msrpc/dtyp"
	perflib "github.com/oiweiwei/go-msrpc/msrpc/pcq/perflibv2/v1"
)

// Request codes of [MS-PCQ] 3.1.4.1.2.
const (
	registration = 1
	englishName  = 9
	englishNames = 10
)

const (
	wildcard       = 0xFFFFFFFF
	noDisplayable  = 2
	counterset     = 6 // the type of a block
	bufferBytes    = 1 << 20
	identifierSize = 40
)

var little = binary.LittleEndian

type value struct {
	Counterset string `json:"counterset"`
	Instance   string `json:"instance"`
	InstanceID uint32 `json:"instance_id"`
	Counter    string `json:"counter"`
	CounterID  uint32 `json:"counter_id"`
	Hidden     bool   `json:"hidden"`
	Value      uint64 `json:"value"`
}

type host struct {
	ctx     context.Context
	client  perflib.PerflibV2Client
	machine string
}

// counters talks to a server of the Performance Counter Query Protocol; the structures of [MS-PCQ] inside the buffers are
// read here, by the specification.
//
// First the values of the named countersets are read, with right verification trailers on every call. Then single calls
// get trailers that are wrong or unusual ([MS-RPCE] 2.2.2.13): a wrong one has to be refused with fault 5 and must change
// nothing, an unusual one has to be ignored.
func counters(ctx context.Context, a arguments, calls *calls) (any, error) {
	// Each binding gets a connection of its own, since go-msrpc gives one up on which a fault came. All of them are in
	// one association group, so that they share queries.
	conn, err := dcerpc.Dial(ctx, a.address, dcerpc.WithEndpoint("ncacn_np:[winreg]"), dcerpc.WithSMBPort(a.port),
		dcerpc.WithNewTransport(), dcerpc.WithDialer(calls), dcerpc.WithTimeout(timeout))
	if err != nil {
		return nil, fmt.Errorf("dial: %w", err)
	}
	defer conn.Close(ctx)
	values, err := readWithTrailers(ctx, conn, a)
	if err != nil {
		return nil, err
	}
	refused, ignored, err := judgeTrailers(ctx, conn, calls, a.address)
	return map[string]any{"values": values, "refused": refused, "ignored": ignored}, err
}

// readWithTrailers reads values over a binding whose calls all carry the three known commands, each marked as one
// that the server has to process.
func readWithTrailers(ctx context.Context, conn dcerpc.Conn, a arguments) ([]value, error) {
	client, err := perflib.NewPerflibV2Client(ctx, conn, dcerpc.WithSeal(), dcerpc.WithVerifyBitMask(true),
		dcerpc.WithVerifyPresentation(true), dcerpc.WithVerifyHeader2(true))
	if err != nil {
		return nil, fmt.Errorf("bind with verification: %w", err)
	}
	h := host{ctx, client, a.address}
	var values []value
	for _, name := range a.countersets {
		of, err := h.read(name)
		if err != nil {
			return nil, fmt.Errorf("counterset %s: %w", name, err)
		}
		values = append(values, of...)
	}
	return values, nil
}

func (h host) registration(guid *dtyp.GUID, code uint32) ([]byte, error) {
	answer, err := h.client.QueryCounterSetRegistrationInfo(h.ctx, &perflib.QueryCounterSetRegistrationInfoRequest{
		Machine: h.machine, CounterSetGUID: guid, RequestCode: code, InSize: bufferBytes,
	})
	if err != nil {
		return nil, err
	}
	return answer.Data, nil
}

// find answers the counterset of an English name.
func (h host) find(name string) (*dtyp.GUID, error) {
	all, err := h.client.EnumerateCounterSet(h.ctx, &perflib.EnumerateCounterSetRequest{
		Machine: h.machine, InSize: 256,
	})
	if err != nil {
		return nil, err
	}
	for _, guid := range all.Data {
		text, err := h.registration(guid, englishName)
		if err == nil && wide(text) == name {
			return guid, nil
		}
	}
	return nil, fmt.Errorf("is none of %d countersets: %w", len(all.Data), errDifferent)
}

// read answers all values of a counterset with instances.
func (h host) read(name string) ([]value, error) {
	guid, err := h.find(name)
	if err != nil {
		return nil, err
	}
	counters, err := h.registration(guid, registration)
	if err != nil {
		return nil, err
	}
	hidden := map[uint32]bool{}
	for at := 32; at+48 <= len(counters); at += 48 {
		hidden[little.Uint32(counters[at:])] = little.Uint64(counters[at+8:])&noDisplayable != 0
	}
	texts, err := h.registration(guid, englishNames)
	if err != nil {
		return nil, err
	}
	data, err := h.collect(guid)
	if err != nil {
		return nil, err
	}
	values, err := parseBlock(data[48:])
	names := parseNames(texts)
	for i := range values {
		v := &values[i]
		v.Counterset, v.Counter, v.Hidden = name, names[v.CounterID], hidden[v.CounterID]
	}
	return values, err
}

// collect opens a query, adds every instance, reads the data once, and closes the query.
func (h host) collect(guid *dtyp.GUID) ([]byte, error) {
	opened, err := h.client.OpenQueryHandle(h.ctx, &perflib.OpenQueryHandleRequest{Machine: h.machine})
	if err != nil {
		return nil, err
	}
	identifier := make([]byte, identifierSize+8)
	little.PutUint32(identifier, guid.Data1)
	little.PutUint16(identifier[4:], guid.Data2)
	little.PutUint16(identifier[6:], guid.Data3)
	copy(identifier[8:16], guid.Data4)
	for at, field := range []uint32{0, identifierSize + 8, wildcard, wildcard, 0, 0} {
		little.PutUint32(identifier[16+4*at:], field)
	}
	identifier[identifierSize] = '*'
	added, err := h.client.ValidateCounters(h.ctx, &perflib.ValidateCountersRequest{
		Query: opened.Query, InSize: uint32(len(identifier)), Data: identifier, Add: 1,
	})
	if err != nil {
		return nil, err
	}
	if status := little.Uint32(added.Data[16:]); status != 0 {
		return nil, fmt.Errorf("adding it has the status %d: %w", status, errDifferent)
	}
	answer, err := h.client.QueryCounterData(h.ctx, &perflib.QueryCounterDataRequest{
		Query: opened.Query, InSize: bufferBytes,
	})
	if err != nil {
		return nil, err
	}
	if size := int(little.Uint32(answer.Data)); size != len(answer.Data) || size < 48 {
		return nil, fmt.Errorf("dwTotalSize is %d in %d bytes: %w", size, len(answer.Data), errDifferent)
	}
	_, err = h.client.CloseQueryHandle(h.ctx, &perflib.CloseQueryHandleRequest{Query: opened.Query})
	return answer.Data, err
}

// parseBlock reads the first block of the data, by perflib.h: a PERF_COUNTER_HEADER, the counters' ids, and for each
// instance its header and its values. A mistake of the server ends in an error, or in Go's own at a bound.
func parseBlock(block []byte) ([]value, error) {
	if status, kind := little.Uint32(block), little.Uint32(block[4:]); status != 0 || kind != counterset {
		return nil, fmt.Errorf("a block of status %d and type %d: %w", status, kind, errDifferent)
	}
	at := 16
	ids := make([]uint32, little.Uint32(block[at+4:]))
	for i := range ids {
		ids[i] = little.Uint32(block[at+8+4*i:])
	}
	at += int(little.Uint32(block[at:]))
	count := int(little.Uint32(block[at+4:]))
	at += 8
	var values []value
	for range count {
		size, number := int(little.Uint32(block[at:])), little.Uint32(block[at+4:])
		instance := wide(block[at+8 : at+size])
		at += size
		for _, id := range ids {
			length := int(little.Uint32(block[at:]))
			v := value{Instance: instance, InstanceID: number, CounterID: id}
			switch length {
			case 4:
				v.Value = uint64(little.Uint32(block[at+8:]))
			case 8:
				v.Value = little.Uint64(block[at+8:])
			}
			if length == 4 || length == 8 {
				values = append(values, v)
			}
			at += int(little.Uint32(block[at+4:]))
		}
	}
	return values, nil
}

func parseNames(data []byte) map[uint32]string {
	names := map[uint32]string{}
	for i := range int(little.Uint32(data[4:])) {
		id, offset := little.Uint32(data[8+8*i:]), little.Uint32(data[12+8*i:])
		if offset != wildcard {
			names[id] = wide(data[offset:])
		}
	}
	return names
}

// wide reads UTF-16 up to its NUL.
func wide(data []byte) string {
	var units []uint16
	for at := 0; at+1 < len(data) && little.Uint16(data[at:]) != 0; at += 2 {
		units = append(units, little.Uint16(data[at:]))
	}
	return string(utf16.Decode(units))
}
