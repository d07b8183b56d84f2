use rpc::ndr::{NdrDecode, NdrEncode};

/// [MS-OAUT] 2.2.27 `VARIANT_BOOL`
#[doc(alias = "VARIANT_BOOL")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, NdrEncode, NdrDecode)]
pub struct VariantBool(pub u16);

impl VariantBool {
    /// VARIANT_TRUE
    pub const TRUE: Self = Self(0xffff);
    /// VARIANT_FALSE
    pub const FALSE: Self = Self(0);

    /// Whether it is true: anything but zero.
    #[must_use]
    pub const fn is_true(self) -> bool {
        self.0 != 0
    }
}

impl From<bool> for VariantBool {
    fn from(value: bool) -> Self {
        if value { Self::TRUE } else { Self::FALSE }
    }
}

/// [MS-OAUT] 2.2.24 `CURRENCY`: ten-thousandths.
#[doc(alias = "CURRENCY")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, NdrEncode, NdrDecode)]
pub struct Currency(pub i64);

/// [MS-OAUT] 2.2.25 `DATE`: days since 1899-12-30, in no stated time zone. Before that day the fraction still counts
/// forward, so that -1.25 is 06:00 on 1899-12-29.
#[doc(alias = "DATE")]
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Default, NdrEncode, NdrDecode)]
pub struct Date(pub f64);

/// [MS-OAUT] 2.2.26 `DECIMAL`: an integer of 96 bits, divided by a power of ten.
#[doc(alias = "DECIMAL")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, NdrEncode, NdrDecode)]
pub struct Decimal {
    /// Means nothing.
    #[ndr(name = "wReserved")]
    pub reserved: u16,
    /// The power of ten, at most 28.
    #[ndr(check = is_scale)]
    pub scale: u8,
    /// 0, or 0x80 for a negative number.
    #[ndr(check = is_sign)]
    pub sign: u8,
    /// The high 32 bits of the integer.
    #[ndr(name = "Hi32")]
    pub high: u32,
    /// The low 64 bits of the integer.
    #[ndr(name = "Lo64")]
    pub low: u64,
}

fn is_scale(scale: &u8) -> Result<(), &'static str> {
    if *scale <= 28 { Ok(()) } else { Err("is above 28") }
}

fn is_sign(sign: &u8) -> Result<(), &'static str> {
    if matches!(sign, 0 | 0x80) { Ok(()) } else { Err("is neither 0 nor 0x80") }
}
