//! A value as a bundle of representations, of which a front end picks the best it can show.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value as Json, json};
use weft_session::{Cancel, Footer, Progress, Shown};

/// The width of text, in cells.
pub(crate) const WIDTH: usize = 79;
/// The bytes that a table may take, and one of which more is asked for than is shown by itself.
const HTML_BYTES: usize = 50_000;
const MORE_HTML_BYTES: usize = 2_000_000;

/// The data and the metadata of a value, and a line of statistics of a large one. `None` if that is cancelled.
pub(crate) fn bundle(shown: &Shown, cancel: &Cancel) -> Option<(Json, Json)> {
    let mut data = Map::new();
    let mut metadata = Map::new();
    let text = shown.text(WIDTH, false, cancel)?;
    if let Some(svg) = shown.svg() {
        data.insert("image/svg+xml".to_owned(), json!(svg));
    } else if let Some(picture) = shown.picture()
        && let Some(png) = picture.png()
    {
        data.insert("image/png".to_owned(), json!(STANDARD.encode(png)));
        let size = json!({"width": picture.width, "height": picture.height});
        metadata.insert("image/png".to_owned(), size);
    } else if let Some(html) =
        shown.html(if shown.asks_for_more() { MORE_HTML_BYTES } else { HTML_BYTES })
    {
        data.insert("text/html".to_owned(), json!(html));
    }
    let is_drawn = data.contains_key("image/svg+xml") || data.contains_key("image/png");
    let statistics = shown.statistics(cancel).filter(|_| !is_drawn);
    if cancel.is_cancelled() {
        return None;
    }
    if let Some(latex) = shown.latex() {
        // For exporters. Front ends prefer formulas to text, but HTML to both, and a number is best
        // read as it was written.
        if !data.contains_key("text/html") {
            data.insert("text/html".to_owned(), json!(plain(&text)));
        }
        data.insert("text/latex".to_owned(), json!(latex));
    }
    let text = match &statistics {
        Some(statistics) => format!("{text}\n{statistics}"),
        None => text,
    };
    data.insert("text/plain".to_owned(), json!(text));
    if let (Some(statistics), Some(Json::String(html))) = (statistics, data.get_mut("text/html")) {
        html.push_str(&format!("\n{}", remark(&statistics)));
    }
    Some((Json::Object(data), Json::Object(metadata)))
}

/// A dim line in HTML.
fn remark(line: &str) -> String {
    format!("<div style=\"opacity: 0.6; font-size: 80%\">{}</div>", escaped(line))
}

/// Text as HTML that looks like the plain text beside it, where front ends set pages.
fn plain(text: &str) -> String {
    let style = "margin: 0; padding: 6px 8px 0; font-family: var(--jp-code-font-family, monospace); \
                 font-size: var(--jp-code-font-size); line-height: var(--jp-code-line-height)";
    format!("<pre style=\"{style}\">{}</pre>", escaped(text))
}

/// Data that replaces what the display with that id shows.
pub(crate) fn update(data: Json, id: &str) -> Json {
    json!({"data": data, "metadata": passing(), "transient": {"display_id": id}})
}

/// A bar that shows how far the work has come.
pub(crate) fn bar(progress: &Progress) -> Json {
    let Progress { activity, done, total } = progress;
    let percent = format!("{:.0} %", 100.0 * progress.fraction());
    let activity = escaped(activity);
    json!({
        "text/plain": format!("{activity}: {percent}"),
        "text/html": format!(
            "<div style=\"opacity: 0.7\"><progress value=\"{done}\" max=\"{total}\"></progress> \
             {percent} <code>{activity}</code></div>"
        ),
    })
}

/// What stands in the place of a bar when the work is done.
pub(crate) fn no_bar() -> Json {
    json!({"text/plain": "", "text/html": ""})
}

/// A dim line with what a cell has cost.
pub(crate) fn footer(footer: &Footer) -> Json {
    let line = footer.line();
    let data = json!({"text/plain": line, "text/html": remark(&line)});
    json!({"data": data, "metadata": passing(), "transient": {}})
}

/// Says that what is shown differs from run to run.
fn passing() -> Json {
    json!({"weft": {"varies": true}})
}

/// The text with the characters that mean something in HTML replaced.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
