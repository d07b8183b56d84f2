//! For all events: reading gives what was written whatever the writer chose, no bytes panic, nothing is allocated.

use com::comt::tracking::write::{
    Choices, Component, Container, EmptyText, Process, Reserved, Untracked, encode, encode_containers,
};
use com::comt::tracking::{self, ApplicationType, Dropped, Limits, Visitor, read};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use wire::Guid;

/// Rebuilds what was written.
#[derive(Default)]
struct Rebuild(Vec<Process>);

fn text(text: Option<wire::WideStr<'_>>) -> String {
    text.map(|text| text.to_string()).unwrap_or_default()
}

impl<'a> Visitor<'a> for Rebuild {
    fn process(&mut self, process: &tracking::Process<'a>) {
        self.0.push(Process {
            process_id: process.process_id,
            exe_name: text(process.exe_name),
            is_paused: process.is_paused.unwrap(),
            is_recycling: process.is_recycling.unwrap(),
            is_service: process.is_service.unwrap(),
            containers: Vec::new(),
        });
    }

    fn container(&mut self, process: Option<&tracking::Process<'a>>, container: &tracking::Container<'a>) {
        if process.is_none() && self.0.is_empty() {
            self.0.push(Process::default());
        }
        self.0.last_mut().unwrap().containers.push(Container {
            application_id: container.application_id,
            container_id: container.container_id.unwrap(),
            application_type: container.application_type.unwrap(),
            partition_id: container.partition_id.unwrap(),
            name: text(container.name),
            components: Vec::new(),
        });
    }

    fn component(
        &mut self,
        _: Option<&tracking::Process<'a>>,
        _: &tracking::Container<'a>,
        component: &tracking::Component<'a>,
    ) {
        let container = self.0.last_mut().unwrap().containers.last_mut().unwrap();
        container.components.push(Component {
            clsid: component.clsid,
            name: text(component.name),
            objects: component.objects,
            activated: component.activated,
            pooled: component.pooled,
            in_call: component.in_call,
            call_time_ms: component.call_time_ms,
        });
    }

    fn dropped(&mut self, dropped: &Dropped<'a>) {
        panic!("{dropped}");
    }
}

fn guid() -> impl Strategy<Value = Guid> {
    any::<u128>().prop_map(Guid::from_u128)
}

fn name() -> impl Strategy<Value = String> {
    "[^\0]{0,12}"
}

fn component() -> impl Strategy<Value = Component> {
    let number = || option::of(0..u32::MAX);
    (guid(), name(), [number(), number(), number(), number(), number()]).prop_map(
        |(clsid, name, [objects, activated, pooled, in_call, call_time_ms])| Component {
            clsid,
            name,
            objects,
            activated,
            pooled,
            in_call,
            call_time_ms,
        },
    )
}

fn container() -> impl Strategy<Value = Container> {
    let ids = [guid().boxed(), guid().boxed(), guid().boxed()];
    (ids, 0..u32::MAX, name(), vec(component(), 0..4)).prop_map(
        |([application_id, container_id, partition_id], application_type, name, components)| Container {
            application_id,
            container_id,
            application_type: ApplicationType(application_type),
            partition_id,
            name,
            components,
        },
    )
}

fn process() -> impl Strategy<Value = Process> {
    (option::of(0..u32::MAX), name(), any::<[bool; 3]>(), vec(container(), 0..4)).prop_map(
        |(process_id, exe_name, [is_paused, is_recycling, is_service], containers)| Process {
            process_id,
            exe_name,
            is_paused,
            is_recycling,
            is_service,
            containers,
        },
    )
}

fn choices() -> impl Strategy<Value = Choices> {
    let reserved = prop_oneof![
        Just(Reserved::DataSize),
        Just(Reserved::DataSizeAndEight),
        any::<u32>().prop_map(Reserved::Number)
    ];
    let untracked = prop_oneof![Just(Untracked::AllOnes), Just(Untracked::Omitted)];
    let empty_text =
        prop_oneof![Just(EmptyText::Omitted), Just(EmptyText::ZeroLength), Just(EmptyText::NoValue)];
    let container_id_name = prop_oneof![Just("ApplInstanceID"), Just("AppInstanceID")];
    (guid(), reserved, untracked, empty_text, container_id_name, any::<[bool; 6]>()).prop_map(
        |(interface, reserved, untracked, empty_text, container_id_name, flags)| {
            let [is_terminated, repeats_names, collection_first, lists_names, empty_collections, has_heads] =
                flags;
            Choices {
                interface,
                has_heads,
                reserved,
                untracked,
                empty_text,
                is_terminated,
                repeats_names,
                collection_first,
                lists_names,
                container_id_name,
                empty_collections,
            }
        },
    )
}

proptest! {
    #[test]
    fn what_is_written_is_read_whatever_the_writer_chose(
        processes in vec(process(), 0..4),
        choices in choices(),
    ) {
        let mut bytes = encode(&processes, &choices).unwrap();
        let size = bytes.len();
        bytes.extend([0xaa; 3]);
        let mut rebuilt = Rebuild::default();
        prop_assert_eq!(read(&bytes, &Limits::default(), &mut rebuilt), Ok(size));
        prop_assert_eq!(rebuilt.0, processes);
    }

    #[test]
    fn containers_without_processes_are_read(containers in vec(container(), 1..4), choices in choices()) {
        let bytes = encode_containers(&containers, &choices).unwrap();
        let mut rebuilt = Rebuild::default();
        prop_assert_eq!(read(&bytes, &Limits::default(), &mut rebuilt), Ok(bytes.len()));
        prop_assert_eq!(&rebuilt.0[0].containers, &containers);
    }

    #[test]
    fn bytes_that_were_damaged_do_not_panic(
        processes in vec(process(), 1..4),
        choices in choices(),
        damage in vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        end in any::<prop::sample::Index>(),
    ) {
        let mut bytes = encode(&processes, &choices).unwrap();
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        for bytes in [&bytes[..], &bytes[..end.index(bytes.len())]] {
            if let Err(error) = read(bytes, &Limits::default(), &mut Count::default()) {
                prop_assert!(error.offset <= bytes.len());
            }
        }
    }
}

#[derive(Default)]
struct Count(usize);

impl<'a> Visitor<'a> for Count {
    fn component(
        &mut self,
        _: Option<&tracking::Process<'a>>,
        _: &tracking::Container<'a>,
        component: &tracking::Component<'a>,
    ) {
        self.0 += 1;
        std::hint::black_box(component);
    }
}

#[test]
fn reading_allocates_nothing() {
    let containers =
        vec![Container { components: vec![Component::default(); 20], ..Container::default() }; 100];
    let processes = [Process { exe_name: "dllhost.exe".to_owned(), containers, ..Process::default() }];
    for collection_first in [false, true] {
        let choices = Choices { collection_first, ..Choices::default() };
        let bytes = encode(&processes, &choices).unwrap();
        let mut count = Count::default();
        let allocated = allocation_counter::measure(|| {
            read(&bytes, &Limits::default(), &mut count).unwrap();
        });
        assert_eq!((allocated.count_total, count.0), (0, 2_000));
    }
}
