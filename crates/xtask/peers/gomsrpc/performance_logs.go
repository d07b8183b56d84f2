package main

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/oiweiwei/go-msrpc/dcerpc"
	"github.com/oiweiwei/go-msrpc/msrpc/dcom"
	unknown "github.com/oiweiwei/go-msrpc/msrpc/dcom/iremunknown/v0"
	unknown2 "github.com/oiweiwei/go-msrpc/msrpc/dcom/iremunknown2/v0"
	"github.com/oiweiwei/go-msrpc/msrpc/dcom/oaut"
	enumerator "github.com/oiweiwei/go-msrpc/msrpc/dcom/oaut/ienumvariant/v0"
	"github.com/oiweiwei/go-msrpc/msrpc/dcom/pla"
	alert "github.com/oiweiwei/go-msrpc/msrpc/dcom/pla/ialertdatacollector/v0"
	collector "github.com/oiweiwei/go-msrpc/msrpc/dcom/pla/idatacollector/v0"
	collectors "github.com/oiweiwei/go-msrpc/msrpc/dcom/pla/idatacollectorcollection/v0"
	set "github.com/oiweiwei/go-msrpc/msrpc/dcom/pla/idatacollectorset/v0"
	sets "github.com/oiweiwei/go-msrpc/msrpc/dcom/pla/idatacollectorsetcollection/v0"
	manager "github.com/oiweiwei/go-msrpc/msrpc/dcom/pla/idatamanager/v0"
	placounters "github.com/oiweiwei/go-msrpc/msrpc/dcom/pla/iperformancecounterdatacollector/v0"
	schedules "github.com/oiweiwei/go-msrpc/msrpc/dcom/pla/ischedulecollection/v0"
)

var (
	setClass           = classID("03837521-098b-11d8-9414-505054503030")
	setCollectionClass = classID("03837532-098b-11d8-9414-505054503030")
)

// performanceLogs lists the data collector sets of a host, and starts and stops one. Indexes of a collection are passed
// over: go-msrpc leaves the pointer to a VARIANT out, which [MS-OAUT] 2.2.29.2 has.
func performanceLogs(ctx context.Context, a arguments, calls *calls) (any, error) {
	d, err := dial(ctx, a, calls)
	if err != nil {
		return nil, err
	}
	listed, err := listSets(ctx, d)
	if err != nil {
		return nil, fmt.Errorf("data collector sets: %w", err)
	}
	if err := startAndStop(ctx, d, a.set); err != nil {
		return nil, fmt.Errorf("%s: %w", a.set, err)
	}
	return map[string]any{"sets": listed}, nil
}

// plaObjects are the objects of performance logs and alerts, behind one connection, which is bound once to each interface.
type plaObjects struct {
	ctx         context.Context
	object      *object
	conn        dcerpc.Conn
	unknown     unknown.RemoteUnknownClient
	unknown2    unknown2.RemoteUnknown2Client
	enumerators enumerator.EnumVariantClient
	sets        sets.DataCollectorSetCollectionClient
	set         set.DataCollectorSetClient
	collectors  collectors.DataCollectorCollectionClient
	collector   collector.DataCollectorClient
	counters    placounters.PerformanceCounterDataCollectorClient
	alert       alert.AlertDataCollectorClient
	schedules   schedules.ScheduleCollectionClient
	manager     manager.DataManagerClient
}

// bind binds an interface by one of go-msrpc's functions.
func bind[T any](p *plaObjects, client *T, make func(context.Context, dcerpc.Conn, ...dcerpc.Option) (T, error)) error {
	bound, err := make(p.ctx, p.conn, dcerpc.WithSeal())
	if err != nil {
		return fmt.Errorf("bind: %w", err)
	}
	*client = bound
	return nil
}

func (p *plaObjects) RemoteUnknown() unknown.RemoteUnknownClient    { return p.unknown }
func (p *plaObjects) RemoteUnknown2() unknown2.RemoteUnknown2Client { return p.unknown2 }

