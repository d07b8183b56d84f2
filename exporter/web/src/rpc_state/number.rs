/// A decimal number, or a hexadecimal one after `0x`, as options and parameters have it.
pub fn number<T: TryFrom<u64>>(text: &str) -> Result<T, String> {
    let parsed = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    let number =
        parsed.map_err(|error| format!("{error}; write a decimal number, or a hexadecimal one after 0x"))?;
    T::try_from(number).map_err(|_| "the number is too large".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_decimal_or_hexadecimal() {
        assert_eq!(number::<u32>("1234"), Ok(1234));
        assert_eq!(number::<u32>("0xb60040e0"), Ok(0xb600_40e0));
        assert_eq!(number::<u16>("65536"), Err("the number is too large".to_owned()));
        assert!(number::<u32>("b6").is_err() && number::<u32>("-1").is_err() && number::<u32>("0x").is_err());
    }
}
