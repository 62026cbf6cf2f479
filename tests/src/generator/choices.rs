//! A string of choices.

/// Choices that come from bytes: given ones, or a sequence of pseudo-random ones.
#[derive(Clone, Debug)]
pub struct Choices {
    bytes: Vec<u8>,
    at: usize,
    /// The state of the generator of further bytes (SplitMix64).
    more: Option<u64>,
}

impl Choices {
    /// Random choices, from a seed.
    pub fn random(seed: u64) -> Choices {
        // Neighbouring seeds must not yield the same sequence, a step later.
        Choices { bytes: Vec::new(), at: 0, more: Some(mixed(!seed)) }
    }

    /// Given choices; when there are no more, each is 0, the simplest.
    pub fn of_bytes(bytes: Vec<u8>) -> Choices {
        Choices { bytes, at: 0, more: None }
    }

    /// The bytes that were used.
    pub fn used(&self) -> &[u8] {
        &self.bytes[..self.at.min(self.bytes.len())]
    }

    /// A number below `count`, which is at most 256.
    pub fn below(&mut self, count: usize) -> usize {
        if let (true, Some(state)) = (self.at == self.bytes.len(), &mut self.more) {
            *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            self.bytes.push((mixed(*state) >> 56) as u8);
        }
        let byte = self.bytes.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        usize::from(byte) % count
    }

    /// One of several.
    pub fn of<'a>(&mut self, texts: &[&'a str]) -> &'a str {
        texts[self.below(texts.len())]
    }
}

/// The finaliser of SplitMix64.
fn mixed(state: u64) -> u64 {
    let bits = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}
