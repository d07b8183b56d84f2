package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/oiweiwei/go-msrpc/dcerpc"
	perflib "github.com/oiweiwei/go-msrpc/msrpc/pcq/perflibv2/v1"
	"github.com/oiweiwei/go-msrpc/ndr"
)

// closeQuery is PerflibV2CloseQueryHandle with a verification trailer of our own behind its stub data. Whether the
// server has executed it shows in the query: it is gone, or it is not.
type closeQuery struct {
	request  *perflib.CloseQueryHandleRequest
	response perflib.CloseQueryHandleResponse
	trailer  dcerpc.VerificationTrailer
}

func (*closeQuery) OpNum() int     { return 4 }
func (*closeQuery) OpName() string { return "PerflibV2CloseQueryHandle with a trailer" }

func (c *closeQuery) MarshalNDRRequest(ctx context.Context, w ndr.Writer) error {
	if err := c.request.MarshalNDR(ctx, w); err != nil {
		return err
	}
	if err := w.WriteAlign(4); err != nil {
		return err
	}
	return c.trailer.WriteTo(ctx, w)
}

func (c *closeQuery) UnmarshalNDRResponse(ctx context.Context, r ndr.Reader) error {
	return c.response.UnmarshalNDR(ctx, r)
}

func (*closeQuery) UnmarshalNDRRequest(context.Context, ndr.Reader) error { return errDifferent }
func (*closeQuery) MarshalNDRResponse(context.Context, ndr.Writer) error  { return errDifferent }

// judgeTrailers calls with wrong trailers, then with unusual ones. Answers how many were refused and ignored.
func judgeTrailers(
	ctx context.Context,
	conn dcerpc.Conn,
	calls *calls,
	address string,
) (refused, ignored int, err error) {
	bind := func() (perflib.PerflibV2Client, error) {
		return perflib.NewPerflibV2Client(ctx, conn, dcerpc.WithSeal())
	}
	// Gets no fault, and keeps the association group alive.
	steady, err := bind()
	if err != nil {
		return 0, 0, fmt.Errorf("bind: %w", err)
	}
	// Each trailer meets a query and a binding of its own.
	prepare := func() (perflib.PerflibV2Client, *perflib.Query, error) {
		opened, err := steady.OpenQueryHandle(ctx, &perflib.OpenQueryHandleRequest{Machine: address})
		if err != nil {
			return nil, nil, fmt.Errorf("open a query: %w", err)
		}
		client, err := bind()
		return client, opened.Query, err
	}
	for name := range wrong(calls) {
		client, query, err := prepare()
		if err != nil {
			return 0, 0, err
		}
		trailer := wrong(calls)[name]
		if err := closeWith(ctx, client, query, trailer); err == nil || !isAccessDenied(err) {
			return 0, 0, fmt.Errorf("%s: %v instead of fault 5: %w", name, err, errDifferent)
		}
		// The query is still there: the refused call was not executed.
		if _, err := steady.CloseQueryHandle(ctx, &perflib.CloseQueryHandleRequest{Query: query}); err != nil {
			return 0, 0, fmt.Errorf("%s: the query after it: %w", name, err)
		}
		refused++
	}
	for name := range unusual(calls) {
		client, query, err := prepare()
		if err != nil {
			return 0, 0, err
		}
		trailer := unusual(calls)[name]
		if err := closeWith(ctx, client, query, trailer); err != nil {
			return 0, 0, fmt.Errorf("%s: %w", name, err)
		}
		// The query is gone: the call was executed.
		again := one(dcerpc.VerifyBitMask(0), 0, false)
		if err := closeWith(ctx, client, query, again); err == nil || isAccessDenied(err) {
			return 0, 0, fmt.Errorf("%s: %v for a query that was closed: %w", name, err, errDifferent)
		}
		ignored++
	}
	return refused, ignored, nil
}

func closeWith(
	ctx context.Context,
	client perflib.PerflibV2Client,
	query *perflib.Query,
	commands []*dcerpc.VerificationCommand,
) error {
	call := closeQuery{request: &perflib.CloseQueryHandleRequest{Query: query}}
	call.trailer.Commands = commands
	if err := client.Conn().Invoke(ctx, &call); err != nil {
		return err
	}
	if call.response.Return != 0 {
		return fmt.Errorf("status %d: %w", call.response.Return, errDifferent)
	}
	return nil
}

type trailers map[string][]*dcerpc.VerificationCommand

func one(command any, kind dcerpc.CommandType, required bool) []*dcerpc.VerificationCommand {
	return []*dcerpc.VerificationCommand{{Command: command, CommandType: kind, Required: required}}
}

// wrong are trailers that contradict the call, or ask for what the server does not know.
func wrong(calls *calls) trailers {
	winreg := *perflib.PerflibV2SyntaxV1_0
	version := *perflib.PerflibV2SyntaxV1_0
	uuid := *winreg.IfUUID
	uuid.TimeLow++
	winreg.IfUUID, version.IfVersionMajor = &uuid, 2
	ndr64 := dcerpc.TransferNDR64SyntaxV1_0
	transfer := dcerpc.TransferNDRSyntaxV2_0
	right := perflib.PerflibV2SyntaxV1_0
	otherCall := calls.header2(4)
	otherCall[8]++
	return trailers{
		"a header2 of another opnum": one(calls.header2(5), dcerpc.CommandTypeHeader2, true),
		"a header2 of another call":  one(otherCall, dcerpc.CommandTypeHeader2, false),
		"a pcontext of another interface": one(&dcerpc.VerifyPresentation{InterfaceID: &winreg, TransferSyntax: transfer},
			0, true),
		"a pcontext of another version": one(&dcerpc.VerifyPresentation{InterfaceID: &version, TransferSyntax: transfer},
			0, false),
		"a pcontext of another transfer syntax": one(&dcerpc.VerifyPresentation{InterfaceID: right, TransferSyntax: ndr64},
			0, true),
		"an unknown command that has to be processed": one([]byte{1, 2, 3, 4}, 0x2A, true),
	}
}

// unusual are trailers that a server has to let pass.
func unusual(calls *calls) trailers {
	known := dcerpc.VerifyBitMaskSupportHeaderSign
	return trailers{
		"a right header2":       one(calls.header2(4), dcerpc.CommandTypeHeader2, true),
		"unknown bits":          one(dcerpc.VerifyBitMask(0xFFFF_FFF0)|known, 0, true),
		"an unknown command":    one([]byte{1, 2, 3, 4}, 0x2A, false),
		"an empty command":      one([]byte{}, 0x2B, false),
		"two unknown commands":  append(one([]byte{1, 2, 3, 4}, 0x2A, false), one([]byte{9, 9, 9, 9}, 0x3FFF, false)...),
		"a right pcontext":      one(&dcerpc.VerifyPresentation{InterfaceID: perflib.PerflibV2SyntaxV1_0, TransferSyntax: dcerpc.TransferNDRSyntaxV2_0}, 0, true),
		"no command but a mask": one(dcerpc.VerifyBitMask(0), 0, false),
	}
}

func isAccessDenied(err error) bool {
	text := err.Error()
	return strings.Contains(text, "ERROR_ACCESS_DENIED") || strings.Contains(text, "rpc_s_access_denied") ||
		strings.Contains(text, "0x00000005")
}
