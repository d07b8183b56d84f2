/// The checksum of cabinet files: words of four bytes, of which the last one is in reverse if it is short.
pub(crate) fn checksum(bytes: &[u8], seed: u32) -> u32 {
    let mut words = bytes.chunks_exact(4);
    let mut sum = seed;
    for word in &mut words {
        // A chunk of four has four bytes.
        sum ^= u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
    }
    sum ^ words.remainder().iter().fold(0, |rest, byte| rest << 8 | u32::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::checksum;

    #[test]
    fn the_example_of_the_format_s_document_has_its_checksum() {
        let data =
            b"#include <stdio.h>\r\n\r\nvoid main(void)\r\n{\r\n    printf(\"Hello, world!\\n\");\r\n}\r\n\
            #include <stdio.h>\r\n\r\nvoid main(void)\r\n{\r\n    printf(\"Welcome!\\n\");\r\n}\r\n\r\n";
        assert_eq!(checksum(b"\x97\0\x97\0", checksum(data, 0)), 0x30a6_5abd);
    }
}
