package main

import (
	"context"
	"encoding/hex"
	"fmt"

	"github.com/oiweiwei/go-msrpc/dcerpc"
	"github.com/oiweiwei/go-msrpc/msrpc/dcom"
	comevclient "github.com/oiweiwei/go-msrpc/msrpc/dcom/comev/client"
	enumerator "github.com/oiweiwei/go-msrpc/msrpc/dcom/comev/ienumeventobject/v0"
	collection "github.com/oiweiwei/go-msrpc/msrpc/dcom/comev/ieventobjectcollection/v0"
	system "github.com/oiweiwei/go-msrpc/msrpc/dcom/comev/ieventsystem/v0"
	system2 "github.com/oiweiwei/go-msrpc/msrpc/dcom/comev/ieventsystem2/v0"
	"github.com/oiweiwei/go-msrpc/msrpc/dcom/oaut"
	"github.com/oiweiwei/go-msrpc/ndr"
)

var (
	eventSystemClass = classID("4e14fba2-2e22-11d1-9964-00c04fbbb345")
	subscriptions    = &oaut.String{Data: "EventSystem.EventSubscriptionCollection"}
	byID             = &oaut.String{Data: "SubscriptionID=" + subscriptionID}
)

// eventSystem is the object that keeps subscriptions. All objects of it are in one program, behind one connection.
type eventSystem struct {
	ctx    context.Context
	host   *objectHost
	object *object
	conn   dcerpc.Conn
	client comevclient.Client
	system system.EventSystemClient
}

func openEventSystem(ctx context.Context, h *objectHost) (*eventSystem, error) {
	o, err := h.activate(ctx, eventSystemClass, system.EventSystemIID)
	if err != nil {
		return nil, err
	}
	conn, err := o.connect(ctx)
	if err != nil {
		return nil, err
	}
	client, err := comevclient.NewClient(ctx, conn, dcerpc.WithSeal())
	if err != nil {
		return nil, fmt.Errorf("bind: %w", err)
	}
	ipid := o.references[0].IPID()
	further, err := o.query(ctx, client, ipid, system2.EventSystem2IID)
	if err != nil {
		return nil, err
	}
	version, err := client.EventSystem2().GetVersion(ctx, &system2.GetVersionRequest{This: h.this},
		dcom.WithIPID(further[0].IPID()))
	if err != nil {
		return nil, err
	}
	// The version with partitions, which IEventSubscription3 belongs to.
	if version.Version != 2 {
		return nil, fmt.Errorf("version %d: %w", version.Version, errDifferent)
	}
	return &eventSystem{ctx, h, o, conn, client, client.EventSystem().IPID(ctx, ipid)}, nil
}

// store puts the properties of a subscription, stores it, and reads it back. Answers how many properties are the same.
func store(ctx context.Context, h *objectHost, reference string) (any, error) {
	subscriber, err := rewritten(reference)
	if err != nil {
		return nil, err
	}
	s, err := openEventSystem(ctx, h)
	if err != nil {
		return nil, err
	}
	defer s.conn.Close(ctx)
	made, err := h.activate(ctx, subscriptionClass, subscriptionIIDs...)
	if err != nil {
		return nil, fmt.Errorf("a subscription: %w", err)
	}
	properties, err := newSubscriptionClients(ctx, h.this, s.client, made.references)
	if err != nil {
		return nil, err
	}
	if err := properties.putAll(subscriber); err != nil {
		return nil, err
	}
	_, err = s.system.Store(ctx, &system.StoreRequest{
		This:      h.this,
		ProgID:    &oaut.String{Data: "EventSystem.EventSubscription"},
		Interface: (*dcom.Unknown)(made.references[0]),
	})
	if err != nil {
		return nil, fmt.Errorf("Store: %w", err)
	}
	return s.readBack(subscriber)
}

