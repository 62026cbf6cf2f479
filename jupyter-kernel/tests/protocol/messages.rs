//! The kernel as clients see it: what is asked, and what is answered.

use std::time::{Duration, Instant};

use serde_json::json;
use weft_jupyter_kernel::client::Channel;
use weft_jupyter_kernel::wire::Message;

use crate::bench::{Bench, PATIENCE, SOON};

fn kinds(messages: &[Message]) -> Vec<&str> {
    messages.iter().map(Message::kind).collect()
}

#[test]
fn a_cell_is_answered_in_order() {
    let mut bench = Bench::start();
    let (reply, published) = bench.run("sum (iota 10)");
    assert_eq!(reply["status"], "ok");
    assert_eq!(reply["execution_count"], 1);
    assert_eq!(reply["user_expressions"], json!({}));
    assert_eq!(kinds(&published), ["status", "execute_input", "execute_result", "status"]);
    assert_eq!(published[0].text("execution_state"), "busy");
    let data = &published[2].content["data"];
    assert_eq!((&data["text/plain"], &data["text/latex"]), (&json!("45"), &json!("$45$")));
    assert!(data["text/html"].as_str().unwrap().ends_with(">45</pre>"), "{data}");
    assert_eq!(published[2].content["transient"], json!({}));
    assert!(bench.client.beats(PATIENCE));
}

#[test]
fn the_types_of_the_protocol_accept_the_replies() {
    let mut bench = Bench::start();
    let info = bench.ask("kernel_info_request", json!({}));
    let info: jupyter_protocol::KernelInfoReply = serde_json::from_value(info).unwrap();
    assert_eq!(info.language_info.file_extension.as_deref(), Some(".weft"));
    let (reply, _) = bench.run("1");
    serde_json::from_value::<jupyter_protocol::ExecuteReply>(reply).unwrap();
    let reply = bench.ask("comm_info_request", json!({}));
    serde_json::from_value::<jupyter_protocol::CommInfoReply>(reply).unwrap();
    let reply = bench.ask("complete_request", json!({"code": "su", "cursor_pos": 2}));
    let reply: jupyter_protocol::CompleteReply = serde_json::from_value(reply).unwrap();
    assert!(reply.matches.iter().any(|found| found == "sum"));
    let reply = bench.ask("history_request", json!({"hist_access_type": "tail", "n": 5}));
    serde_json::from_value::<jupyter_protocol::HistoryReply>(reply).unwrap();
}

#[test]
fn an_error_aborts_what_is_queued_and_nothing_after() {
    let mut bench = Bench::start();
    let failing = bench.send("first (iota 0)");
    let queued = [bench.send("a = 1"), bench.send("b = 2")];
    let reply = bench.client.reply(Channel::Shell, &failing, PATIENCE).unwrap();
    assert_eq!(reply.text("status"), "error");
    assert!(reply.text("ename").starts_with('E'), "{}", reply.content);
    assert_eq!(reply.text("evalue").lines().count(), 1);
    assert!(reply.content["traceback"].as_array().unwrap().len() > 1);
    // Sent at once, as a front end does that has just read of the error.
    let after = bench.send("1 + 1");
    for id in queued {
        let reply = bench.client.reply(Channel::Shell, &id, PATIENCE).unwrap();
        assert_eq!(reply.text("status"), "aborted");
    }
    let reply = bench.client.reply(Channel::Shell, &after, PATIENCE).unwrap();
    assert_eq!(reply.text("status"), "ok");
    let published = bench.client.published(&failing, PATIENCE).unwrap();
    assert_eq!(kinds(&published), ["status", "execute_input", "error", "status"]);
    let (reply, _) = bench.run("a");
    assert_eq!(reply["status"], "error");
    // A client that asks for itself takes nothing from the user.
    let silent = json!({"code": "first (iota 0)", "silent": true});
    let failing = bench.client.request(Channel::Shell, "execute_request", silent);
    let after = bench.send("1 + 1");
    let reply = bench.client.reply(Channel::Shell, &failing, PATIENCE).unwrap();
    assert_eq!(reply.text("status"), "error");
    let reply = bench.client.reply(Channel::Shell, &after, PATIENCE).unwrap();
    assert_eq!(reply.text("status"), "ok");
}