func openPla(ctx context.Context, h *objectHost, class *dcom.ClassID, iid *dcom.IID) (*plaObjects, error) {
	o, err := h.activate(ctx, class, iid)
	if err != nil {
		return nil, err
	}
	conn, err := o.connect(ctx)
	if err != nil {
		return nil, err
	}
	p := &plaObjects{ctx: ctx, object: o, conn: conn}
	return p, errors.Join(
		bind(p, &p.unknown, unknown.NewRemoteUnknownClient),
		bind(p, &p.unknown2, unknown2.NewRemoteUnknown2Client),
		bind(p, &p.enumerators, enumerator.NewEnumVariantClient),
		bind(p, &p.sets, sets.NewDataCollectorSetCollectionClient),
		bind(p, &p.set, set.NewDataCollectorSetClient),
		bind(p, &p.collectors, collectors.NewDataCollectorCollectionClient),
		bind(p, &p.collector, collector.NewDataCollectorClient),
		bind(p, &p.counters, placounters.NewPerformanceCounterDataCollectorClient),
		bind(p, &p.alert, alert.NewAlertDataCollectorClient),
		bind(p, &p.schedules, schedules.NewScheduleCollectionClient),
		bind(p, &p.manager, manager.NewDataManagerClient),
	)
}

// as asks an object for another interface.
func (p *plaObjects) as(of *dcom.InterfacePointer, iid *dcom.IID) (*dcom.IPID, error) {
	found, err := p.object.query(p.ctx, p, of.IPID(), iid)
	if err != nil {
		return nil, err
	}
	if found[0] == nil {
		return nil, fmt.Errorf("no interface %s: %w", iid, errDifferent)
	}
	return found[0].IPID(), nil
}

// items are the objects that an enumerator returns, each as the interface that it is asked for.
func (p *plaObjects) items(of *dcom.Unknown, count int32, iid *dcom.IID) ([]*dcom.IPID, error) {
	ipid, err := p.as(of.InterfacePointer(), enumerator.EnumVariantIID)
	if err != nil {
		return nil, err
	}
	client := p.enumerators
	// S_FALSE, which fewer items than wanted have, is an error of the stub.
	next, err := client.Next(p.ctx, &enumerator.NextRequest{This: p.object.host.this, Count: uint32(count)},
		dcom.WithIPID(ipid))
	if err != nil {
		return nil, fmt.Errorf("Next: %w", err)
	}
	var found []*dcom.IPID
	for _, item := range next.Var {
		dispatch, is := item.VarUnion.GetValue().(*oaut.Dispatch)
		if !is {
			return nil, fmt.Errorf("%v is no object: %w", item, errDifferent)
		}
		own, err := p.as(dispatch.InterfacePointer(), iid)
		if err != nil {
			return nil, err
		}
		found = append(found, own)
	}
	return found, nil
}

// plaSet is a set as the methods of its objects answer it.
type plaSet struct {
	Name       string         `json:"name"`
	Status     int            `json:"status"`
	Duration   uint32         `json:"duration_s"`
	Serial     uint32         `json:"serial_number"`
	Root       string         `json:"root_path"`
	Format     int            `json:"subdirectory_format"`
	Keywords   []string       `json:"keywords"`
	Collectors []plaCollector `json:"collectors"`
	Schedules  int32          `json:"schedules"`
	MaxFolders uint32         `json:"folders_max"`
}

type plaCollector struct {
	Kind     int      `json:"kind"`
	Name     string   `json:"name"`
	Interval uint32   `json:"sample_interval_s"`
	Paths    []string `json:"paths"`
}

func listSets(ctx context.Context, h *objectHost) ([]plaSet, error) {
	p, err := openPla(ctx, h, setCollectionClass, sets.DataCollectorSetCollectionIID)
	if err != nil {
		return nil, err
	}
	defer p.conn.Close(ctx)
	client := p.sets
	own := dcom.WithIPID(p.object.references[0].IPID())
	if _, err := client.GetDataCollectorSets(ctx, &sets.GetDataCollectorSetsRequest{This: h.this}, own); err != nil {
		return nil, fmt.Errorf("GetDataCollectorSets: %w", err)
	}
	count, err := client.GetCount(ctx, &sets.GetCountRequest{This: h.this}, own)
	if err != nil {
		return nil, fmt.Errorf("get_Count: %w", err)
	}
	all, err := client.Get_NewEnum(ctx, &sets.Get_NewEnumRequest{This: h.this}, own)
	if err != nil {
		return nil, fmt.Errorf("get__NewEnum: %w", err)
	}
	found, err := p.items(all.ReturnValue, count.ReturnValue, set.DataCollectorSetIID)
	if err != nil {
		return nil, err
	}
	var listed []plaSet
	for _, ipid := range found {
		read, err := p.readSet(ipid)
		if err != nil {
			return nil, err
		}
		listed = append(listed, *read)
	}
	return listed, p.object.release(ctx, p, p.object.references[0])
}

