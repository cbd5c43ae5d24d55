//! Bytes that the kernel's allocator takes for an object.

/// Bytes that `kmalloc` takes for an object: its size classes (mm/slab_common.c: `kmalloc_info`), whole pages
/// above.
pub fn slab_class(size: u64) -> u64 {
    const PAGE: u64 = 4096;
    match size {
        65..=96 => 96,
        129..=192 => 192,
        0..=8192 => size.max(8).next_power_of_two(),
        _ => size.checked_next_multiple_of(PAGE).unwrap_or(size),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_powers_of_two_but_for_two_and_pages_above() {
        let classes: Vec<u64> = [1, 8, 64, 65, 97, 129, 193, 4097, 8193].map(slab_class).to_vec();
        assert_eq!(classes, [8, 8, 64, 96, 128, 192, 256, 8192, 12288]);
    }
}
