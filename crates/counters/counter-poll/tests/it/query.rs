//! A query is filled with countersets, and each block of its data is found.

use counter_poll::{Addition, Catalog, Forms, Lookup, OpenQuery, Which};
use counters::pcq::types::InstanceType;
use test_support::future::now;
use wire::Guid;

use crate::host::client;

#[test]
fn a_query_tells_of_each_block_which_counterset_it_is_and_of_refused_ones_why() {
    let mut client = client();
    let mut catalog = Catalog::default();
    catalog.enumerated(now(client.enumerate_counter_set()).unwrap());
    let mut additions = Vec::new();
    for (watched, name) in ["Thermal Zone Information", "HTTP Service"].into_iter().enumerate() {
        let found = now(catalog.find(&mut client, &Which::Name(name.to_owned()))).unwrap();
        let [Lookup::Found(counterset)] = &found[..] else { panic!("{found:?}") };
        let (guid, instance_type) = (counterset.provider.guid().unwrap(), counterset.instance_type);
        additions.push(Addition { watched, guid, instance_type, is_type_inferred: false });
    }
    let nobodys = Addition {
        watched: 7,
        guid: Guid::from_u128(7),
        instance_type: InstanceType::MULTIPLE,
        ..additions[0]
    };
    additions.push(nobodys);
    let mut query = now(OpenQuery::open(&mut client, counters::pcq::wire::Layout::default())).unwrap();
    let refused = now(query.fill(&mut client, &additions, &mut Forms::default())).unwrap();
    assert_eq!(refused.iter().map(|refusal| refusal.watched).collect::<Vec<_>>(), [7]);
    let data = now(query.fetch(&mut client)).unwrap();
    query.check(&data.data()).unwrap();
    let mut blocks: Vec<_> = (0..2).map(|block| query.watched_of(block)).collect();
    blocks.sort();
    assert_eq!(blocks, [Some(0), Some(1)]);
    assert_eq!(query.watched_of(2), None);
}