func (p *plaObjects) readSet(ipid *dcom.IPID) (*plaSet, error) {
	client := p.set
	ctx, this, c := p.ctx, p.object.host.this, client.IPID(p.ctx, ipid)
	name, err := c.GetName(ctx, &set.GetNameRequest{This: this})
	if err != nil {
		return nil, fmt.Errorf("get_Name: %w", err)
	}
	status, err := c.GetStatus(ctx, &set.GetStatusRequest{This: this})
	if err != nil {
		return nil, fmt.Errorf("get_Status: %w", err)
	}
	duration, err := c.GetDuration(ctx, &set.GetDurationRequest{This: this})
	if err != nil {
		return nil, fmt.Errorf("get_Duration: %w", err)
	}
	serial, err := c.GetSerialNumber(ctx, &set.GetSerialNumberRequest{This: this})
	if err != nil {
		return nil, fmt.Errorf("get_SerialNumber: %w", err)
	}
	root, err := c.GetRootPath(ctx, &set.GetRootPathRequest{This: this})
	if err != nil {
		return nil, fmt.Errorf("get_RootPath: %w", err)
	}
	format, err := c.GetSubdirectoryFormat(ctx, &set.GetSubdirectoryFormatRequest{This: this})
	if err != nil {
		return nil, fmt.Errorf("get_SubdirectoryFormat: %w", err)
	}
	keywords, err := c.GetKeywords(ctx, &set.GetKeywordsRequest{This: this})
	if err != nil {
		return nil, fmt.Errorf("get_Keywords: %w", err)
	}
	read := &plaSet{
		Name: name.Name.Data, Status: int(status.Status), Duration: duration.Seconds, Serial: serial.Index,
		Root: root.Folder.Data, Format: int(format.Format), Keywords: textsOf(keywords.Keywords),
	}
	if err := p.readParts(c, read); err != nil {
		return nil, fmt.Errorf("%s: %w", read.Name, err)
	}
	document, err := c.GetXML(ctx, &set.GetXMLRequest{This: this})
	if err != nil {
		return nil, fmt.Errorf("get_Xml: %w", err)
	}
	return read, compareWithXML(read, document.XML.Data)
}

// readParts reads the collectors of a set, how many schedules it has, and a limit of its data manager.
func (p *plaObjects) readParts(c set.DataCollectorSetClient, read *plaSet) error {
	ctx, this := p.ctx, p.object.host.this
	collection, err := c.GetDataCollectors(ctx, &set.GetDataCollectorsRequest{This: this})
	if err != nil {
		return fmt.Errorf("get_DataCollectors: %w", err)
	}
	if read.Collectors, err = p.readCollectors(collection.Collectors); err != nil {
		return err
	}
	when, err := c.GetSchedules(ctx, &set.GetSchedulesRequest{This: this})
	if err != nil {
		return fmt.Errorf("get_Schedules: %w", err)
	}
	client := p.schedules
	count, err := client.GetCount(ctx, &schedules.GetCountRequest{This: this},
		dcom.WithIPID(when.Schedules.InterfacePointer().IPID()))
	if err != nil {
		return fmt.Errorf("get_Count of schedules: %w", err)
	}
	read.Schedules = count.ReturnValue
	data, err := c.GetDataManager(ctx, &set.GetDataManagerRequest{This: this})
	if err != nil {
		return fmt.Errorf("get_DataManager: %w", err)
	}
	managers := p.manager
	folders, err := managers.GetMaxFolderCount(ctx, &manager.GetMaxFolderCountRequest{This: this},
		dcom.WithIPID(data.DataManager.InterfacePointer().IPID()))
	if err != nil {
		return fmt.Errorf("get_MaxFolderCount: %w", err)
	}
	read.MaxFolders = folders.MaxFolderCount
	return nil
}

