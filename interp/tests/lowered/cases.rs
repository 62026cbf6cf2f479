//! What is compared.

use std::path::Path;

/// The sections of the suite, each as one cell, and where that is no program each fence alone.
pub(crate) fn suite() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../suite");
    let mut pages = Vec::new();
    for folder in std::fs::read_dir(root).expect("the suite") {
        let folder = folder.expect("a folder").path();
        for page in std::fs::read_dir(folder).expect("a folder of the suite") {
            pages.push(page.expect("a page").path());
        }
    }
    pages.sort();
    let mut cells = Vec::new();
    for page in pages {
        let text = std::fs::read_to_string(page).expect("a page");
        for section in text.split("\n## ") {
            let fences: Vec<String> = section
                .split("```weft\n")
                .skip(1)
                .map(|rest| rest.split("\n```").next().unwrap_or_default().to_owned())
                .filter(|fence| !fence.starts_with(':'))
                .collect();
            if fences.len() > 1 {
                cells.push(fences.join("\n"));
            }
            cells.extend(fences);
        }
    }
    cells
}

/// The examples that read no files, each as one cell.
pub(crate) fn examples() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    let mut pages = Vec::new();
    for page in std::fs::read_dir(root).expect("the examples") {
        pages.push(page.expect("an example").path());
    }
    pages.retain(|page| page.extension().is_some_and(|extension| extension == "weft"));
    pages.sort();
    pages.iter().map(|page| std::fs::read_to_string(page).expect("an example")).collect()
}

/// Programs about corners.
pub(crate) fn corners() -> Vec<String> {
    let text = include_str!("corners.weft");
    text.split("\n---\n").map(str::to_owned).collect()
}
