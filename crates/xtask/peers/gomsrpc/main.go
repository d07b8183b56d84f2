// gomsrpc talks to a server of the Performance Counter Query Protocol with go-msrpc, which brings SMB, NTLM, RPC and
// the stubs; the structures of [MS-PCQ] inside the buffers are read here, by the specification.
//
//	gomsrpc -address 127.0.0.1 -port 4450 -account 'SIM\metrics' -password-file FILE -counterset 'Counter Types'
//
// go-msrpc logs in with NTLMSSP_NEGOTIATE_VERSION clear and a MIC. Every call goes out at PKT_PRIVACY. First the
// values of the named countersets are read, with right verification trailers on every call. Then single calls get
// trailers that are wrong or unusual ([MS-RPCE] 2.2.2.13): a wrong one has to be refused with fault 5 and must change
// nothing, an unusual one has to be ignored.
//
// Prints one JSON object. Exits with 1 where anything differs from what is expected.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/oiweiwei/go-msrpc/dcerpc"
	perflib "github.com/oiweiwei/go-msrpc/msrpc/pcq/perflibv2/v1"
	"github.com/oiweiwei/go-msrpc/ssp"
	"github.com/oiweiwei/go-msrpc/ssp/credential"
	"github.com/oiweiwei/go-msrpc/ssp/gssapi"
)

// names collects the values of an option that may be given several times.
type names []string

func (n *names) String() string         { return strings.Join(*n, ", ") }
func (n *names) Set(value string) error { *n = append(*n, value); return nil }

type arguments struct {
	address, account, passwordFile string
	port                           int
	countersets                    names
}

func main() {
	var a arguments
	flag.StringVar(&a.address, "address", "127.0.0.1", "the server")
	flag.IntVar(&a.port, "port", 445, "its SMB port")
	flag.StringVar(&a.account, "account", "", `DOMAIN\user`)
	flag.StringVar(&a.passwordFile, "password-file", "", "a file with the password")
	flag.Var(&a.countersets, "counterset", "a counterset to read, by its English name")
	flag.Parse()
	if err := run(a); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(a arguments) error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	password, err := os.ReadFile(a.passwordFile)
	if err != nil {
		return err
	}
	gssapi.AddCredential(credential.NewFromPassword(a.account, strings.TrimSpace(string(password))))
	gssapi.AddMechanism(ssp.SPNEGO)
	gssapi.AddMechanism(ssp.NTLM)
	ctx = gssapi.NewSecurityContext(ctx)

	var calls calls
	// Each binding gets a connection of its own, since go-msrpc gives one up on which a fault came. All of them are in
	// one association group, so that they share queries.
	conn, err := dcerpc.Dial(ctx, a.address, dcerpc.WithEndpoint("ncacn_np:[winreg]"), dcerpc.WithSMBPort(a.port),
		dcerpc.WithNewTransport(), dcerpc.WithDialer(&calls), dcerpc.WithTimeout(10*time.Second))
	if err != nil {
		return fmt.Errorf("dial: %w", err)
	}
	defer conn.Close(ctx)
	values, err := readWithTrailers(ctx, conn, a)
	if err != nil {
		return err
	}
	refused, ignored, err := judgeTrailers(ctx, conn, &calls, a.address)
	if err != nil {
		return err
	}
	logons := calls.logons.Load()
	if others := calls.otherLogons.Load(); logons == 0 || others > 0 {
		return fmt.Errorf("%d logons have a MIC and no VERSION, %d do not: %w", logons, others, errDifferent)
	}
	printed := map[string]any{"values": values, "refused": refused, "ignored": ignored, "logons": logons}
	return json.NewEncoder(os.Stdout).Encode(printed)
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

var errDifferent = errors.New("not what is expected")