#[test]
fn an_interrupt_stops_an_endless_loop_and_keeps_what_was() {
    let mut bench = Bench::start();
    bench.run("kept = iota 5");
    let endless = bench.send("loop x = 0 while x >= 0 do (x + 1) % 7");
    std::thread::sleep(Duration::from_millis(200));
    // Meanwhile questions are answered.
    let asked = Instant::now();
    let reply = bench.ask("complete_request", json!({"code": "kep", "cursor_pos": 3}));
    assert_eq!(reply["matches"], json!(["kept"]));
    assert!(asked.elapsed() < SOON, "{:?}", asked.elapsed());
    let interrupted = Instant::now();
    bench.interrupt();
    let reply = bench.client.reply(Channel::Shell, &endless, PATIENCE).unwrap();
    assert!(interrupted.elapsed() < SOON, "{:?}", interrupted.elapsed());
    assert_eq!(reply.text("ename"), "Interrupted");
    assert_eq!(bench.result("sum kept"), "10");
    // An interrupt while nothing runs does not hit the next cell.
    bench.interrupt();
    assert_eq!(bench.result("sum kept"), "10");
}

#[test]
fn completion_counts_code_points_and_knows_types() {
    let mut bench = Bench::start();
    bench.run("point = {east = 1.5, west = 2}");
    let code = "\"αβ\" ++ poi";
    let reply = bench.ask("complete_request", json!({"code": code, "cursor_pos": 11}));
    assert_eq!(reply["matches"], json!(["point"]));
    assert_eq!((&reply["cursor_start"], &reply["cursor_end"]), (&json!(8), &json!(11)));
    let types = &reply["metadata"]["_jupyter_types_experimental"][0];
    assert!(types["signature"].as_str().unwrap().contains("east"), "{types}");
    let reply = bench.ask("complete_request", json!({"code": "point.", "cursor_pos": 6}));
    assert_eq!(reply["matches"], json!(["east", "west"]));
    // What stands beside a name says what it is.
    let mut kind = |code: &str| {
        let arguments = json!({"code": code, "cursor_pos": code.len()});
        let reply = bench.ask("complete_request", arguments);
        let first = &reply["metadata"]["_jupyter_types_experimental"][0];
        (first["text"].as_str().unwrap().to_owned(), first["type"].as_str().unwrap().to_owned())
    };
    let found = |text: &str, kind: &str| (text.to_owned(), kind.to_owned());
    assert_eq!(kind("point.ea"), found("east", "f64"));
    assert_eq!(kind("tan"), found("tan", "Float\u{a0}a\u{a0}⇒\u{a0}a\u{a0}→\u{a0}a"));
    assert_eq!(kind("scatterW"), found("scatterWith", "function"));
    assert_eq!(kind("loadC"), found("loadCsv", "function"));
    assert_eq!(kind("whi"), found("while", "keyword"));
    assert_eq!(kind("wh"), found("while", "keyword"));
    assert_eq!(kind("nan"), found("nan", "Float\u{a0}a\u{a0}⇒\u{a0}a"));
    assert_eq!(kind(":ti"), found("time", "keyword"));
    assert_eq!(kind(":set tier a"), found("auto", "keyword"));
    assert_eq!(kind("loadCsv \"Cargo.to"), found("Cargo.toml\"", "path"));
}

