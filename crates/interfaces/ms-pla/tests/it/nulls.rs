//! Replies whose [out] pointers are NULL: each is an absent value or an error, whatever the status says, and so are collections
//! that claim more items than there can be.

use ms_pla::collection::{Collection, items};
use ms_pla::{
    IDataCollectorCollection, IDataCollectorSetCollection, IFolderActionCollection, IScheduleCollection,
    ITraceDataProviderCollection, IValueMap,
};
use rpc::orpc::{ComVersion, Proxy};
use rpc::{Channel, Direction};
use test_support::future::now;
use wire::Guid;

use crate::methods::{interfaces, stubs, table};

/// The words that stand for NULL in place of a parameter: none if it is no pointer. An array behind two pointers may be NULL
/// at either.
fn nulls(kind: &str) -> &'static [&'static [u32]] {
    match kind {
        "text" | "object" | "variant" => &[&[0]],
        "texts" | "bytes" => &[&[0], &[0x2_0000, 0]],
        _ => &[],
    }
}

fn stub(words: &[u32]) -> Vec<u8> {
    words.iter().copied().flat_map(u32::to_le_bytes).collect()
}

#[test]
fn a_null_in_place_of_each_pointer_of_each_reply_is_an_absent_value() {
    let mut replaced = 0;
    for (name, opnum, method, _, replies) in table() {
        let all = interfaces();
        let interface = all.iter().find(|one| one.name == name).unwrap();
        let pointers = replies.iter().filter(|kind| !nulls(kind).is_empty()).count();
        if pointers == 0 {
            continue;
        }
        // No reply has other parameters beside pointers, so that words are all that is needed.
        assert_eq!(pointers, replies.len(), "{name} {method}");
        for status in [0_u32, 0x0030_0100, 0x8007_0005] {
            let mut forms = vec![vec![0_u32, 0]];
            for kind in &replies {
                let with = |form: &Vec<u32>| nulls(kind).iter().map(|null| [form, *null].concat()).collect();
                forms = forms.iter().flat_map::<Vec<_>, _>(with).collect();
            }
            for form in forms {
                let reply = stub(&[&form[..], &[status]].concat());
                let recoded = (interface.recode)(Direction::Reply, opnum, &reply).unwrap();
                let recoded = recoded.unwrap_or_else(|error| panic!("{name} {method}: {error}")).unwrap();
                // Nothing takes the place of what is not there.
                assert_eq!(recoded, reply, "{name} {method}");
                replaced += 1;
            }
        }
    }
    assert_eq!(replaced, 3 * NULL_FORMS);
}

/// Forms of all NULLs of all replies; arrays have two.
const NULL_FORMS: usize = 102;

#[test]
fn a_pointer_without_what_it_points_to_is_an_error() {
    for (name, opnum, method, requests, replies) in table() {
        let all = interfaces();
        let interface = all.iter().find(|one| one.name == name).unwrap();
        if replies.iter().all(|kind| nulls(kind).is_empty()) {
            continue;
        }
        let [_, (_, whole)] = stubs(&requests, &replies);
        assert!((interface.recode)(Direction::Reply, opnum, &whole).unwrap().is_ok());
        // ORPCTHAT, the first pointer, and the status in place of what it points to.
        for status in [0, 0x8007_0005] {
            let reply = stub(&[0, 0, 0x2_0000, status]);
            let recoded = (interface.recode)(Direction::Reply, opnum, &reply).unwrap();
            assert!(recoded.is_err(), "{name} {method}: {recoded:02x?}");
        }
    }
}

/// A collection that has `count` items, each of which is NULL.
struct Claims {
    count: u32,
    calls: usize,
}

impl Channel for Claims {
    type Error = std::convert::Infallible;

    fn call(
        &mut self,
        opnum: u16,
        _: Option<Guid>,
        _: &[u8],
    ) -> impl Future<Output = Result<Vec<u8>, Self::Error>> + Send {
        self.calls += 1;
        let value = if opnum == 7 { self.count } else { 0 };
        std::future::ready(Ok(stub(&[0, 0, value, 0])))
    }
}

/// How many calls it takes to find the error.
fn calls_until<I: Collection>(count: u32, expected: &str) -> usize
where
    for<'a> &'a mut Proxy<Claims, I>: Send,
{
    let channel = Claims { count, calls: 0 };
    let mut collection: Proxy<_, I> =
        Proxy::new(channel, Guid::from_u128(1), ComVersion::V5_7, Guid::from_u128(2));
    let error = now(items(&mut collection, 4096)).unwrap_err();
    assert!(error.to_string().contains(expected), "{} of {count}: {error}", I::NAME);
    collection.channel().calls
}

fn check<I: Collection>()
where
    for<'a> &'a mut Proxy<Claims, I>: Send,
{
    for count in [4097, 0x7fff_ffff, 0x8000_0000, u32::MAX] {
        assert_eq!(calls_until::<I>(count, "is negative, or above the limit"), 1);
    }
    assert_eq!(calls_until::<I>(4096, "is NULL where the method succeeded"), 2);
}

#[test]
fn no_collection_is_believed_that_claims_billions_of_items_or_has_null_for_one() {
    check::<IFolderActionCollection>();
    check::<ITraceDataProviderCollection>();
    check::<IScheduleCollection>();
    check::<IDataCollectorCollection>();
    check::<IDataCollectorSetCollection>();
    check::<IValueMap>();
}
