//! How fast source text is cut into tokens, parsed and formatted: `cargo bench -p engine-lang`.
//!
//! Five megabytes of made configuration, or the files of the folder that `SLICEFORM_FMT_FOLDER` names, as one text. The best of
//! several runs, since a busy machine only ever adds.

#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a program that measures")]

use std::{
    path::Path,
    time::{Duration, Instant},
};

use engine_diag::FileId;
use engine_lang::{format::format, syntax};

const SIZE: usize = 5_000_000;
const RUNS: usize = 15;

fn main() {
    let text = std::env::var_os("SLICEFORM_FMT_FOLDER").map_or_else(made, |folder| read(Path::new(&folder)));
    println!("{:.1} MB, {} lines", text.len() as f64 / 1e6, text.lines().count());
    let formatted = format(FileId(0), &text).unwrap();
    measure("tokens", &text, |text| syntax::tokens(text).len());
    measure("parse", &text, |text| syntax::parse(FileId(0), text).1.iter().count());
    measure("format", &text, |text| format(FileId(0), text).unwrap().len());
    measure("format what is formatted", &formatted, |text| format(FileId(0), text).unwrap().len());
}

fn measure(what: &str, text: &str, work: impl Fn(&str) -> usize) {
    let once = |_| {
        let start = Instant::now();
        std::hint::black_box(work(std::hint::black_box(text)));
        start.elapsed()
    };
    let best = (0..RUNS).map(once).min().unwrap_or(Duration::ZERO);
    let rate = text.len() as f64 / 1e6 / best.as_secs_f64();
    println!("{what:25} {:7.1} ms  {rate:6.0} MB/s", best.as_secs_f64() * 1e3);
}

/// Blocks as people write them: short arguments, a template, a nested block, a heredoc now and then, out of layout.
fn made() -> String {
    let mut text = String::with_capacity(SIZE + 1000);
    for n in 0.. {
        if text.len() >= SIZE {
            break;
        }
        text.push_str(&format!(
            "# The {n}th of many.\nresource \"terraform_data\" \"object_{n}\" {{\n  count = var.enabled ? 1 : 0\n    input = {{\n      \
             name=\"${{var.prefix}}-{n}\"\n      size   = {n} * 2 + length(var.names)\n      tags={{ a=\"b\", \"c\" = [1,2,3] }} # \
             tags\n    }}\n  triggers_replace = [for k,v in local.all : \"${{k}}=${{v}}\" if v != null]\n\n  lifecycle {{\n    \
             create_before_destroy=true\n  }}\n}}\n\n"
        ));
        if n % 10 == 0 {
            text.push_str(&format!("locals {{\n  text_{n}=<<-EOT\n    line ${{var.x}}\n      more\n  EOT\n}}\n\n"));
        }
    }
    text
}

/// Files that cannot be parsed are left out.
fn read(folder: &Path) -> String {
    let mut todo = vec![folder.to_owned()];
    let mut all = String::new();
    while let Some(path) = todo.pop() {
        if path.is_dir() {
            todo.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.extension().is_some_and(|end| end == "tf") {
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            // Arguments at the top of several files would be the same argument twice.
            if !syntax::parse(FileId(0), &text).1.has_errors()
                && syntax::parse(FileId(0), &text).0.attributes().next().is_none()
            {
                all.push_str(&text);
                all.push('\n');
            }
        }
    }
    all
}
