package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"reflect"
	"sort"
	"strings"

	"github.com/oiweiwei/go-msrpc/dcerpc"
	"github.com/oiweiwei/go-msrpc/midl/uuid"
	"github.com/oiweiwei/go-msrpc/msrpc/dcom"
	"github.com/oiweiwei/go-msrpc/msrpc/dcom/oaut"
	alert "github.com/oiweiwei/go-msrpc/msrpc/dcom/pla/ialertdatacollector/v0"
	apitrace "github.com/oiweiwei/go-msrpc/msrpc/dcom/pla/iapitracingdatacollector/v0"
	configuration "github.com/oiweiwei/go-msrpc/msrpc/dcom/pla/iconfigurationdatacollector/v0"
	collector "github.com/oiweiwei/go-msrpc/msrpc/dcom/pla/idatacollector/v0"
	collectors "github.com/oiweiwei/go-msrpc/msrpc/dcom/pla/idatacollectorcollection/v0"
	set "github.com/oiweiwei/go-msrpc/msrpc/dcom/pla/idatacollectorset/v0"
	sets "github.com/oiweiwei/go-msrpc/msrpc/dcom/pla/idatacollectorsetcollection/v0"
	manager "github.com/oiweiwei/go-msrpc/msrpc/dcom/pla/idatamanager/v0"
	action "github.com/oiweiwei/go-msrpc/msrpc/dcom/pla/ifolderaction/v0"
	actions "github.com/oiweiwei/go-msrpc/msrpc/dcom/pla/ifolderactioncollection/v0"
	placounters "github.com/oiweiwei/go-msrpc/msrpc/dcom/pla/iperformancecounterdatacollector/v0"
	schedule "github.com/oiweiwei/go-msrpc/msrpc/dcom/pla/ischedule/v0"
	schedules "github.com/oiweiwei/go-msrpc/msrpc/dcom/pla/ischedulecollection/v0"
	trace "github.com/oiweiwei/go-msrpc/msrpc/dcom/pla/itracedatacollector/v0"
	provider "github.com/oiweiwei/go-msrpc/msrpc/dcom/pla/itracedataprovider/v0"
	providers "github.com/oiweiwei/go-msrpc/msrpc/dcom/pla/itracedataprovidercollection/v0"
	valuemap "github.com/oiweiwei/go-msrpc/msrpc/dcom/pla/ivaluemap/v0"
	valueitem "github.com/oiweiwei/go-msrpc/msrpc/dcom/pla/ivaluemapitem/v0"
	"github.com/oiweiwei/go-msrpc/msrpc/dtyp"
	"github.com/oiweiwei/go-msrpc/ndr"
)

// plaMethod is a method of [MS-PLA]: go-msrpc's types of its request and of its response.
type plaMethod struct{ request, response reflect.Type }

// recorder is a connection that keeps the number of the method that is called, and answers nothing.
type recorder struct {
	dcerpc.Conn
	opnum int
}

func (r *recorder) Bind(context.Context, ...dcerpc.Option) (dcerpc.Conn, error) { return r, nil }
func (r *recorder) Context() context.Context                                    { return context.Background() }
func (r *recorder) Invoke(_ context.Context, op dcerpc.Operation, _ ...dcerpc.CallOption) error {
	r.opnum = op.OpNum()
	return errDifferent
}

// methodsOf finds the methods of a client of go-msrpc, by their numbers; `make` makes the client. What the client inherits
// comes as clients of their own, and not as methods.
func methodsOf[T any](make func(context.Context, dcerpc.Conn, ...dcerpc.Option) (T, error)) map[int]plaMethod {
	ctx, calls := context.Background(), &recorder{}
	client, err := make(ctx, calls)
	if err != nil {
		panic(err)
	}
	found := map[int]plaMethod{}
	declared := reflect.TypeOf(&client).Elem()
	for i := range declared.NumMethod() {
		method := reflect.ValueOf(client).MethodByName(declared.Method(i).Name)
		kind := method.Type()
		if kind.NumIn() != 3 || kind.NumOut() != 2 || !strings.HasSuffix(kind.In(1).String(), "Request") {
			continue
		}
		request := reflect.New(kind.In(1).Elem())
		method.Call([]reflect.Value{reflect.ValueOf(ctx), request, reflect.ValueOf(dcom.WithIPID(&dcom.IPID{}))})
		found[calls.opnum] = plaMethod{request.Type().Elem(), kind.Out(0).Elem()}
	}
	return found
}

