//! Hashes that are the same in every release and on every machine, so that files may be named by them.

use std::fmt;

use sha2::{Digest as _, Sha256};

/// A SHA-256.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The first half, in 32 hexadecimal digits: enough for a name.
    pub fn short(&self) -> String {
        hexadecimal(&self.0[..16])
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hexadecimal(&self.0))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The hash of a list of texts. Different lists have different hashes, also where the texts one after
/// the other are the same.
pub fn text_hash(texts: &[&str]) -> Digest {
    let mut hash = Sha256::new();
    for text in texts {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text.as_bytes());
    }
    Digest(hash.finalize().into())
}

/// The hash of a file.
pub fn bytes_hash(bytes: &[u8]) -> Digest {
    Digest(Sha256::digest(bytes).into())
}

#[cfg(test)]
mod tests {
    use super::{bytes_hash, text_hash};

    #[test]
    fn known_answer() {
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(bytes_hash(b"abc").to_string(), expected);
        assert_eq!(bytes_hash(b"abc").short(), expected[..32]);
    }

    #[test]
    fn where_texts_end_matters() {
        assert_ne!(text_hash(&["ab", "c"]), text_hash(&["a", "bc"]));
        assert_eq!(text_hash(&["ab", "c"]), text_hash(&["ab", "c"]));
    }
}
