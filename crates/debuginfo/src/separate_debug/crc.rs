//! The checksum in `.gnu_debuglink`: CRC-32 of IEEE 802.3, as in zlib (GDB manual, "Separate Debug Files").

/// The polynomial, its bits in reverse order.
const POLYNOMIAL: u32 = 0xedb8_8320;

/// The checksums of all bytes.
const TABLE: [u32; 256] = table();

const fn table() -> [u32; 256] {
    let mut table = [0; 256];
    let mut index = 0;
    while index < table.len() {
        let (mut sum, mut bit) = (index as u32, 0);
        while bit < 8 {
            sum = if sum & 1 == 1 { (sum >> 1) ^ POLYNOMIAL } else { sum >> 1 };
            bit += 1;
        }
        table[index] = sum;
        index += 1;
    }
    table
}

/// The checksum of some bytes.
pub(super) fn crc32(bytes: &[u8]) -> u32 {
    let step = |sum: u32, byte: &u8| {
        let index = (sum as u8 ^ byte) as usize;
        TABLE.get(index).copied().unwrap_or_default() ^ (sum >> 8)
    };
    !bytes.iter().fold(!0, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_check_value_of_the_catalogue_comes_out() {
        assert_eq!((crc32(b"123456789"), crc32(b"")), (0xcbf4_3926, 0));
    }
}
