//! A secret is in the state and in the plan's own file, and nowhere else: not in a diagnostic, an event, a plan's JSON.

use engine_plan::json::PlanView;
use engine_value::Value;
use providers_api::ErrorKind;
use state::{Lineage, Snapshot};
use tests::{
    lab::{Draft, How, Lab, Run},
    mock::{call::Verb, fault::How as Fails, world::World},
};

const SECRET: &str = "hunter2-and-more";

const CONFIG: &str = "variable \"password\" {\n  type = string\n  sensitive = true\n  default = \"hunter2\"\n}\nlocals {\n  derived = \"x-${var.password}\"\n}\n\
    provider \"mock\" {\n  password = var.password\n}\n\
    resource \"mock_object\" \"schema\" {\n  secret = \"hunter2-and-more\"\n}\n\
    resource \"mock_object\" \"variable\" {\n  value = local.derived\n  map = { \"k\" = var.password, \"open\" = \"seen\" }\n}\n\
    resource \"mock_object\" \"computed\" {\n  value = mock_object.schema.token\n  immutable = sha(var.password)\n}\n\
    output \"o\" {\n  value = mock_object.variable.map\n  sensitive = true\n}\n";

fn config() -> String {
    CONFIG.replace("sha(var.password)", "\"${var.password}!\"")
}

fn how() -> How {
    How { variables: vec![("password", Value::from(SECRET))], ..How::default() }
}

fn plan_json(draft: &Draft) -> String {
    let snapshot = draft.loaded.fold().unwrap().unwrap_or_else(|| Snapshot::new(Lineage::default()));
    let program = &draft.program;
    let (config, providers) = (&program.config, &program.providers);
    PlanView { plan: &draft.plan, snapshot: &snapshot, config, providers, show_sensitive: false }.to_json().to_string()
}

fn assert_no_secret(what: &str, text: &str) {
    assert!(!text.contains("hunter2"), "{what} shows a secret: {text}");
}

fn assert_draft(what: &str, draft: &Draft) {
    assert_no_secret(what, &draft.words().join("\n"));
    assert_no_secret(what, &draft.changes().join("\n"));
    let text = plan_json(draft);
    assert!(text.contains("\"seen\"") || draft.plan.changes.is_empty(), "what is no secret is there: {text}");
    assert_no_secret(what, &text);
}

fn assert_run(what: &str, run: &Run) {
    assert_draft(what, &run.draft);
    assert_no_secret(what, &run.words().join("\n"));
    assert_no_secret(what, &format!("{:?}", run.events));
}

#[tokio::test]
async fn no_secret_is_shown_whatever_happens() {
    let lab = Lab::new(&World::default());
    let config = config();
    lab.world.fail(Verb::Create, "mock_object.variable", Fails::Half, 1);
    assert_run("a failed creation", &lab.apply_how(&config, how()).await);
    let run = lab.apply_how(&config, how()).await;
    run.assert_done("made anew");
    assert_run("made anew", &run);
    let settled = lab.plan_how(&config, how()).await;
    assert!(!settled.plan.changes_anything(), "{:?}", settled.changes());
    assert_draft("no change", &settled);
    assert!(lab.snapshot().await.unwrap().outputs["o"].sensitive);

    lab.world.drift("mock_object.variable/2", "value", "drifted hunter2");
    assert_draft("drift", &lab.plan_how(&config, how()).await);
    let other = How { variables: vec![("password", Value::from("hunter2-changed"))], ..How::default() };
    assert_run("another secret", &lab.apply_how(&config, other.clone()).await);
    let destroy = How { mode: engine_model::plan::PlanMode::Destroy, ..other };
    let run = lab.apply_how(&config, destroy).await;
    run.assert_done("destroy");
    assert_run("destroy", &run);
}

/// The journal's reasons are shown after a crash.
#[tokio::test]
async fn the_journal_has_no_secret_in_its_words() {
    let lab = Lab::new(&World::default());
    lab.world.fail(Verb::Create, "mock_object.variable", Fails::Half, 1);
    lab.apply_how(&config(), how()).await;
    assert_journal(&lab).await;
}