#[test]
fn inspection_and_completeness() {
    let mut bench = Bench::start();
    let reply = bench.ask("inspect_request", json!({"code": "scanl", "cursor_pos": 3}));
    assert_eq!(reply["found"], true);
    assert!(reply["data"]["text/plain"].as_str().unwrap().contains("->"));
    bench.run("-- Twice.\ndef twice x = 2 * x");
    let mut text = |level| {
        let request = json!({"code": "twice 3", "cursor_pos": 7, "detail_level": level});
        let reply = bench.ask("inspect_request", request);
        reply["data"]["text/plain"].as_str().unwrap().to_owned()
    };
    assert_eq!(text(0), "twice : Num a => a -> a\n\nTwice.");
    assert!(text(1).contains("\n\ndef twice x = 2 * x"));
    // What the line becomes, too; while a cell runs as well.
    bench.run("xs = iota 1000");
    let endless = bench.send("loop x = 0 while x >= 0 do (x + 1) % 7");
    let request = json!({"code": "sum (xs * xs)", "cursor_pos": 2, "detail_level": 1});
    let reply = bench.ask("inspect_request", request);
    let shown = reply["data"]["text/plain"].as_str().unwrap();
    assert!(shown.starts_with("sum : ") && shown.contains("kernel 1: reduce"), "{shown}");
    bench.interrupt();
    bench.client.reply(Channel::Shell, &endless, PATIENCE).unwrap();
    let reply = bench.ask("inspect_request", json!({"code": "unheard", "cursor_pos": 3}));
    assert_eq!((&reply["found"], &reply["data"]), (&json!(false), &json!({})));
    for (code, status) in
        [("1 + 1", "complete"), ("let x = 1 in", "incomplete"), ("1 +) 2", "invalid")]
    {
        let reply = bench.ask("is_complete_request", json!({"code": code}));
        assert_eq!(reply["status"], status, "{code}");
        assert_eq!(reply["indent"].is_string(), status == "incomplete");
    }
}

#[test]
fn silent_cells_are_not_counted_and_expressions_are_answered() {
    let mut bench = Bench::start();
    let (_, published) = bench.execute(json!({"code": "a = 20\na", "silent": true}));
    assert_eq!(kinds(&published), ["status", "status"]);
    let (reply, published) = bench.execute(json!({"code": "a + 1", "store_history": false}));
    assert_eq!(reply["execution_count"], 0);
    assert_eq!(kinds(&published), ["status", "execute_input", "execute_result", "status"]);
    let expressions = json!({"v": "2 * a", "wrong": "nothing", "m": "[[1, 2], [3, 4]]", "n": 7});
    let request = json!({"code": "", "silent": true, "user_expressions": expressions});
    let (reply, _) = bench.execute(request);
    let answers = &reply["user_expressions"];
    let answer = &answers["v"];
    assert_eq!((&answer["status"], &answer["metadata"]), (&json!("ok"), &json!({})));
    assert_eq!(answer["data"]["text/plain"], "40");
    assert_eq!(
        (&answers["wrong"]["status"], &answers["wrong"]["ename"]),
        (&json!("error"), &json!("E0201"))
    );
    assert!(answers["m"]["data"]["text/html"].as_str().unwrap().contains("<table"));
    assert_eq!(answers["n"]["status"], "ok");
    // None of these has a number, nor is it in the history, nor is its result `it`.
    let (reply, _) = bench.run("it");
    assert_eq!((&reply["execution_count"], &reply["ename"]), (&json!(1), &json!("E0201")));
    assert_eq!(bench.result("a"), "20");
    let history = bench.ask("history_request", json!({"hist_access_type": "tail", "n": 9}));
    assert_eq!(history["history"], json!([[1, 1, "it"], [1, 2, "a"]]));
    // A cell that fails answers none.
    let failing = json!({"code": "nothing", "user_expressions": {"v": "a"}});
    assert_eq!(bench.execute(failing).0["user_expressions"], json!({}));
}

#[test]
fn replies_say_when_they_were_begun() {
    let mut bench = Bench::start();
    let id = bench.send("1 + 1");
    let reply = bench.client.reply(Channel::Shell, &id, PATIENCE).unwrap();
    assert_eq!(reply.metadata["status"], "ok");
    assert!(reply.metadata["started"].as_str().unwrap() <= reply.header["date"].as_str().unwrap());
}

