package main

import (
	"context"
	"fmt"
	"reflect"

	"github.com/oiweiwei/go-msrpc/msrpc/dcom"
	comevclient "github.com/oiweiwei/go-msrpc/msrpc/dcom/comev/client"
	subscription "github.com/oiweiwei/go-msrpc/msrpc/dcom/comev/ieventsubscription/v0"
	subscription2 "github.com/oiweiwei/go-msrpc/msrpc/dcom/comev/ieventsubscription2/v0"
	subscription3 "github.com/oiweiwei/go-msrpc/msrpc/dcom/comev/ieventsubscription3/v0"
	"github.com/oiweiwei/go-msrpc/msrpc/dcom/oaut"
)

const (
	subscriptionID    = "{5B5C0000-0000-4000-8000-0000000000B2}"
	trackerEvents     = "{ECABB0C3-7F19-11D2-978E-0000F8757E2A}"
	trackerEventsIID  = "{4E6CDCC9-FB25-4FD5-9CC5-C9F4B6559CEC}"
	defaultPartition  = "{41E90F3E-56C1-4633-81C3-6E8BAC8BDD70}"
	otherSubscription = "{5B5C0000-0000-4000-8000-0000000000B3}"
)

var subscriptionClass = classID("7542e960-79c7-11d1-88f9-0080c7d771bf")

var subscriptionIIDs = []*dcom.IID{
	subscription.EventSubscriptionIID, subscription2.EventSubscription2IID, subscription3.EventSubscription3IID,
}

// texts are the properties of a subscription that are texts, by the interface that has them: IEventSubscription, and the
// two that extend it.
var texts = [3]map[string]string{
	{
		"SubscriptionID":   subscriptionID,
		"SubscriptionName": "go-msrpc 🐿",
		"EventClassID":     trackerEvents,
		"InterfaceID":      trackerEventsIID,
		"PublisherID":      trackerEvents,
		"MethodName":       "OnNewTrackingInfo",
		"OwnerSID":         "S-1-5-21-1-2-3-1001",
		"Description":      "Größe: 3 °C, \"1 < 2\"",
		"MachineName":      "web1",
	},
	{"FilterCriteria": "a == 1"},
	{
		"EventClassPartitionID":   defaultPartition,
		"EventClassApplicationID": otherSubscription,
		"SubscriberPartitionID":   defaultPartition,
		"SubscriberApplicationID": otherSubscription,
	},
}

// subscriptionClients are the three interfaces of one subscription.
type subscriptionClients struct {
	ctx     context.Context
	this    *dcom.ORPCThis
	first   subscription.EventSubscriptionClient
	clients [3]any
}

func newSubscriptionClients(
	ctx context.Context, this *dcom.ORPCThis, c comevclient.Client, references []*dcom.InterfacePointer,
) (*subscriptionClients, error) {
	var ipids [3]*dcom.IPID
	for i, reference := range references {
		if reference == nil {
			return nil, fmt.Errorf("a subscription has no interface %s: %w", subscriptionIIDs[i], errDifferent)
		}
		ipids[i] = reference.IPID()
	}
	first := c.EventSubscription().IPID(ctx, ipids[0])
	second, third := c.EventSubscription2().IPID(ctx, ipids[1]), c.EventSubscription3().IPID(ctx, ipids[2])
	return &subscriptionClients{ctx, this, first, [3]any{first, second, third}}, nil
}

// property calls the method of a property. Methods, requests and responses are named after it.
func (s *subscriptionClients) property(client any, verb, name string, value *oaut.String) (*oaut.String, error) {
	method := reflect.ValueOf(client).MethodByName(verb + name)
	request := reflect.New(method.Type().In(1).Elem())
	request.Elem().FieldByName("This").Set(reflect.ValueOf(s.this))
	if value != nil {
		request.Elem().FieldByName(name).Set(reflect.ValueOf(value))
	}
	results := method.Call([]reflect.Value{reflect.ValueOf(s.ctx), request})
	if err, failed := results[1].Interface().(error); failed {
		return nil, fmt.Errorf("%s%s: %w", verb, name, err)
	}
	if value != nil {
		return nil, nil
	}
	return results[0].Elem().FieldByName(name).Interface().(*oaut.String), nil
}

func (s *subscriptionClients) putAll(subscriber *dcom.InterfacePointer) error {
	for i, client := range s.clients {
		for name, text := range texts[i] {
			if _, err := s.property(client, "Set", name, &oaut.String{Data: text}); err != nil {
				return err
			}
		}
	}
	if _, err := s.first.SetEnabled(s.ctx, &subscription.SetEnabledRequest{This: s.this, Enabled: true}); err != nil {
		return err
	}
	if _, err := s.first.SetPerUser(s.ctx, &subscription.SetPerUserRequest{This: s.this}); err != nil {
		return err
	}
	_, err := s.first.SetSubscriberInterface(s.ctx, &subscription.SetSubscriberInterfaceRequest{
		This: s.this, SubscriberInterface: (*dcom.Unknown)(subscriber),
	})
	return err
}

// checkAll compares all properties with those that were put, and answers how many they are.
func (s *subscriptionClients) checkAll(subscriber *dcom.InterfacePointer) (int, error) {
	same := 0
	for i, client := range s.clients {
		for name, text := range texts[i] {
			found, err := s.property(client, "Get", name, nil)
			if err != nil {
				return same, err
			}
			if found == nil || found.Data != text {
				return same, fmt.Errorf("%s is stored as %v: %w", name, found, errDifferent)
			}
			same++
		}
	}
	enabled, err := s.first.GetEnabled(s.ctx, &subscription.GetEnabledRequest{This: s.this})
	if err != nil {
		return same, err
	}
	perUser, err := s.first.GetPerUser(s.ctx, &subscription.GetPerUserRequest{This: s.this})
	if err != nil {
		return same, err
	}
	reference, err := s.first.GetSubscriberInterface(s.ctx, &subscription.GetSubscriberInterfaceRequest{This: s.this})
	if err != nil {
		return same, err
	}
	stored := reference.SubscriberInterface.InterfacePointer()
	if !enabled.Enabled || perUser.PerUser || !reflect.DeepEqual(stored.Data, subscriber.Data) {
		return same, fmt.Errorf("enabled %v, per user %v, %x: %w", enabled.Enabled, perUser.PerUser, stored.Data, errDifferent)
	}
	return same + 3, nil
}