#[tokio::test]
async fn mistakes_about_secrets_do_not_quote_them() {
    for (text, expected) in [
        ("output \"o\" {\n  value = var.password\n}\n", "Output refers to sensitive values"),
        ("resource \"mock_object\" \"a\" {\n  number = var.password\n}\n", "number"),
        ("resource \"mock_object\" \"a\" {\n  for_each = toset([var.password])\n}\n", "Invalid for_each"),
        ("resource \"mock_object\" \"a\" {\n  count = var.password\n}\n", "count"),
        ("locals {\n  x = { a = 1 }[var.password]\n}\n", ""),
        ("locals {\n  x = tonumber(var.password)\n}\n", ""),
        ("locals {\n  x = var.password + 1\n}\n", ""),
        ("locals {\n  x = regex(\"[\", var.password)\n}\n", ""),
        ("locals {\n  x = file(var.password)\n}\n", ""),
        ("locals {\n  x = jsondecode(var.password)\n}\n", ""),
        ("locals {\n  x = element([], var.password)\n}\n", ""),
        ("locals {\n  x = lookup({}, var.password)\n}\n", ""),
        ("locals {\n  x = format(\"%d\", var.password)\n}\n", ""),
        ("locals {\n  x = formatlist(\"%d\", [var.password])\n}\n", ""),
        ("locals {\n  x = base64decode(var.password)\n}\n", ""),
        ("data \"mock_value\" \"v\" {\n  key = \"k\"\n}\nlocals {\n  x = var.password.attribute\n}\n", ""),
    ] {
        let lab = Lab::new(&World::default());
        let config = format!("variable \"password\" {{\n  type = string\n  sensitive = true\n}}\n{text}");
        let Ok(draft) = plan_checked(&lab, &config).await else { continue };
        assert!(draft.plan.errored, "{text}");
        let words = draft.words().join("\n");
        assert!(words.contains(expected), "{text}: {words}");
        assert_no_secret(text, &words);
    }
}

/// A plan, unless the configuration is refused before anything is evaluated.
async fn plan_checked(lab: &Lab, config: &str) -> Result<Draft, ()> {
    let mut tree = engine_lang::config::SourceTree::new();
    tree.insert("main.tf", config.as_bytes().to_vec());
    let (_, diagnostics) = engine_lang::config::load(&tree, &mut engine_diag::Sources::new());
    if diagnostics.has_errors() {
        return Err(());
    }
    Ok(lab.plan_how(config, how()).await)
}

/// Servers repeat what they were sent: names, values, escaped, in base64.
#[tokio::test]
async fn what_a_provider_repeats_is_not_told() {
    let said = |escaped: &str| {
        Fails::Says(
            ErrorKind::Permanent,
            format!("{escaped} refused: \"x-hunter2-and-more\", aHVudGVyMi1hbmQtbW9yZQ=="),
        )
    };
    let data = "data \"mock_value\" \"v\" {\n  key = var.password\n}\n";
    let stages = [
        (Verb::Plan, "mock_object.variable"),
        (Verb::Data, "data.mock_value.v"),
        (Verb::Identity, "cluster-1"),
        (Verb::Create, "mock_object.variable"),
        (Verb::Create, "mock_object.schema"),
    ];
    for (verb, about) in stages {
        let lab = Lab::new(&World::default());
        lab.world.fail(verb, about, said(about), 1);
        let config = if verb == Verb::Data { config() + data } else { config() };
        let words = told(&lab, &config, how()).await;
        assert!(words.contains("(sensitive value)"), "{verb:?} {about}: {words}");
    }
    let lab = Lab::new(&World::default());
    let config = config();
    lab.apply_how(&config, how()).await.assert_done("everything is there");
    for (verb, kind) in [
        (Verb::Read, ErrorKind::Unreachable),
        (Verb::Read, ErrorKind::Forbidden),
        (Verb::Update, ErrorKind::Permanent),
        (Verb::Delete, ErrorKind::Permanent),
    ] {
        // A call knows the secrets that it was given: before it, and after it.
        let said = match verb {
            Verb::Update => "\"hunter2-and-more\" and hunter2-changed",
            _ => "\"hunter2-and-more\"",
        };
        lab.world.fail(verb, "mock_object.variable", Fails::Says(kind, said.to_owned()), 1);
        let mode = match verb {
            Verb::Delete => engine_model::plan::PlanMode::Destroy,
            _ => engine_model::plan::PlanMode::Normal,
        };
        let variables = vec![("password", Value::from(if verb == Verb::Update { "hunter2-changed" } else { SECRET }))];
        let words = told(&lab, &config, How { mode, variables, ..How::default() }).await;
        assert!(words.contains("(sensitive value)"), "{verb:?} {kind:?}: {words}");
        lab.world.heal();
    }
}

/// What is said while it is planned and, where that goes well, applied.
async fn told(lab: &Lab, config: &str, how: How) -> String {
    let draft = lab.plan_how(config, how.clone()).await;
    let mut words = draft.words().join("\n");
    let whole = [words.clone(), draft.changes().join("\n"), plan_json(&draft)].join("\n");
    assert_no_secret("a plan", &whole);
    if !draft.plan.errored {
        let run = lab.apply_how(config, how).await;
        assert_run("an apply", &run);
        words += &run.words().join("\n");
    }
    assert_journal(lab).await;
    words
}

async fn assert_journal(lab: &Lab) {
    for record in lab.store.load().await.unwrap().records {
        if let state::Record::Result(result) = record {
            assert_no_secret("a result", &format!("{:?}", result.ended));
        }
    }
}