func (p *plaObjects) readCollectors(of *pla.DataCollectorCollection) ([]plaCollector, error) {
	ctx, this := p.ctx, p.object.host.this
	client := p.collectors
	own := dcom.WithIPID(of.InterfacePointer().IPID())
	count, err := client.GetCount(ctx, &collectors.GetCountRequest{This: this}, own)
	if err != nil {
		return nil, fmt.Errorf("get_Count of collectors: %w", err)
	}
	if count.ReturnValue == 0 {
		return nil, nil
	}
	all, err := client.Get_NewEnum(ctx, &collectors.Get_NewEnumRequest{This: this}, own)
	if err != nil {
		return nil, fmt.Errorf("get__NewEnum of collectors: %w", err)
	}
	ipids, err := p.items(all.ReturnValue, count.ReturnValue, collector.DataCollectorIID)
	if err != nil {
		return nil, err
	}
	common := p.collector
	var found []plaCollector
	for _, ipid := range ipids {
		c := common.IPID(ctx, ipid)
		kind, err := c.GetDataCollectorType(ctx, &collector.GetDataCollectorTypeRequest{This: this})
		if err != nil {
			return nil, fmt.Errorf("get_DataCollectorType: %w", err)
		}
		name, err := c.GetName(ctx, &collector.GetNameRequest{This: this})
		if err != nil {
			return nil, fmt.Errorf("get_Name of a collector: %w", err)
		}
		one := plaCollector{Kind: int(kind.Type), Name: name.Name.Data}
		if err := p.readKind(ipid, &one); err != nil {
			return nil, fmt.Errorf("%s: %w", one.Name, err)
		}
		found = append(found, one)
	}
	return found, nil
}

// readKind reads what only counters and alerts have, by the interface of their kind.
func (p *plaObjects) readKind(ipid *dcom.IPID, one *plaCollector) error {
	ctx, this := p.ctx, p.object.host.this
	iids := map[pla.DataCollectorType]*dcom.IID{
		pla.DataCollectorTypePerformanceCounter: placounters.PerformanceCounterDataCollectorIID,
		pla.DataCollectorTypeAlert:              alert.AlertDataCollectorIID,
	}
	iid := iids[pla.DataCollectorType(one.Kind)]
	if iid == nil {
		return nil
	}
	found, err := p.object.query(ctx, p, ipid, iid)
	if err != nil || found[0] == nil {
		return fmt.Errorf("no interface %s: %v: %w", iid, err, errDifferent)
	}
	own := dcom.WithIPID(found[0].IPID())
	if iid == alert.AlertDataCollectorIID {
		client := p.alert
		paths, err := client.GetAlertThresholds(ctx, &alert.GetAlertThresholdsRequest{This: this}, own)
		if err != nil {
			return fmt.Errorf("get_AlertThresholds: %w", err)
		}
		interval, err := client.GetSampleInterval(ctx, &alert.GetSampleIntervalRequest{This: this}, own)
		if err != nil {
			return fmt.Errorf("get_SampleInterval: %w", err)
		}
		one.Paths, one.Interval = textsOf(paths.Alerts), interval.Interval
		return nil
	}
	client := p.counters
	paths, err := client.GetPerformanceCounters(ctx, &placounters.GetPerformanceCountersRequest{This: this}, own)
	if err != nil {
		return fmt.Errorf("get_PerformanceCounters: %w", err)
	}
	interval, err := client.GetSampleInterval(ctx, &placounters.GetSampleIntervalRequest{This: this}, own)
	if err != nil {
		return fmt.Errorf("get_SampleInterval: %w", err)
	}
	one.Paths, one.Interval = textsOf(paths.Counters), interval.Interval
	return nil
}

func textsOf(array *oaut.SafeArray) []string {
	texts := []string{}
	if array == nil || array.ArrayStructs == nil {
		return texts
	}
	bstrs, is := array.ArrayStructs.GetValue().(*oaut.SafeArrayString)
	if !is || bstrs == nil {
		return texts
	}
	for _, text := range bstrs.String {
		texts = append(texts, text.Data)
	}
	return texts
}