func plaInterfaces() map[string]map[int]plaMethod {
	return map[string]map[int]plaMethod{
		"IDataCollectorSet":                methodsOf(set.NewDataCollectorSetClient),
		"IDataManager":                     methodsOf(manager.NewDataManagerClient),
		"IFolderAction":                    methodsOf(action.NewFolderActionClient),
		"IFolderActionCollection":          methodsOf(actions.NewFolderActionCollectionClient),
		"IDataCollector":                   methodsOf(collector.NewDataCollectorClient),
		"IPerformanceCounterDataCollector": methodsOf(placounters.NewPerformanceCounterDataCollectorClient),
		"IConfigurationDataCollector":      methodsOf(configuration.NewConfigurationDataCollectorClient),
		"IAlertDataCollector":              methodsOf(alert.NewAlertDataCollectorClient),
		"ITraceDataCollector":              methodsOf(trace.NewTraceDataCollectorClient),
		"IApiTracingDataCollector":         methodsOf(apitrace.NewAPITracingDataCollectorClient),
		"ITraceDataProvider":               methodsOf(provider.NewTraceDataProviderClient),
		"ISchedule":                        methodsOf(schedule.NewScheduleClient),
		"ITraceDataProviderCollection":     methodsOf(providers.NewTraceDataProviderCollectionClient),
		"IScheduleCollection":              methodsOf(schedules.NewScheduleCollectionClient),
		"IDataCollectorCollection":         methodsOf(collectors.NewDataCollectorCollectionClient),
		"IDataCollectorSetCollection":      methodsOf(sets.NewDataCollectorSetCollectionClient),
		"IValueMapItem":                    methodsOf(valueitem.NewValueMapItemClient),
		"IValueMap":                        methodsOf(valuemap.NewValueMapClient),
	}
}

var (
	bstr      = reflect.TypeFor[*oaut.String]()
	safeArray = reflect.TypeFor[*oaut.SafeArray]()
	variant   = reflect.TypeFor[*oaut.Variant]()
	guid      = reflect.TypeFor[*dtyp.GUID]()
	reference = reflect.TypeFor[*dcom.InterfacePointer]()
)

// plaResult is what each response returns.
const plaResult = 0x00300100

// fill gives each parameter a value that is made of a seed, which grows by one with each. `bytes` names the methods whose
// array is one of bytes: in Go all arrays have the same type.
func fill(message reflect.Value, seed uint32, hasBytes bool) error {
	for i := range message.NumField() {
		field, kind := message.Field(i), message.Type().Field(i)
		if kind.Name == "This" || kind.Name == "That" {
			continue
		}
		if kind.Name == "Return" {
			field.SetInt(plaResult)
			continue
		}
		value, err := madeUp(kind.Type, seed, hasBytes)
		if err != nil {
			return fmt.Errorf("%s: %w", kind.Name, err)
		}
		field.Set(value)
		seed++
	}
	return nil
}

// have says that an array names the type of its elements.
const have = 0x80

func madeUp(kind reflect.Type, seed uint32, hasBytes bool) (reflect.Value, error) {
	value := reflect.New(kind).Elem()
	switch {
	case kind == bstr:
		return reflect.ValueOf(&oaut.String{Data: fmt.Sprint("text ", seed)}), nil
	case kind == guid:
		return reflect.ValueOf(dtyp.GUIDFromUUID(&uuid.UUID{TimeLow: seed, TimeMid: 0x1111, TimeHiAndVersion: 0x2222})), nil
	case kind == variant:
		union := &oaut.Variant_VarUnion{Value: &oaut.Variant_VarUnion_Long{Long: -int32(seed)}}
		return reflect.ValueOf(&oaut.Variant{Size: 3, VT: 3, VarUnion: union}), nil
	case kind == safeArray && hasBytes:
		elements := &oaut.ByteSizedArray{Data: []byte{byte(seed), byte(seed >> 8), 3}}
		union := &oaut.SafeArrayUnion{SafeArrayType: 16, Value: &oaut.SafeArrayUnion_Byte{Byte: elements}}
		bound := []*oaut.SafeArrayBound{{ElementsCount: 3}}
		return reflect.ValueOf(&oaut.SafeArray{Features: have, ElementsLength: 1, LocksCount: 17 << 16, ArrayStructs: union, Bound: bound}), nil
	case kind == safeArray:
		elements := &oaut.SafeArrayString{String: []*oaut.String{{Data: fmt.Sprint("first ", seed)}, {Data: "second"}}}
		union := &oaut.SafeArrayUnion{SafeArrayType: 8, Value: &oaut.SafeArrayUnion_String{String: elements}}
		bound := []*oaut.SafeArrayBound{{ElementsCount: 2}}
		return reflect.ValueOf(&oaut.SafeArray{Features: have | 0x100, ElementsLength: 4, LocksCount: 8 << 16, ArrayStructs: union, Bound: bound}), nil
	case reference.ConvertibleTo(kind):
		data := binary.LittleEndian.AppendUint32([]byte("MEOW"), seed)
		return reflect.ValueOf(&dcom.InterfacePointer{Data: data}).Convert(kind), nil
	case kind.Kind() == reflect.Int16:
		// A VARIANT_BOOL.
		value.SetInt(-int64(seed & 1))
	case kind.Kind() == reflect.Int32:
		value.SetInt(0x11000000 + int64(seed))
	case kind.Kind() == reflect.Uint16:
		// An enumeration.
		value.SetUint(uint64(seed & 0x7fff))
	case kind.Kind() == reflect.Uint32:
		value.SetUint(0xee000000 + uint64(seed))
	case kind.Kind() == reflect.Uint64:
		value.SetUint(0x1122334400000000 + uint64(seed))
	default:
		return value, fmt.Errorf("no value of the type %s: %w", kind, errDifferent)
	}
	return value, nil
}

