//! Asks Terraform again. With `RECORD_FACTS` and Terraform 1.11.4 on the path, the test below rewrites the files in `facts`,
//! all of them or those of some families; what it changes, version control shows:
//!
//! ```sh
//! RECORD_FACTS=number,text cargo test -p engine-lang --lib facts_are_recorded
//! ```
//!
//! A new case is a line that holds only its expression. Without the variable the test checks that every fact is recorded.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    process::Command,
};

use engine_value::json::{self, Json};

use super::{
    facts::{FAMILIES, lines},
    setting::{DIRECTORY, FILES, locals},
};

#[test]
fn facts_are_recorded() {
    let wanted = std::env::var("RECORD_FACTS").unwrap_or_default();
    for (family, table) in FAMILIES {
        let again = wanted == "all" || wanted.split(',').any(|one| one == *family);
        let expressions: Vec<&str> = lines(table).map(|line| line.split('\t').next().unwrap()).collect();
        let distinct: BTreeSet<&&str> = expressions.iter().collect();
        let mut seen = BTreeSet::new();
        let twice = expressions.iter().find(|expression| !seen.insert(**expression));
        assert_eq!(distinct.len(), expressions.len(), "{family}: {twice:?} is there twice");
        if !again {
            assert!(lines(table).all(|line| line.contains('\t')), "{family}: a case is not recorded");
            continue;
        }
        let outcomes = ask(&expressions);
        let mut text = "# Recorded from Terraform 1.11.4.\n".to_owned();
        for (expression, outcome) in expressions.iter().zip(outcomes) {
            text.push_str(&format!("{expression}\t{outcome}\n"));
        }
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/functions/tests/facts");
        fs::write(folder.join(format!("{family}.tsv")), text).unwrap();
    }
}

/// What Terraform makes of expressions, each an output of one configuration. Those that it refuses are taken out, until
/// it accepts the rest.
fn ask(expressions: &[&str]) -> Vec<String> {
    let folder = std::env::temp_dir().join(format!("facts-{}", std::process::id()));
    for (path, bytes) in FILES {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    fs::write(folder.join("main.tf"), configuration(&[], &BTreeMap::new(), &BTreeSet::new())).unwrap();
    terraform(&folder, &["init"]);
    let mut refused: BTreeMap<usize, String> = BTreeMap::new();
    let mut sensitive = BTreeSet::new();
    loop {
        fs::write(folder.join("main.tf"), configuration(expressions, &refused, &sensitive)).unwrap();
        let messages = terraform(&folder, &["plan", "-json", "-input=false", "-out=p"]);
        let mut progress = false;
        for message in messages.lines().filter_map(|line| json::read(line).ok()) {
            let Some(diagnostic) = message.get("diagnostic") else { continue };
            let text = |name| diagnostic.get(name).and_then(Json::as_str).unwrap_or_default();
            if text("severity") != "error" {
                continue;
            }
            let line = diagnostic.get("range").and_then(|range| range.get("start")?.get("line"));
            let at = match line {
                Some(line) => line.to_string().parse::<usize>().ok().and_then(|line| line.checked_sub(first_line())),
                // An infinite number is found only when the plan is written.
                None => text("detail").split_once("output value \"o").and_then(|(_, rest)| {
                    let (at, _) = rest.split_once('"')?;
                    Some(at.parse::<usize>().ok()? * LINES)
                }),
            };
            let at = at.unwrap_or_else(|| panic!("{message}")) / LINES;
            if text("summary") == "Output refers to sensitive values" {
                progress |= sensitive.insert(at);
            } else {
                let detail: Vec<&str> = text("detail").split_whitespace().collect();
                let detail = detail.join(" ");
                // Panics of Terraform come with their whole stack.
                let told: String = format!("!\t{}: {detail}", text("summary")).chars().take(242).collect();
                progress |= refused.insert(at, told).is_none();
            }
        }
        if !progress {
            break;
        }
    }
    let shown = terraform(&folder, &["show", "-json", "p"]);
    fs::remove_dir_all(&folder).unwrap();
    let plan = json::read(&shown).unwrap_or_else(|error| panic!("{error}: {shown}"));
    let part = |path: &[&str]| path.iter().try_fold(&plan, |json, name| json.get(name)).cloned();
    let outcome = |at: usize| {
        if let Some(told) = refused.get(&at) {
            return told.clone();
        }
        let name = format!("o{at}");
        let is_sensitive = if sensitive.contains(&at) { "\ts" } else { "" };
        let unknown = part(&["output_changes", &name, "after_unknown"]).unwrap();
        let after = part(&["output_changes", &name, "after"]).unwrap_or(Json::Null);
        if unknown != Json::Bool(false) && unknown.to_string().contains("true") {
            return format!("?\t{after}\t{unknown}{is_sensitive}");
        }
        let ty = part(&["planned_values", "outputs", &name, "type"]);
        let ty = ty.filter(|_| after != Json::Null).unwrap_or_else(|| "dynamic".into());
        format!("=\t{ty}\t{after}{is_sensitive}")
    };
    (0..expressions.len()).map(outcome).collect()
}

/// How many lines one output has.
const LINES: usize = 4;

fn first_line() -> usize {
    configuration(&[], &BTreeMap::new(), &BTreeSet::new()).lines().count() + 1
}

fn configuration(expressions: &[&str], refused: &BTreeMap<usize, String>, sensitive: &BTreeSet<usize>) -> String {
    let mut text = "variable \"e\" {\n  ephemeral = true\n  default = \"eph\"\n}\nresource \"terraform_data\" \"u\" {\n  input = jsondecode(timestamp())\n}\nlocals {\n"
        .to_owned();
    for (name, expression) in locals() {
        text.push_str(&format!("  {name} = {expression}\n"));
    }
    text.push_str("}\n");
    for (at, expression) in expressions.iter().enumerate() {
        // Refused ones leave their lines empty, so that lines keep their numbers.
        if refused.contains_key(&at) {
            text.push_str(&"\n".repeat(LINES));
        } else {
            let mark = sensitive.contains(&at);
            text.push_str(&format!("output \"o{at}\" {{\n  value = {expression}\n  sensitive = {mark}\n}}\n"));
        }
    }
    text
}

fn terraform(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new("terraform")
        .current_dir(folder)
        .args(arguments)
        .env("CHECKPOINT_DISABLE", "1")
        .env("TF_CLI_CONFIG_FILE", "/dev/null")
        .env("HOME", "/home/me")
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap().replace(folder.to_str().unwrap(), DIRECTORY)
}
