//! The programs of `suite/compiled` run compiled to the end: none is beyond the compiler, and none meets
//! a fault on its way to its value, so that the interpreter is never asked.

use std::time::Duration;

use weft_tests::engine::{CPU, Engine, FLAT, UNFUSED};
use weft_tests::markdown::Page;
use weft_tests::runner::{Config, run};
use weft_tests::{pages, repository};

/// How long a case may take.
const LIMIT: Duration = Duration::from_secs(60);

#[test]
fn nothing_falls_back_on_the_interpreter() {
    let all = pages::all(&repository()).expect("pages that can be read");
    let compiled = all.into_iter().filter(|page| page.name.starts_with("suite/compiled/"));
    let sections: Vec<Page> = compiled.flat_map(one_page_per_section).collect();
    assert!(!sections.is_empty());
    let engines: [&dyn Engine; 3] = [&FLAT, &CPU, &UNFUSED];
    let mut wrong = Vec::new();
    for section in &sections {
        let page = std::slice::from_ref(section);
        let results = run(page, &engines, &Config { limit: LIMIT, threads: 2 });
        for failure in &results.pages[0].failures {
            wrong.push(format!("{}:{}: {}", section.name, failure.line, failure.message));
        }
        for (engine, ran) in &results.engines {
            if (ran.unsupported, ran.faults, ran.bugs) != (0, 0, 0) {
                wrong.push(format!("{}, {engine}: {ran:?}", section.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The sections of a page as pages of their own, named after both.
fn one_page_per_section(page: Page) -> Vec<Page> {
    let name = page.name;
    let sections = page.sections.into_iter();
    sections
        .map(|section| Page {
            name: format!("{name}: {}", section.heading),
            sections: vec![section],
            ..Page::default()
        })
        .collect()
}
