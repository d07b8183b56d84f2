use proptest::prelude::*;
use rpc::{CallInfo, Direction, Interface};

use crate::shelf::{HANDLE, Library, Shelf, ShelfServer};

#[test]
fn the_table_has_the_methods_by_opnum_with_their_names() {
    assert_eq!(Shelf::SYNTAX_ID.to_string(), "0a74ef1c-41a4-4e06-83ae-dc74fb1cdd53 v2.1");
    let rows: Vec<_> =
        Shelf::METHODS.iter().map(|method| (method.opnum, method.name, method.words)).collect();
    let expected = [
        (0, "ShelfOpen", "open shelf"),
        (1, "CloseShelf", "close shelf"),
        (4, "ReadBook", "read book"),
        (5, "WriteBook", "write book"),
        (9, "Rest", "rest"),
        (12, "Title", "title"),
        (13, "IsThere", "is there"),
    ];
    assert_eq!(rows, expected);
    assert_eq!(Shelf::method(4).unwrap().name, "ReadBook");
    assert_eq!(Shelf::method(3), None);
    assert!(Shelf::recode(Direction::Reply, 3, &[]).is_none());
}

proptest! {
    #[test]
    fn what_is_read_is_written_as_it_is_and_no_bytes_panic(
        opnum in 0_u16..14,
        is_request: bool,
        stub in proptest::collection::vec(prop_oneof![0_u8..4, any::<u8>()], 0..80),
    ) {
        let direction = if is_request { Direction::Request } else { Direction::Reply };
        if let Some(Ok(Ok(written))) = Shelf::recode(direction, opnum, &stub) {
            let again = Shelf::recode(direction, opnum, &written).unwrap().unwrap().unwrap();
            prop_assert_eq!(again, written);
        }
        let mut library = Library::default();
        library.open.insert(HANDLE.uuid);
        let _answer = library.dispatch(&CallInfo::default(), opnum, &stub);
    }
}
