//! A value as a bundle of representations, of which a front end picks the best it can show.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value as Json, json};
use weft_session::Shown;

/// The width of text, in cells.
pub(crate) const WIDTH: usize = 100;
/// The bytes that a table may take.
const HTML_BYTES: usize = 50_000;

/// The data and the metadata of a value.
pub(crate) fn bundle(shown: &Shown) -> (Json, Json) {
    let mut data = Map::new();
    let mut metadata = Map::new();
    data.insert("text/plain".to_owned(), json!(shown.text(WIDTH, false)));
    if let Some(svg) = shown.svg() {
        data.insert("image/svg+xml".to_owned(), json!(svg));
    } else if let Some(picture) = shown.picture()
        && let Some(png) = picture.png()
    {
        data.insert("image/png".to_owned(), json!(STANDARD.encode(png)));
        let size = json!({"width": picture.width, "height": picture.height});
        metadata.insert("image/png".to_owned(), size);
    } else if let Some(html) = shown.html(HTML_BYTES) {
        data.insert("text/html".to_owned(), json!(html));
    }
    if let Some(latex) = shown.latex() {
        data.insert("text/latex".to_owned(), json!(latex));
    }
    (Json::Object(data), Json::Object(metadata))
}