// compareWithXML compares what methods answer with the XML of the set, which Go's own reader reads.
func compareWithXML(read *plaSet, document string) error {
	type paths struct {
		Counters []string `xml:"Counter"`
		Alerts   []string `xml:"Alert"`
		Interval uint32   `xml:"SampleInterval"`
	}
	var parsed struct {
		XMLName   xml.Name `xml:"DataCollectorSet"`
		Name      string
		Status    int
		Duration  uint32
		Serial    uint32 `xml:"SerialNumber"`
		Root      string `xml:"RootPath"`
		Format    int    `xml:"SubdirectoryFormat"`
		Keyword   []string
		Counters  []paths `xml:"PerformanceCounterDataCollector"`
		Alerts    []paths `xml:"AlertDataCollector"`
		Schedule  []struct{}
		FolderMax uint32 `xml:"DataManager>MaxFolderCount"`
	}
	// The declaration says UTF-16, as the text was on its way.
	_, root, _ := strings.Cut(document, "?>")
	if err := xml.Unmarshal([]byte(root), &parsed); err != nil {
		return fmt.Errorf("the XML of %s: %w", read.Name, err)
	}
	var own, other []string
	for _, one := range read.Collectors {
		if one.Paths != nil {
			own = append(own, fmt.Sprint(one.Paths, one.Interval))
		}
	}
	for _, one := range parsed.Counters {
		other = append(other, fmt.Sprint(one.Counters, one.Interval))
	}
	for _, one := range parsed.Alerts {
		other = append(other, fmt.Sprint(one.Alerts, one.Interval))
	}
	same := read.Name == parsed.Name && read.Status == parsed.Status && read.Duration == parsed.Duration &&
		read.Serial == parsed.Serial && read.Root == parsed.Root && read.Format == parsed.Format &&
		slices.Equal(read.Keywords, parsed.Keyword) && slices.Equal(own, other) &&
		int(read.Schedules) == len(parsed.Schedule) && read.MaxFolders == parsed.FolderMax
	if !same {
		return fmt.Errorf("by methods %+v, as XML %+v: %w", *read, parsed, errDifferent)
	}
	return nil
}

// startAndStop queries a set by its name, starts and stops it, and is refused what the host does not allow.
func startAndStop(ctx context.Context, h *objectHost, name string) error {
	p, err := openPla(ctx, h, setClass, set.DataCollectorSetIID)
	if err != nil {
		return err
	}
	defer p.conn.Close(ctx)
	client := p.set
	c := client.IPID(ctx, p.object.references[0].IPID())
	query := func(name string) error {
		_, err := c.Query(ctx, &set.QueryRequest{This: h.this, Name: &oaut.String{Data: name}})
		return err
	}
	start := func() error {
		_, err := c.Start(ctx, &set.StartRequest{This: h.this, Synchronous: -1})
		return err
	}
	stop := func() error {
		_, err := c.Stop(ctx, &set.StopRequest{This: h.this, Synchronous: -1})
		return err
	}
	commit := func(name string, mode pla.CommitMode) error {
		_, err := c.Commit(ctx, &set.CommitRequest{This: h.this, Name: &oaut.String{Data: name}, Mode: mode})
		return err
	}
	for _, step := range []struct {
		what    string
		do      func() error
		refused uint32
	}{
		{"query of a set that is not there", func() error { return query("nobody's") }, 0x80300002},
		{"query", func() error { return query(name) }, 0},
		{"stop of a set that does not run", stop, 0x80300104},
		{"start", start, 0},
		{"status", func() error { return p.hasStatus(c, pla.DataCollectorSetStatusRunning) }, 0},
		{"second start", start, 0x803000aa},
		{"stop", stop, 0},
		{"status", func() error { return p.hasStatus(c, pla.DataCollectorSetStatusStopped) }, 0},
		{"validation", func() error { return commit(name, pla.CommitModeValidateOnly) }, 0},
		{"validation of one more character", func() error { return commit(name+"s", pla.CommitModeValidateOnly) }, 0},
		{"commit", func() error { return commit(name, pla.CommitModeCreateOrModify) }, 0x80070005},
	} {
		err := step.do()
		if step.refused == 0 && err != nil {
			return fmt.Errorf("%s: %w", step.what, err)
		}
		// A result is a signed number in go-msrpc's errors.
		result := fmt.Sprint(int32(step.refused))
		if step.refused != 0 && (err == nil || !strings.Contains(err.Error(), result)) {
			return fmt.Errorf("%s: %v where %#x should be: %w", step.what, err, step.refused, errDifferent)
		}
	}
	return nil
}

func (p *plaObjects) hasStatus(c set.DataCollectorSetClient, expected pla.DataCollectorSetStatus) error {
	status, err := c.GetStatus(p.ctx, &set.GetStatusRequest{This: p.object.host.this})
	if err != nil {
		return err
	}
	if status.Status != expected {
		return fmt.Errorf("%v instead of %v: %w", status.Status, expected, errDifferent)
	}
	return nil
}
