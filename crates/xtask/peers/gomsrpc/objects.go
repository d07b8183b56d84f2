package main

import (
	"context"
	"fmt"

	"github.com/oiweiwei/go-msrpc/dcerpc"
	"github.com/oiweiwei/go-msrpc/midl/uuid"
	"github.com/oiweiwei/go-msrpc/msrpc/dcom"
	resolver "github.com/oiweiwei/go-msrpc/msrpc/dcom/iobjectexporter/v0"
	activator "github.com/oiweiwei/go-msrpc/msrpc/dcom/iremotescmactivator/v0"
	unknown "github.com/oiweiwei/go-msrpc/msrpc/dcom/iremunknown/v0"
	unknown2 "github.com/oiweiwei/go-msrpc/msrpc/dcom/iremunknown2/v0"
	"github.com/oiweiwei/go-msrpc/msrpc/dtyp"
)

// objects talks to the objects of a host: the tracker of COM+, and its event system. With -reference it reads the tracker
// and stores a subscription, which it leaves there; with -container it has the host dump a process, and removes it.
func objects(ctx context.Context, a arguments, calls *calls) (any, error) {
	d, err := dial(ctx, a, calls)
	if err != nil {
		return nil, err
	}
	if a.container != "" {
		return dumpAndRemove(ctx, d, a.container)
	}
	tracked, err := readTracker(ctx, d)
	if err != nil {
		return nil, fmt.Errorf("tracker: %w", err)
	}
	stored, err := store(ctx, d, a.reference)
	if err != nil {
		return nil, fmt.Errorf("event system: %w", err)
	}
	return map[string]any{"tracker": tracked, "events": stored, "bindings": d.bindings}, nil
}

// objectHost is a host with objects, behind a connection to its resolver and activator.
type objectHost struct {
	activator activator.RemoteSCMActivatorClient
	this      *dcom.ORPCThis
	options   []dcerpc.Option
	address   string
	bindings  int
}

func dial(ctx context.Context, a arguments, calls *calls) (*objectHost, error) {
	options := []dcerpc.Option{dcerpc.WithDialer(calls), dcerpc.WithTimeout(timeout)}
	at := dcerpc.WithEndpoint(fmt.Sprintf("ncacn_ip_tcp:[%d]", a.port))
	conn, err := dcerpc.Dial(ctx, a.address, append(options, at)...)
	if err != nil {
		return nil, fmt.Errorf("dial: %w", err)
	}
	exporter, err := resolver.NewObjectExporterClient(ctx, conn, dcerpc.WithSeal())
	if err != nil {
		return nil, fmt.Errorf("bind to the resolver: %w", err)
	}
	alive, err := exporter.ServerAlive2(ctx, &resolver.ServerAlive2Request{})
	if err != nil {
		return nil, fmt.Errorf("ServerAlive2: %w", err)
	}
	scm, err := activator.NewRemoteSCMActivatorClient(ctx, conn, dcerpc.WithSeal())
	if err != nil {
		return nil, fmt.Errorf("bind to the activator: %w", err)
	}
	cause := dtyp.GUIDFromUUID(uuid.MustParse("5b5c0000-0000-4000-8000-0000000000c1"))
	return &objectHost{
		activator: scm,
		this:      &dcom.ORPCThis{Version: alive.COMVersion, CID: (*dcom.CID)(cause)},
		options:   options,
		address:   a.address,
		bindings:  len(alive.ObjectResolverBindings.GetStringBindings()),
	}, nil
}

// object is one that the host has activated, with its references in the order of the interfaces that were asked for.
type object struct {
	host          *objectHost
	exporter      []dcerpc.Option
	remoteUnknown *dcom.IPID
	references    []*dcom.InterfacePointer
}

