//! CRC-32 as in Ethernet and zlib, eight bytes at a time.

/// For each of eight places of a byte what its value adds to the remainder.
const TABLES: [[u32; 256]; 8] = tables();

/// The polynomial, bit-reversed.
const POLYNOMIAL: u32 = 0xEDB8_8320;

pub(super) fn checksum(bytes: &[u8]) -> u32 {
    let (eights, rest) = bytes.as_chunks::<8>();
    let mut sum = u32::MAX;
    for eight in eights {
        let [a, b, c, d, rest @ ..] = *eight;
        let [a, b, c, d] = (sum ^ u32::from_le_bytes([a, b, c, d])).to_le_bytes();
        let bytes = [a, b, c, d, rest[0], rest[1], rest[2], rest[3]];
        sum = bytes
            .iter()
            .zip(TABLES.iter().rev())
            .fold(0, |sum, (byte, table)| sum ^ table[usize::from(*byte)]);
    }
    for byte in rest {
        let [low, ..] = sum.to_le_bytes();
        sum = (sum >> 8) ^ TABLES[0][usize::from(low ^ byte)];
    }
    !sum
}

const fn tables() -> [[u32; 256]; 8] {
    let mut tables = [[0_u32; 256]; 8];
    let mut value = 0;
    while value < 256 {
        #[expect(clippy::cast_possible_truncation, reason = "below 256")]
        let mut sum = value as u32;
        let mut bit = 0;
        while bit < 8 {
            sum = if sum & 1 == 0 { sum >> 1 } else { (sum >> 1) ^ POLYNOMIAL };
            bit += 1;
        }
        tables[0][value] = sum;
        value += 1;
    }
    let mut place = 1;
    while place < 8 {
        let mut value = 0;
        while value < 256 {
            let before = tables[place - 1][value];
            tables[place][value] = (before >> 8) ^ tables[0][(before & 0xFF) as usize];
            value += 1;
        }
        place += 1;
    }
    tables
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_are_those_of_the_catalogue() {
        // The check value of CRC-32/ISO-HDLC, and one of RFC 3720's zeros by zlib.
        assert_eq!(checksum(b"123456789"), 0xCBF4_3926);
        assert_eq!(checksum(&[0; 32]), 0x190A_55AD);
        assert_eq!(checksum(b""), 0);
    }
}
