//! Decoded instructions, compared with those of another decoder.

// `cfg(test)` tells clippy that helpers may unwrap and print too.
#[cfg(all(test, feature = "second-decoder"))]
mod second_decoder;