// activate asks for all six properties that a client may send, [MS-DCOM] 3.1.2.5.2.3.2.
func (h *objectHost) activate(ctx context.Context, class *dcom.ClassID, iids ...*dcom.IID) (*object, error) {
	asked := dcom.ActivationProperties{Properties: []dcom.ActivationProperty{
		&dcom.InstantiationInfoData{ClassID: class, IID: iids, ClientCOMVersion: h.this.Version},
		&dcom.ActivationContextInfoData{},
		&dcom.SecurityInfoData{},
		&dcom.LocationInfoData{},
		&dcom.SCMRequestInfoData{RemoteRequest: &dcom.CustomRemoteRequestSCMInfo{
			ClientImpLevel: 2, RequestedProtocolSequences: []uint16{7},
		}},
		&dcom.SpecialPropertiesData{SessionID: 0xFFFFFFFF},
	}}
	in, err := asked.ActivationPropertiesIn()
	if err != nil {
		return nil, err
	}
	answer, err := h.activator.RemoteCreateInstance(ctx, &activator.RemoteCreateInstanceRequest{
		ORPCThis: h.this, ActPropertiesIn: in,
	})
	if err != nil {
		return nil, fmt.Errorf("RemoteCreateInstance: %w", err)
	}
	var found dcom.ActivationProperties
	if err := found.Parse(answer.ActPropertiesOut); err != nil {
		return nil, err
	}
	reply, out := found.SCMReplyInfoData(), found.PropertiesOutInfo()
	if reply == nil || out == nil || len(out.InterfaceData) != len(iids) {
		return nil, fmt.Errorf("the properties of an activation: %w", errDifferent)
	}
	for i, result := range out.HResults {
		if result != 0 {
			return nil, fmt.Errorf("interface %s: %#x: %w", iids[i], uint32(result), errDifferent)
		}
	}
	exporter := append(reply.RemoteReply.OXIDBindings.EndpointsByProtocol("ncacn_ip_tcp"), h.options...)
	return &object{h, exporter, reply.RemoteReply.IPIDRemoteUnknown, out.InterfaceData}, nil
}

// connect opens a connection to the program with the object.
func (o *object) connect(ctx context.Context) (dcerpc.Conn, error) {
	return dcerpc.Dial(ctx, o.host.address, o.exporter...)
}

// remoteUnknowns are IRemUnknown and IRemUnknown2, which every program with objects has.
type remoteUnknowns interface {
	RemoteUnknown() unknown.RemoteUnknownClient
	RemoteUnknown2() unknown2.RemoteUnknown2Client
}

// query asks for further interfaces of an object, by IRemUnknown2, which answers whole references; nil is no interface.
func (o *object) query(
	ctx context.Context, c remoteUnknowns, of *dcom.IPID, iids ...*dcom.IID,
) ([]*dcom.InterfacePointer, error) {
	answer, err := c.RemoteUnknown2().RemoteQueryInterface2(ctx, &unknown2.RemoteQueryInterface2Request{
		This: o.host.this, IPID: of.GUID(), IIDs: iids,
	}, dcom.WithIPID(o.remoteUnknown))
	if err != nil {
		return nil, fmt.Errorf("RemQueryInterface2: %w", err)
	}
	var found []*dcom.InterfacePointer
	for i, result := range answer.HResult {
		if result != 0 {
			answer.Interface[i] = nil
		}
		found = append(found, answer.Interface[i])
	}
	return found, nil
}

// release gives references back.
func (o *object) release(ctx context.Context, c remoteUnknowns, references ...*dcom.InterfacePointer) error {
	request := &unknown.RemoteReleaseRequest{This: o.host.this}
	for _, reference := range references {
		std := reference.GetStandardObjectReference().Std
		request.InterfaceReferences = append(request.InterfaceReferences, &dcom.RemoteInterfaceReference{
			IPID: std.IPID, PublicReferencesCount: std.PublicReferencesCount,
		})
	}
	if _, err := c.RemoteUnknown().RemoteRelease(ctx, request, dcom.WithIPID(o.remoteUnknown)); err != nil {
		return fmt.Errorf("RemRelease: %w", err)
	}
	return nil
}
