//! Which elements a column shares, for those who keep something beside them.

use std::any::Any;
use std::sync::Weak;

/// The identity of shared elements: the same for all columns that show the same part of the same
/// elements, and different for all others, also for equal ones. As long as anybody keeps it, elements
/// are not changed in place, and no others get the same identity.
#[derive(Clone, Debug)]
pub struct Identity {
    pub(super) elements: Weak<dyn Any + Send + Sync>,
    pub(super) start: usize,
    pub(super) len: usize,
}

impl Identity {
    /// Equal for equal identities: where the elements lie, and which of them.
    pub fn key(&self) -> (usize, usize, usize) {
        (self.elements.as_ptr().cast::<()>() as usize, self.start, self.len)
    }

    /// Whether anybody holds the elements still.
    pub fn is_alive(&self) -> bool {
        self.elements.strong_count() > 0
    }
}

#[cfg(test)]
mod tests {
    use crate::{Buf, Column};

    #[test]
    fn shared_elements_are_the_same_ones() {
        let column = Column::I64(vec![1, 2, 3].into());
        let other = Column::I64(vec![1, 2, 3].into());
        let key = |column: &Column| column.identity().map(|identity| identity.key());
        assert_eq!(key(&column), key(&column.clone()));
        assert_ne!(key(&column), key(&other));
        assert_ne!(key(&column), key(&column.slice(1, 2)));
        assert_eq!(key(&column.slice(1, 2)), key(&column.slice(1, 2)));
    }

    #[test]
    fn what_has_an_identity_is_not_changed_in_place() {
        let mut buf = Buf::new(vec![1_i64, 2]);
        let identity = buf.identity();
        buf.make_mut()[0] = 7;
        assert_ne!(buf.identity().key(), identity.key());
        assert_eq!(buf.as_slice(), [7, 2]);
    }

    #[test]
    fn an_identity_outlives_its_elements() {
        let buf = Buf::new(vec![1_u8]);
        let identity = buf.identity();
        assert!(identity.is_alive());
        drop(buf);
        assert!(!identity.is_alive());
    }
}
