//! A value as a bundle of representations, of which a front end picks the best it can show.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value as Json, json};
use weft_session::Shown;
use weft_session::display::Picture;

/// The width of text, in cells.
pub(crate) const WIDTH: usize = 100;
/// The bytes that a table may take.
const HTML_BYTES: usize = 50_000;

/// The data and the metadata of a value.
pub(crate) fn bundle(shown: &Shown) -> (Json, Json) {
    let mut data = Map::new();
    let mut metadata = Map::new();
    data.insert("text/plain".to_owned(), json!(shown.text(WIDTH, false)));
    if let Some(picture) = shown.picture()
        && let Some(png) = encode(&picture)
    {
        data.insert("image/png".to_owned(), json!(STANDARD.encode(png)));
        let size = json!({"width": picture.width, "height": picture.height});
        metadata.insert("image/png".to_owned(), size);
    } else if let Some(html) = shown.html(HTML_BYTES) {
        data.insert("text/html".to_owned(), json!(html));
    }
    (Json::Object(data), Json::Object(metadata))
}

/// The picture as a PNG file.
fn encode(picture: &Picture) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let (width, height) = (u32::try_from(picture.width).ok()?, u32::try_from(picture.height).ok()?);
    let mut encoder = png::Encoder::new(&mut out, width, height);
    encoder.set_color(if picture.colour { png::ColorType::Rgb } else { png::ColorType::Grayscale });
    encoder.set_depth(png::BitDepth::Eight);
    encoder.write_header().ok()?.write_image_data(&picture.bytes).ok()?;
    Some(out)
}
