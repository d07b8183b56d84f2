package main

import (
	"context"
	"fmt"

	"github.com/oiweiwei/go-msrpc/dcerpc"
	"github.com/oiweiwei/go-msrpc/msrpc/dcom"
	comtclient "github.com/oiweiwei/go-msrpc/msrpc/dcom/comt/client"
	dump "github.com/oiweiwei/go-msrpc/msrpc/dcom/comt/iprocessdump/v0"
	"github.com/oiweiwei/go-msrpc/msrpc/dcom/oaut"
)

// dumpAndRemove has the host dump the process of a container, and removes the subscription.
func dumpAndRemove(ctx context.Context, h *objectHost, container string) (any, error) {
	files, err := dumpProcess(ctx, h, container)
	if err != nil {
		return nil, fmt.Errorf("process dump: %w", err)
	}
	if err := remove(ctx, h); err != nil {
		return nil, fmt.Errorf("event system: %w", err)
	}
	return map[string]any{"dumps": files}, nil
}

// dumpProcess asks for a dump where the host likes, and for one in a directory. Answers the two files.
func dumpProcess(ctx context.Context, h *objectHost, container string) ([]string, error) {
	o, err := h.activate(ctx, processDumpClass, dump.ProcessDumpIID)
	if err != nil {
		return nil, err
	}
	conn, err := o.connect(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close(ctx)
	client, err := comtclient.NewClient(ctx, conn, dcerpc.WithSeal())
	if err != nil {
		return nil, fmt.Errorf("bind: %w", err)
	}
	ipid := dcom.WithIPID(o.references[0].IPID())
	// S_FALSE, which is no dumps, is an error of the stub.
	if _, err := client.ProcessDump().IsSupported(ctx, &dump.IsSupportedRequest{This: h.this}, ipid); err != nil {
		return nil, err
	}
	var files []string
	for _, directory := range []*oaut.String{nil, {Data: `D:\dumps`}} {
		answer, err := client.ProcessDump().DumpProcess(ctx, &dump.DumpProcessRequest{
			This: h.this, ContainerID: &oaut.String{Data: container}, Directory: directory, MaxFiles: 2,
		}, ipid)
		if err != nil {
			return nil, err
		}
		files = append(files, answer.DumpFile.Data)
	}
	return files, o.release(ctx, client, o.references[0])
}