// readBack finds the subscription by its id, in a collection of one, and both by its name there and in turn.
func (s *eventSystem) readBack(subscriber *dcom.InterfacePointer) (any, error) {
	found, count, err := s.collect(byID)
	if err != nil {
		return nil, err
	}
	other := &oaut.String{Data: "SubscriptionID=" + otherSubscription}
	if _, none, err := s.collect(other); err != nil || none != 0 {
		return nil, fmt.Errorf("%d subscriptions have an id that none has: %v: %w", none, err, errDifferent)
	}
	if count != 1 {
		return nil, fmt.Errorf("%d subscriptions have the id: %w", count, errDifferent)
	}
	named, err := found.GetItem(s.ctx, &collection.GetItemRequest{
		This: s.host.this, ObjectID: &oaut.String{Data: subscriptionID},
	})
	if err != nil {
		return nil, fmt.Errorf("get_Item: %w", err)
	}
	// Opnum 9: get__NewEnum at opnum 7 answers the same for scripts.
	all, err := found.GetNewEnum(s.ctx, &collection.GetNewEnumRequest{This: s.host.this})
	if err != nil {
		return nil, fmt.Errorf("get_NewEnum: %w", err)
	}
	next, err := s.client.EnumEventObject().Next(s.ctx, &enumerator.NextRequest{
		This: s.host.this, RequestElemCount: 1,
	}, dcom.WithIPID(all.Enum.InterfacePointer().IPID()))
	if err != nil {
		return nil, fmt.Errorf("Next: %w", err)
	}
	if len(next.Interface) != 1 {
		return nil, fmt.Errorf("%d subscriptions in turn: %w", len(next.Interface), errDifferent)
	}
	unknown, _ := named.Item.VarUnion.GetValue().(*dcom.Unknown)
	properties := 0
	for _, item := range []*dcom.Unknown{unknown, next.Interface[0]} {
		found, err := s.object.query(s.ctx, s.client, item.InterfacePointer().IPID(), subscriptionIIDs...)
		if err != nil {
			return nil, err
		}
		one, err := newSubscriptionClients(s.ctx, s.host.this, s.client, found)
		if err != nil {
			return nil, err
		}
		same, err := one.checkAll(subscriber)
		if err != nil {
			return nil, err
		}
		properties += same
	}
	return map[string]any{"count": count, "properties": properties}, nil
}

// collect queries subscriptions, and answers how many there are.
func (s *eventSystem) collect(criteria *oaut.String) (collection.EventObjectCollectionClient, int32, error) {
	answer, err := s.system.Query(s.ctx, &system.QueryRequest{
		This: s.host.this, ProgID: subscriptions, QueryCriteria: criteria,
	})
	if err != nil {
		return nil, 0, fmt.Errorf("Query: %w", err)
	}
	found := s.client.EventObjectCollection().IPID(s.ctx, answer.Interface.InterfacePointer().IPID())
	count, err := found.GetCount(s.ctx, &collection.GetCountRequest{This: s.host.this})
	if err != nil {
		return nil, 0, fmt.Errorf("get_Count: %w", err)
	}
	return found, count.Count, nil
}

// remove removes the subscription, which then cannot be removed again, and is not found.
func remove(ctx context.Context, h *objectHost) error {
	s, err := openEventSystem(ctx, h)
	if err != nil {
		return err
	}
	defer s.conn.Close(ctx)
	request := &system.RemoveRequest{This: h.this, ProgID: subscriptions, QueryCriteria: byID}
	if _, err := s.system.Remove(ctx, request); err != nil {
		return fmt.Errorf("Remove: %w", err)
	}
	if _, err := s.system.Remove(ctx, request); err == nil {
		return fmt.Errorf("it can be removed twice: %w", errDifferent)
	}
	if _, count, err := s.collect(byID); err != nil || count != 0 {
		return fmt.Errorf("%d are left: %v: %w", count, err, errDifferent)
	}
	return nil
}

// rewritten is a reference as go-msrpc reads it, and as it writes what it has read.
func rewritten(text string) (*dcom.InterfacePointer, error) {
	data, err := hex.DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("reference: %w", err)
	}
	var reference dcom.ObjectReference
	if err := ndr.Unmarshal(data, &reference, ndr.Opaque); err != nil {
		return nil, fmt.Errorf("reference: %w", err)
	}
	written, err := ndr.Marshal(&reference, ndr.Opaque)
	return &dcom.InterfacePointer{Data: written}, err
}
