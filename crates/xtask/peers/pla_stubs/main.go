// pla_stubs prints stubs of [MS-PLA] that go-msrpc writes, one a line: the interface, the opnum, `in` or `out`, and the bytes.
// Each kind of parameter is among them in both directions. What it prints is in crates/interfaces/ms-pla/tests/data/.
package main

import (
	"fmt"
	"os"

	"github.com/oiweiwei/go-msrpc/midl/uuid"
	"github.com/oiweiwei/go-msrpc/msrpc/dcom"
	"github.com/oiweiwei/go-msrpc/msrpc/dcom/oaut"
	"github.com/oiweiwei/go-msrpc/msrpc/dcom/pla"
	collectors "github.com/oiweiwei/go-msrpc/msrpc/dcom/pla/idatacollectorcollection/v0"
	set "github.com/oiweiwei/go-msrpc/msrpc/dcom/pla/idatacollectorset/v0"
	sets "github.com/oiweiwei/go-msrpc/msrpc/dcom/pla/idatacollectorsetcollection/v0"
	manager "github.com/oiweiwei/go-msrpc/msrpc/dcom/pla/idatamanager/v0"
	schedule "github.com/oiweiwei/go-msrpc/msrpc/dcom/pla/ischedule/v0"
	trace "github.com/oiweiwei/go-msrpc/msrpc/dcom/pla/itracedatacollector/v0"
	provider "github.com/oiweiwei/go-msrpc/msrpc/dcom/pla/itracedataprovider/v0"
	"github.com/oiweiwei/go-msrpc/msrpc/dtyp"
	"github.com/oiweiwei/go-msrpc/ndr"
)

var (
	guid = dtyp.GUIDFromUUID(uuid.MustParse("0f5c3e7a-1111-2222-3333-444455556666"))
	this = &dcom.ORPCThis{Version: &dcom.COMVersion{MajorVersion: 5, MinorVersion: 7}, CID: (*dcom.CID)(guid)}
	that = &dcom.ORPCThat{}
)

func text(text string) *oaut.String { return &oaut.String{Data: text} }

func object() *dcom.InterfacePointer { return &dcom.InterfacePointer{Data: []byte("MEOW")} }

// have says that the array names the type of its elements.
const have = 0x80

func texts() *oaut.SafeArray {
	elements := &oaut.SafeArrayString{String: []*oaut.String{text("a"), text("bc")}}
	value := &oaut.SafeArrayUnion{SafeArrayType: 8, Value: &oaut.SafeArrayUnion_String{String: elements}}
	bound := []*oaut.SafeArrayBound{{ElementsCount: 2}}
	return &oaut.SafeArray{Features: have | 0x100, ElementsLength: 4, LocksCount: 8 << 16, ArrayStructs: value, Bound: bound}
}

func bytes() *oaut.SafeArray {
	elements := &oaut.ByteSizedArray{Data: []byte{1, 2, 3}}
	value := &oaut.SafeArrayUnion{SafeArrayType: 16, Value: &oaut.SafeArrayUnion_Byte{Byte: elements}}
	bound := []*oaut.SafeArrayBound{{ElementsCount: 3}}
	return &oaut.SafeArray{Features: have, ElementsLength: 1, LocksCount: 17 << 16, ArrayStructs: value, Bound: bound}
}

func number() *oaut.Variant {
	return &oaut.Variant{Size: 3, VT: 3, VarUnion: &oaut.Variant_VarUnion{Value: &oaut.Variant_VarUnion_Long{Long: 1}}}
}

func date() *oaut.Variant {
	value := &oaut.Variant_VarUnion{Value: &oaut.Variant_VarUnion_Date{Date: 44088.5}}
	return &oaut.Variant{Size: 4, VT: 7, VarUnion: value}
}

func main() {
	print := func(name, direction string, message ndr.Marshaler) {
		bytes, err := ndr.Marshal(message)
		if err != nil {
			fmt.Fprintln(os.Stderr, name, err)
			os.Exit(1)
		}
		fmt.Printf("%s %s %x\n", name, direction, bytes)
	}
	in := func(name string, message ndr.Marshaler) { print(name, "in", message) }
	out := func(name string, message ndr.Marshaler) { print(name, "out", message) }

	in("IDataCollectorSet 9", &set.SetDurationRequest{This: this, Seconds: 60})
	in("IDataCollectorSet 11", &set.SetDescriptionRequest{This: this, Description: text("Nightly run")})
	in("IDataCollectorSet 17", &set.SetKeywordsRequest{This: this, Keywords: texts()})
	in("IDataCollectorSet 25", &set.SetSegmentRequest{This: this, Segment: -1})
	in("IDataCollectorSet 37", &set.SetSubdirectoryFormatRequest{This: this, Format: 0x1002})
	in("IDataCollectorSet 60", &set.CommitRequest{This: this, Name: text("odd"), Mode: pla.CommitModeCreateOrModify})
	in("IDataManager 30", &manager.RunRequest{This: this, Steps: 0x14, Folder: text("C")})
	in("ITraceDataProvider 10", &provider.SetGUIDRequest{This: this, GUID: guid})
	in("ITraceDataProvider 20", &provider.SetFilterDataRequest{This: this, Data: bytes()})
	in("ISchedule 8", &schedule.SetStartDateRequest{This: this, Start: date()})
	in("IDataCollectorSetCollection 8", &sets.GetItemRequest{This: this, Index: number()})
	in("IDataCollectorCollection 10", &collectors.AddRequest{This: this, Collector: (*pla.DataCollector)(object())})

	out("IDataCollectorSet 7", &set.GetDataCollectorsResponse{That: that, Collectors: (*pla.DataCollectorCollection)(object())})
	out("IDataCollectorSet 8", &set.GetDurationResponse{That: that, Seconds: 60})
	out("IDataCollectorSet 16", &set.GetKeywordsResponse{That: that, Keywords: texts()})
	out("IDataCollectorSet 20", &set.GetNameResponse{That: that, Name: text("odd")})
	out("IDataCollectorSet 24", &set.GetSegmentResponse{That: that, Segment: -1})
	out("IDataCollectorSet 33", &set.GetStatusResponse{That: that, Status: pla.DataCollectorSetStatusCompiling})
	out("ITraceDataProvider 9", &provider.GetGUIDResponse{That: that, GUID: guid})
	out("ITraceDataProvider 19", &provider.GetFilterDataResponse{That: that, Data: bytes()})
	out("ITraceDataCollector 63", &trace.GetSessionIDResponse{That: that, ID: 0x1122334455667788})
	out("ISchedule 7", &schedule.GetStartDateResponse{That: that, Start: date()})
	out("IDataCollectorSetCollection 7", &sets.GetCountResponse{That: that, ReturnValue: 2})
	out("IDataCollectorCollection 14", &collectors.CreateDataCollectorFromXMLResponse{
		That:       that,
		Validation: (*pla.ValueMap)(object()),
		Collector:  (*pla.DataCollector)(object()),
		Return:     0x00300100,
	})
}
