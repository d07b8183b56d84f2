package main

import (
	"context"
	"fmt"
	"reflect"
	"unicode/utf16"

	"github.com/oiweiwei/go-msrpc/dcerpc"
	"github.com/oiweiwei/go-msrpc/midl/uuid"
	"github.com/oiweiwei/go-msrpc/msrpc/dcom"
	"github.com/oiweiwei/go-msrpc/msrpc/dcom/comt"
	comtclient "github.com/oiweiwei/go-msrpc/msrpc/dcom/comt/client"
	tracking "github.com/oiweiwei/go-msrpc/msrpc/dcom/comt/igettrackingdata/v0"
	dump "github.com/oiweiwei/go-msrpc/msrpc/dcom/comt/iprocessdump/v0"
	"github.com/oiweiwei/go-msrpc/msrpc/dtyp"
)

var (
	trackerClass     = classID("ecabafb9-7f19-11d2-978e-0000f8757e2a")
	processDumpClass = classID("ecabb0c4-7f19-11d2-978e-0000f8757e2a")
)

func classID(text string) *dcom.ClassID {
	return (*dcom.ClassID)(dtyp.GUIDFromUUID(uuid.MustParse(text)))
}

// container is one of an application, as the tracker lists it.
type container struct {
	Application    string      `json:"application_id"`
	LegacyID       uint32      `json:"legacy_id"`
	ProcessID      uint32      `json:"process_id"`
	Calls          uint32      `json:"calls_in_progress"`
	Instances      uint32      `json:"instances"`
	Distinct       uint32      `json:"distinct_components"`
	CallsPerSecond uint32      `json:"calls_per_second"`
	Components     []component `json:"components"`
}

type component struct {
	ClassID   string `json:"clsid"`
	Total     uint32 `json:"references"`
	Bound     uint32 `json:"bound_references"`
	Pooled    uint32 `json:"instances_pooled"`
	InCall    uint32 `json:"instances_in_call"`
	CallTime  uint32 `json:"call_time_ms"`
	Completed uint32 `json:"recent_calls_completed"`
	Failed    uint32 `json:"recent_calls_failed"`
}

// readTracker answers all containers with their components, and gives the tracker back.
func readTracker(ctx context.Context, h *objectHost) ([]container, error) {
	o, err := h.activate(ctx, trackerClass, tracking.GetTrackingDataIID)
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
	tracker := o.references[0]
	// The tracker writes no dumps: that is another class.
	again, err := o.query(ctx, client, tracker.IPID(), tracking.GetTrackingDataIID, dump.ProcessDumpIID)
	if err != nil {
		return nil, err
	}
	if again[0] == nil || again[1] != nil {
		return nil, fmt.Errorf("the interfaces of the tracker are %v: %w", again, errDifferent)
	}
	calls := client.GetTrackingData().IPID(ctx, tracker.IPID())
	found, err := containers(ctx, h.this, calls)
	if err != nil {
		return nil, err
	}
	if err := o.release(ctx, client, tracker, again[0]); err != nil {
		return nil, err
	}
	if _, err := calls.GetContainerData(ctx, &tracking.GetContainerDataRequest{This: h.this}); err == nil {
		return nil, fmt.Errorf("the tracker answers after it was given back: %w", errDifferent)
	}
	return found, nil
}

// containers calls the three methods of IGetTrackingData; the third has to answer for a component what the second did.
func containers(ctx context.Context, this *dcom.ORPCThis, c tracking.GetTrackingDataClient) ([]container, error) {
	listed, err := c.GetContainerData(ctx, &tracking.GetContainerDataRequest{This: this})
	if err != nil {
		return nil, err
	}
	var found []container
	for _, one := range listed.ContainerData {
		all, err := c.GetComponentDataByContainer(ctx, &tracking.GetComponentDataByContainerRequest{
			This: this, ContainerID: one.LegacyID,
		})
		if err != nil {
			return nil, err
		}
		read := newContainer(one)
		for _, data := range all.ComponentData {
			alone, err := c.GetComponentDataByContainerAndClassID(ctx,
				&tracking.GetComponentDataByContainerAndClassIDRequest{
					This: this, ContainerID: one.LegacyID, ClassID: data.ClassID,
				})
			if err != nil {
				return nil, err
			}
			if !reflect.DeepEqual(alone.ComponentData, data) {
				return nil, fmt.Errorf("alone it is %v, among others %v: %w", alone.ComponentData, data, errDifferent)
			}
			read.Components = append(read.Components, newComponent(data))
		}
		found = append(found, read)
	}
	return found, nil
}

func newContainer(data *comt.ContainerData) container {
	statistics := data.Statistics
	return container{
		Application:    string(utf16.Decode(data.ApplicationID)[:38]),
		LegacyID:       data.LegacyID,
		ProcessID:      data.ProcessID,
		Calls:          statistics.CallsCount,
		Instances:      statistics.ComponentInstancesCount,
		Distinct:       statistics.ComponentsCount,
		CallsPerSecond: statistics.CallsPerSecondCount,
	}
}

func newComponent(data *comt.ComponentData) component {
	return component{
		ClassID:   data.ClassID.String(),
		Total:     data.TotalReferencesCount,
		Bound:     data.BoundReferencesCount,
		Pooled:    data.PooledInstancesCount,
		InCall:    data.InstancesInCallCount,
		CallTime:  data.ResponseTime,
		Completed: data.CallsCompletedCount,
		Failed:    data.CallsFailedCount,
	}
}