#[test]
fn a_bar_grows_in_its_place_and_goes_away() {
    let mut bench = Bench::start();
    let id = bench.send(":backend cpu\nloop x = 0 for i < 10 ** 11 do (x + i) % 7");
    let bar =
        |message: &Message| message.content["data"]["text/plain"].as_str().unwrap().to_owned();
    let begun = |message: &Message| message.kind() == "display_data";
    let first = bench.client.expect(Channel::Iopub, PATIENCE, begun).unwrap();
    assert!(bar(&first).starts_with("evaluating In[1]:2: "), "{}", first.content);
    // On a busy machine it is late until the first turns have been counted.
    let grown = |message: &Message| {
        let text = message.content["data"]["text/html"].as_str().unwrap_or_default();
        message.kind() == "update_display_data" && text.contains("<progress value=")
    };
    let second = bench.client.expect(Channel::Iopub, PATIENCE, grown).unwrap();
    assert_eq!(second.content["transient"], first.content["transient"]);
    bench.interrupt();
    let reply = bench.client.reply(Channel::Shell, &id, PATIENCE).unwrap();
    assert_eq!(reply.text("ename"), "Interrupted");
    let rest = bench.client.published(&id, PATIENCE).unwrap();
    // There is nothing else, so that nothing of it stays in the notebook.
    let last = rest.iter().rfind(|message| message.kind() == "clear_output").unwrap();
    assert_eq!(last.content["wait"], json!(false));
    // Beside other output its place becomes empty.
    let id = bench.send("1\nloop x = 0 for i < 10 ** 11 do (x + i) % 7");
    bench
        .client
        .expect(Channel::Iopub, PATIENCE, |message| {
            let text = message.content["data"]["text/html"].as_str().unwrap_or_default();
            text.contains("<progress value=")
        })
        .unwrap();
    bench.interrupt();
    bench.client.reply(Channel::Shell, &id, PATIENCE).unwrap();
    let rest = bench.client.published(&id, PATIENCE).unwrap();
    let last = rest.iter().rfind(|message| message.kind() == "update_display_data").unwrap();
    assert_eq!(bar(last), "");
}

#[test]
fn a_sequence_is_shown_item_by_item_beside_a_bar() {
    let mut bench = Bench::start();
    let (_, published) = bench.run("streamOut (produce 3 (\\i -> iota i))");
    let items =
        published.iter().filter(|message| message.content["data"]["text/plain"].is_string());
    let items: Vec<&str> =
        items.map(|message| message.content["data"]["text/plain"].as_str().unwrap()).collect();
    assert_eq!(items, ["[0]i64 []", "[1]i64 [0]", "[2]i64 [0, 1]"]);
    // Items come while others are computed, and the bar says how many have come.
    let slow = "streamOut (produce 1000 (\\i -> loop x = i for j < 10 ** 6 do (x + j) % 7))";
    let id = bench.send(&format!(":backend interp\n{slow}"));
    // On a busy machine the bar begins before the first item comes, and only grows behind it.
    let bar = |message: &Message| {
        let text = message.content["data"]["text/html"].as_str().unwrap_or_default();
        message.kind().ends_with("display_data") && text.contains("<progress value=")
    };
    let item = |message: &Message| {
        let text = message.content["data"]["text/plain"].as_str();
        text.is_some_and(|text| text.parse::<i64>().is_ok())
    };
    bench.client.expect(Channel::Iopub, PATIENCE, item).unwrap();
    let first = bench.client.expect(Channel::Iopub, PATIENCE, bar).unwrap();
    assert!(first.content["data"]["text/html"].as_str().unwrap().contains("max=\"1000\""));
    bench.interrupt();
    let reply = bench.client.reply(Channel::Shell, &id, PATIENCE).unwrap();
    assert_eq!(reply.text("ename"), "Interrupted");
}

