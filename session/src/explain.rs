//! The page of every error code, built into the program: `docs/errors`; and every reason of `:fuse`.

include!(concat!(env!("OUT_DIR"), "/error_pages.rs"));

/// The page about a code such as `E0301`, or what the manual says of a reason of `:fuse` such as `F03`,
/// in Markdown.
pub fn page(code: &str) -> Option<&'static str> {
    let code = code.to_ascii_uppercase();
    PAGES.iter().chain(REASONS).find(|(known, _)| *known == code).map(|(_, page)| *page)
}

/// Every reason of `:fuse`, in order.
pub(crate) fn reasons() -> impl Iterator<Item = &'static str> {
    REASONS.iter().map(|(code, _)| *code)
}

/// Every code that has a page, in order.
pub fn codes() -> impl Iterator<Item = &'static str> {
    PAGES.iter().map(|(code, _)| *code)
}
