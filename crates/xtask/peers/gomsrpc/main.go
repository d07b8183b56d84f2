// gomsrpc talks to a Windows host with go-msrpc, which brings SMB, NTLM, RPC, DCOM and the stubs.
//
//	gomsrpc counters -address 127.0.0.1 -port 4450 -account 'SIM\metrics' -password-file FILE -counterset 'Counter Types'
//	gomsrpc objects -address 127.0.0.1 -port 1135 -account 'SIM\metrics' -password-file FILE -reference 4d454f57…
//	gomsrpc performance-logs -address 127.0.0.1 -port 1135 -account 'SIM\metrics' -password-file FILE -set 'Low Memory'
//	gomsrpc pla-stubs [FILE]
//
// The last one talks to nobody: it writes stubs of all methods of [MS-PLA], or reads those of a file; see stubs.go. For the
// others see counters.go, objects.go and performance_logs.go. go-msrpc logs in with NTLMSSP_NEGOTIATE_VERSION clear and a MIC, and every call goes out
// at PKT_PRIVACY.
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
	reference, container, set      string
}

const timeout = 10 * time.Second

var errDifferent = errors.New("not what is expected")

func main() {
	if len(os.Args) > 1 && os.Args[1] == "pla-stubs" {
		if err := plaStubs(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	var a arguments
	flags := flag.NewFlagSet("gomsrpc", flag.ExitOnError)
	flags.StringVar(&a.address, "address", "127.0.0.1", "the server")
	flags.IntVar(&a.port, "port", 0, "its port: of SMB for counters, of the object resolver for objects")
	flags.StringVar(&a.account, "account", "", `DOMAIN\user`)
	flags.StringVar(&a.passwordFile, "password-file", "", "a file with the password")
	flags.Var(&a.countersets, "counterset", "a counterset to read, by its English name")
	flags.StringVar(&a.reference, "reference", "", "the OBJREF of a subscriber, for which to store a subscription")
	flags.StringVar(&a.container, "container", "", "a container to dump, before the subscription is removed")
	flags.StringVar(&a.set, "set", "", "the data collector set to start and stop")
	commands := map[string]func(context.Context, arguments, *calls) (any, error){
		"counters": counters, "objects": objects, "performance-logs": performanceLogs,
	}
	var command func(context.Context, arguments, *calls) (any, error)
	if len(os.Args) > 1 {
		command = commands[os.Args[1]]
	}
	if command == nil {
		fmt.Fprintln(os.Stderr, "gomsrpc counters …, gomsrpc objects … or gomsrpc performance-logs …")
		os.Exit(2)
	}
	_ = flags.Parse(os.Args[2:])
	if err := run(command, a); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(command func(context.Context, arguments, *calls) (any, error), a arguments) error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	password, err := os.ReadFile(a.passwordFile)
	if err != nil {
		return err
	}
	gssapi.AddCredential(credential.NewFromPassword(a.account, strings.TrimSpace(string(password))))
	gssapi.AddMechanism(ssp.SPNEGO)
	gssapi.AddMechanism(ssp.NTLM)
	var calls calls
	found, err := command(gssapi.NewSecurityContext(ctx), a, &calls)
	if err != nil {
		return err
	}
	logons := calls.logons.Load()
	if others := calls.otherLogons.Load(); logons == 0 || others > 0 {
		return fmt.Errorf("%d logons have a MIC and no VERSION, %d do not: %w", logons, others, errDifferent)
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]any{"logons": logons, "found": found})
}