#[test]
fn what_a_cell_costs_is_in_its_reply_and_under_long_ones() {
    let mut bench = Bench::start();
    let id = bench.send("1 + 1");
    let reply = bench.client.reply(Channel::Shell, &id, PATIENCE).unwrap();
    assert!(reply.metadata["weft"]["seconds"]["run"].is_number(), "{}", reply.metadata);
    assert_eq!(bench.client.published(&id, PATIENCE).unwrap().len(), 4);
    // Only those that take long, unless all shall.
    bench.run(":set footer on");
    let (_, published) = bench.run("1 + 1");
    let footer = published.iter().rev().find(|m| m.kind() == "display_data").unwrap();
    assert_eq!(footer.content["metadata"], json!({"weft": {"varies": true}}));
    assert!(footer.content["data"]["text/plain"].as_str().unwrap().contains("run "));
    // One that says itself how long it took needs no line about it.
    assert!(!bench.run(":time 1 + 1").1.iter().any(|m| m.kind() == "display_data"));
}

#[test]
fn output_is_cleared_at_the_beginning_of_a_cell() {
    let mut bench = Bench::start();
    let (reply, published) = bench.run(":clear\nnothing");
    assert_eq!(kinds(&published), ["status", "execute_input", "clear_output", "error", "status"]);
    // Alone it is a cell like another.
    let counted = bench.run(":clear").0["execution_count"].as_i64();
    assert_eq!(counted.map(|count| count + 1), bench.run("1").0["execution_count"].as_i64());
    assert!(reply["traceback"].to_string().contains("In[1]:2"), "{reply}");
    let reply = bench.ask("complete_request", json!({"code": ":cle", "cursor_pos": 4}));
    assert_eq!(reply["matches"], json!(["clear"]));
}

#[test]
fn values_are_shown_richly() {
    let mut bench = Bench::start();
    let (_, published) = bench.run("[[1, 2], [3, 4]]\n[(1, \"<b>\")]");
    let shown: Vec<&Message> = published.iter().filter(|m| !m.content["data"].is_null()).collect();
    assert_eq!(shown.len(), 2, "{published:#?}");
    assert_eq!(shown[0].kind(), "display_data");
    let html =
        |message: &Message| message.content["data"]["text/html"].as_str().unwrap().to_owned();
    assert!(html(shown[0]).contains("<td style=\"text-align: right\">4</td>"));
    assert_eq!(shown[1].kind(), "execute_result");
    let latex = shown[0].content["data"]["text/latex"].as_str().unwrap();
    assert_eq!(latex, r"$\begin{bmatrix} 1 & 2 \\ 3 & 4 \end{bmatrix}$");
    assert!(html(shown[1]).contains("&lt;b&gt;") && !html(shown[1]).contains("<b>"));
    let (_, published) = bench.run("{ { u8 (i * j) : j in iota 40 } : i in iota 50 }");
    let picture = &published.iter().find(|m| m.kind() == "execute_result").unwrap().content;
    assert!(picture["data"]["image/png"].as_str().unwrap().starts_with("iVBORw0KGgo"));
    assert_eq!(picture["metadata"]["image/png"], json!({"width": 40, "height": 50}));
    let (_, published) = bench.run("{plot [1, 4, 9] with title = \"<b>\"}");
    let figure = &published.iter().find(|m| m.kind() == "execute_result").unwrap().content;
    let svg = figure["data"]["image/svg+xml"].as_str().unwrap();
    assert!(svg.starts_with("<svg") && svg.contains("&lt;b&gt;") && !svg.contains("<b>"));
    assert!(svg.contains("<title>&lt;b&gt;</title>"), "{svg}");
}

#[test]
fn a_large_value_brings_its_statistics_along() {
    let mut bench = Bench::start();
    let (_, published) = bench.run("iota 2000");
    let shown = &published.iter().find(|m| m.kind() == "execute_result").unwrap().content["data"];
    let text = "[2000]i64 [0, 1, 2, …, 1998, 1999]\nmin 0, max 1999, mean 999.5";
    assert_eq!(shown["text/plain"], text);
    let (_, published) = bench.run("{ { i * j : j in iota 50 } : i in iota 60 }");
    let shown = &published.iter().find(|m| m.kind() == "execute_result").unwrap().content["data"];
    assert!(shown["text/html"].as_str().unwrap().contains(">min 0, max 2891, mean "));
    assert!(published.iter().all(|m| m.kind() != "stream"), "{published:#?}");
}