// shown has the parameters of a message, in words.
func shown(message reflect.Value) []string {
	var words []string
	for i := range message.NumField() {
		name, field := message.Type().Field(i).Name, message.Field(i)
		if name == "This" || name == "That" {
			continue
		}
		words = append(words, show(field))
	}
	return words
}

func show(value reflect.Value) string {
	if value.Kind() == reflect.Pointer && value.IsNil() {
		return "null"
	}
	switch kind := value.Type(); {
	case kind == bstr:
		return value.Interface().(*oaut.String).Data
	case kind == guid:
		return value.Interface().(*dtyp.GUID).UUID().String()
	case kind == variant:
		one := value.Interface().(*oaut.Variant)
		return fmt.Sprint("variant ", one.VT, " ", one.VarUnion.GetValue())
	case kind == safeArray:
		var words []string
		switch elements := value.Interface().(*oaut.SafeArray).ArrayStructs.GetValue().(type) {
		case *oaut.SafeArrayString:
			for _, element := range elements.String {
				words = append(words, element.Data)
			}
		case *oaut.ByteSizedArray:
			words = append(words, hex.EncodeToString(elements.Data))
		default:
			return fmt.Sprintf("an array of %T", elements)
		}
		return strings.Join(words, ", ")
	case value.CanConvert(reference):
		return hex.EncodeToString(value.Convert(reference).Interface().(*dcom.InterfacePointer).Data)
	case value.CanInt():
		return fmt.Sprint(value.Int())
	default:
		return fmt.Sprint(value.Uint())
	}
}

// header fills ORPCTHIS or ORPCTHAT.
func header(message reflect.Value) {
	if this := message.FieldByName("This"); this.IsValid() {
		cid := (*dcom.CID)(dtyp.GUIDFromUUID(&uuid.UUID{TimeLow: 7}))
		this.Set(reflect.ValueOf(&dcom.ORPCThis{Version: &dcom.COMVersion{MajorVersion: 5, MinorVersion: 7}, CID: cid}))
	}
	if that := message.FieldByName("That"); that.IsValid() {
		that.Set(reflect.ValueOf(&dcom.ORPCThat{}))
	}
}

// writePlaStubs prints a request and a response of each method of [MS-PLA], as go-msrpc writes them: the interface, the
// opnum, `in` or `out`, and the bytes.
func writePlaStubs(to io.Writer) error {
	for name, methods := range plaInterfaces() {
		for opnum, method := range methods {
			for _, one := range []struct {
				direction string
				kind      reflect.Type
			}{{"in", method.request}, {"out", method.response}} {
				message := reflect.New(one.kind)
				header(message.Elem())
				hasBytes := name == "ITraceDataProvider"
				if err := fill(message.Elem(), uint32(opnum)*16, hasBytes); err != nil {
					return fmt.Errorf("%s %d %s: %w", name, opnum, one.direction, err)
				}
				stub, err := ndr.Marshal(message.Interface().(ndr.Marshaler))
				if err != nil {
					return fmt.Errorf("%s %d %s: %w", name, opnum, one.direction, err)
				}
				fmt.Fprintf(to, "%s %d %s %x\n", name, opnum, one.direction, stub)
			}
		}
	}
	return nil
}

// readPlaStubs reads such lines, and prints what go-msrpc finds in the parameters instead of the bytes.
func readPlaStubs(from io.Reader, to io.Writer) error {
	interfaces := plaInterfaces()
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var name, direction string
		var opnum int
		var stub []byte
		if _, err := fmt.Sscanf(lines.Text(), "%s %d %s %x", &name, &opnum, &direction, &stub); err != nil {
			return fmt.Errorf("%q: %w", lines.Text(), err)
		}
		method, is := interfaces[name][opnum]
		if !is {
			return fmt.Errorf("%s %d: go-msrpc has no such method: %w", name, opnum, errDifferent)
		}
		kind := method.request
		if direction == "out" {
			kind = method.response
		}
		message := reflect.New(kind)
		if err := ndr.Unmarshal(stub, message.Interface().(ndr.Unmarshaler)); err != nil {
			return fmt.Errorf("%s %d %s: %w", name, opnum, direction, err)
		}
		fmt.Fprintf(to, "%s %d %s %s\n", name, opnum, direction, strings.Join(shown(message.Elem()), "; "))
	}
	return lines.Err()
}

// plaStubs writes stubs, or reads those of a file. Its lines are sorted.
func plaStubs(files []string) error {
	var lines strings.Builder
	if len(files) == 0 {
		if err := writePlaStubs(&lines); err != nil {
			return err
		}
	} else {
		file, err := os.Open(files[0])
		if err != nil {
			return err
		}
		defer file.Close()
		if err := readPlaStubs(file, &lines); err != nil {
			return err
		}
	}
	sorted := strings.SplitAfter(lines.String(), "\n")
	sort.Strings(sorted)
	_, err := io.WriteString(os.Stdout, strings.Join(sorted, ""))
	return err
}
