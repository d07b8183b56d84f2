/// How an [`Enum`](crate::ndr::Enum) stands in a stub: [`Reader::with_enums`](crate::ndr::Reader::with_enums),
/// [`Writer::with_enums`](crate::ndr::Writer::with_enums).
///
/// C706 14.2.5 gives it 16 bits. The marshaler of type libraries, which dual interfaces of objects may have, gives it 32.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum EnumForm {
    /// Written so that readers of both forms can read it, and read whichever form it has.
    #[default]
    Either,
    /// 16 bits.
    Short,
    /// 32 bits, of which the high half means nothing.
    Long,
}