#[test]
fn commands_that_notebooks_pass_over_say_what_does_it() {
    let mut bench = Bench::start();
    let (reply, published) = bench.run(":quit");
    assert_eq!(reply["payload"][0]["source"], "ask_exit");
    let said = published.iter().find(|m| m.kind() == "stream").unwrap().text("text");
    assert!(said.contains("Kernel > Shut Down"), "{said}");
    let (reply, _) = bench.run("1\n:clear");
    assert_eq!(reply["ename"], "E0501");
    assert!(reply["evalue"].as_str().unwrap().contains("only on the first line of a cell"));
}

#[test]
fn history_outlives_the_kernel() {
    let mut bench = Bench::start();
    bench.run("40 + 2");
    let request = json!({"hist_access_type": "search", "pattern": "40*", "output": true});
    assert_eq!(bench.ask("history_request", request)["history"], json!([[1, 1, ["40 + 2", "42"]]]));
    let file = bench.folder.path().join("history").to_str().unwrap().to_owned();
    let mut second = Bench::start_with(&[("WEFT_KERNEL_HISTORY", file)]);
    let request = json!({"hist_access_type": "tail", "n": 3});
    assert_eq!(second.ask("history_request", request)["history"], json!([[1, 1, "40 + 2"]]));
}

#[test]
fn a_request_to_debug_is_refused() {
    let mut bench = Bench::start();
    let arguments = json!({"type": "request", "seq": 7, "command": "initialize", "arguments": {}});
    let id = bench.client.request(Channel::Control, "debug_request", arguments);
    let reply = bench.client.reply(Channel::Control, &id, PATIENCE).unwrap();
    assert_eq!((reply.kind(), reply.text("status")), ("debug_reply", "error"));
    assert_eq!(
        (&reply.content["success"], &reply.content["request_seq"]),
        (&json!(false), &json!(7))
    );
    assert_eq!(reply.text("command"), "initialize");
    assert!(reply.text("message").contains("no debugger"), "{}", reply.content);
}

/// The two go through different sockets.
#[test]
fn an_interrupt_right_behind_a_cell_stops_it() {
    let mut bench = Bench::start();
    for _ in 0..20 {
        let endless = bench.send("loop x = 0 while x >= 0 do (x + 1) % 7");
        bench.client.request(Channel::Control, "interrupt_request", json!({}));
        let reply = bench.client.reply(Channel::Shell, &endless, PATIENCE).unwrap();
        assert_eq!(reply.text("ename"), "Interrupted");
        let (reply, _) = bench.run("1 + 1");
        assert_eq!(reply["status"], "ok");
    }
}

#[test]
fn a_shutdown_is_answered_before_the_end() {
    let mut bench = Bench::start();
    bench.send("loop x = 0 while x >= 0 do (x + 1) % 7");
    let id = bench.client.request(Channel::Control, "shutdown_request", json!({"restart": true}));
    let reply = bench.client.reply(Channel::Control, &id, PATIENCE).unwrap();
    assert_eq!(reply.content, json!({"status": "ok", "restart": true}));
    let published = bench.client.published(&id, PATIENCE).unwrap();
    assert_eq!(kinds(&published), ["status", "shutdown_reply", "status"]);
    assert!(bench.wait_for_end(PATIENCE));
}

#[test]
fn a_table_is_shown_whole_if_that_is_asked_for() {
    let mut bench = Bench::start();
    bench.run("t = {a = iota 3000, b = iota 3000}");
    let mut rows = |code: &str| {
        let (_, published) = bench.run(code);
        let html =
            published.iter().find_map(|message| message.content["data"]["text/html"].as_str());
        html.expect("a table").matches("<tr>").count()
    };
    assert!(rows("t") < 30);
    assert_eq!(rows(":show t"), 3001);
}
