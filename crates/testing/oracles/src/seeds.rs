//! The inputs that fuzzing begins with, as far as our own encoders make them; the example `seed` adds bytes of others.

mod associations;
mod pcq;
mod stubs;

use com::comt::tracking::write::{Choices, EmptyText};
use rpc::ndr::{Conformant, WideString, Writer};

pub use self::associations::frames;
use self::associations::{associations, connections};
use self::pcq::{blocks, buffers, calls, registrations};
pub use self::stubs::{Stub, stubs};
pub use crate::input::chunk;
use crate::ms_pcq::SET;

/// An input: its oracle, its name, and its bytes.
pub type Seed = (&'static str, String, Vec<u8>);

const MADE: &str = "our own encoders take it";

#[must_use]
pub fn seeds() -> Vec<Seed> {
    let mut seeds = values();
    seeds.extend(buffers());
    seeds.extend(calls());
    seeds.extend(blocks());
    seeds.extend(registrations());
    seeds.extend(stubs::seeds());
    let dcom = crate::ms_dcom::honest_structures().into_iter();
    seeds.extend(dcom.map(|(name, bytes)| ("dcom_objref", name.to_owned(), bytes)));
    let call_backs = crate::dcom_exporter::honest().into_iter();
    seeds.extend(call_backs.map(|(name, bytes)| ("dcom_call_backs", name.to_owned(), bytes)));
    let towers = crate::epm::honest_towers().into_iter();
    seeds.extend(towers.map(|(name, bytes)| ("epm_tower", name.to_owned(), bytes)));
    seeds.push(("epm_responses", "honest".to_owned(), crate::epm::honest_responses()));
    seeds.push(("rpc_cells", "honest".to_owned(), crate::rpc_cells::honest_file()));
    seeds.push(("counter_log_journal", "honest".to_owned(), crate::counter_log::honest_journal()));
    seeds.extend(texts());
    seeds.extend(events());
    let documents = crate::ms_pla::documents().into_iter();
    seeds.extend(documents.map(|(name, bytes)| ("pla_xml", name.to_owned(), bytes)));
    let calls = crate::ms_pla::honest_inputs().into_iter();
    seeds.extend(calls.map(|(oracle, name, bytes)| (oracle, name.to_owned(), bytes)));
    seeds.extend(alerts());
    seeds.push(("data_manager_cab", "honest".to_owned(), crate::data_manager::honest()));
    seeds.extend(rules());
    seeds.extend(associations());
    seeds.extend(connections());
    seeds
}

fn values() -> Vec<Seed> {
    // S-1-5-21-1-2-3-500, by hand.
    let mut sid = vec![1, 5, 0, 0, 0, 0, 0, 5];
    [21_u32, 1, 2, 3, 500].iter().for_each(|part| sid.extend(part.to_le_bytes()));
    let text = |text: &str| Some(Box::new(WideString(text.to_owned())));
    let mut dst = Writer::new();
    dst.write(&Conformant(vec![text("a"), None, text("_Total")])).expect(MADE);
    // NODE: 7, "a", and another after it: 8, no name, the end.
    let node: [u32; 9] = [7, 0x2_0000, 0x2_0004, 2, 0, 2, 0x61, 8, 0];
    let node = node.iter().chain(&[0]).flat_map(|word| word.to_le_bytes()).collect();
    let constructs = crate::ndr::honest().into_iter();
    let constructs = constructs.map(|(name, stub)| ("ndr_constructs", name.to_owned(), stub));
    let others = vec![
        ("dtyp_values", "sid".to_owned(), sid),
        ("dtyp_values", "guid".to_owned(), SET.to_bytes().to_vec()),
        ("dtyp_values", "guid_text".to_owned(), SET.to_string().into_bytes()),
        ("ndr_constructs", "strings".to_owned(), dst.into_stub()),
        ("ndr_constructs", "nodes".to_owned(), node),
        ("ndr_constructs", "bytes".to_owned(), vec![3, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0xaa, 0xbb]),
    ];
    others.into_iter().chain(constructs).collect()
}

/// Tracker events in two of the forms that writers choose.
fn events() -> Vec<Seed> {
    let other = Choices { empty_text: EmptyText::ZeroLength, collection_first: true, ..Choices::default() };
    let event =
        |name: &str, choices| ("comt_tracking", name.to_owned(), crate::ms_comt::honest_event(&choices));
    vec![event("usual", Choices::default()), event("collections_first", other)]
}

/// Counter paths as people write them.
fn texts() -> Vec<Seed> {
    let paths = [
        r"\\web7\Processor Information(0,*)\% Processor Time",
        r"\Process(svchost#2)\ID Process",
        r"\Thread(chrome/14#*)\Context Switches/sec",
        r"\Memory\Available MBytes",
        r"\GPU Engine(pid_4_luid_0x0_engtype_3D (x))\Utilization Percentage",
        r"\Processor Information(0,*\% Processor Time",
    ];
    (0..).zip(paths).map(|(n, path): (u8, _)| ("counter_path", format!("path_{n}"), path.into())).collect()
}

/// Rules with each action, and with variables whose values have quotes.
fn rules() -> Vec<Seed> {
    let actions = [
        "<Variable name='x' expression='Data[2]'/><Variable name='y'>{x} $(s)</Variable>",
        "<Insert select='//Data'><Attribute name='a' value='{x}'/><Node axis='child'><b>{y}</b></Node></Insert>",
        "<Insert><Node axis='following-sibling' document='c.xml' select='/Config/a'/></Insert>",
        "<Delete select='//Item[Data=\"{x}\"]/@* | //Header'/>",
        "<Warning select='.' table='//Table[1]' tag='t'><Item><Data name='symptom' link='t'>{x}</Data></Item></Warning>",
    ];
    let document = |actions: &str| {
        format!(
            "<Rules><Logging level='1'/><StringTable><String ID='s'>text {{x}}</String></StringTable><Group name='$(s)'>\
             <Rule name='r'><Step select='//Item' sortType='max' sortDataType='number' sortNode='Data[3]'>\
             <Variable name='x' expression='Data[@name=\"instance\"]'/><Exists><When expression='count(Data) &gt; 2 and \
             \"{{x}}\" != 1'>{actions}</When><Otherwise/></Exists></Step></Rule></Group></Rules>"
        )
    };
    let all = std::iter::once(("all".to_owned(), actions.concat()));
    let each = (0..).zip(actions).map(|(n, action): (u8, _)| (format!("action_{n}"), action.to_owned()));
    all.chain(each)
        .map(|(name, actions)| ("pla_rules_document", name, document(&actions).into_bytes()))
        .collect()
}

/// Thresholds and arguments of tasks as people write them.
fn alerts() -> Vec<Seed> {
    let texts = [
        ("pla_thresholds", r"\\web7\Processor(_Total)\% Processor Time > 90.5"),
        ("pla_thresholds", r"\Memory\Available MBytes<1e2"),
        ("pla_thresholds", r"\A(a>b)\B<-.5; \A\C>1"),
        ("pla_arguments", "Alert {name} --at=\"{date} UTC\" {counter} {VALUE}>{threshold} {usertext} {x} {{"),
        ("pla_arguments", "\"\" a\"b c\"d {name}{value}"),
    ];
    (0..).zip(texts).map(|(n, (oracle, text)): (u8, _)| (oracle, format!("text_{n}"), text.into())).collect()
}
