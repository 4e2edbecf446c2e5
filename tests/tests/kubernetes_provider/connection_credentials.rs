//! Credentials that are told anew: by files, commands and identity providers; and that nobody else sees them.

use std::{
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

use base64::Engine;
use providers_api::ErrorKind;
use providers_sandbox::api::User;
use rcgen::ExtendedKeyUsagePurpose;
use rustls::pki_types::{CertificateDer, pem::PemObject};
use serde_json::{Value as Json, json};

use crate::{
    connection::{Line, encoded, environment, kubeconfig, shown},
    connection_wire::{Authority, serve},
    world::World,
};

const V1: &str = "client.authentication.k8s.io/v1";

/// A folder with a command that prints what the file `answer` holds, and notes in `runs` that it ran and in `told` what
/// it was told.
struct Command(tempfile::TempDir);

impl Command {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let script = "#!/bin/sh\ncd \"$(dirname \"$0\")\"\necho x >> runs\nprintf '%s' \"$KUBERNETES_EXEC_INFO\" > told\n\
                      echo canary-error >&2\n[ -n \"$FAILS\" ] && { echo canary-out; exit 3; }\n\
                      while IFS= read -r line; do printf '%s\\n' \"$line\"; done < answer\n";
        std::fs::write(dir.path().join("command"), script).unwrap();
        std::fs::set_permissions(dir.path().join("command"), std::fs::Permissions::from_mode(0o700)).unwrap();
        Self(dir)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// What it prints from now on.
    fn prints(&self, status: Json) {
        let printed = json!({"kind": "ExecCredential", "apiVersion": V1, "status": status});
        std::fs::write(self.path().join("answer"), format!("{printed}\n")).unwrap();
    }

    fn runs(&self) -> usize {
        std::fs::read_to_string(self.path().join("runs")).unwrap_or_default().lines().count()
    }

    /// A configured provider whose kubeconfig names it.
    async fn line(&self, cluster: Json, more: Json) -> Line {
        let mut exec = json!({"apiVersion": V1, "command": "./command", "interactiveMode": "Never"});
        for (name, value) in more.as_object().unwrap() {
            exec[name] = value.clone();
        }
        std::fs::write(self.path().join("config"), kubeconfig(cluster, json!({"exec": exec}))).unwrap();
        let path = std::env::var("PATH").unwrap();
        Line::new(environment(self.path(), &[("KUBECONFIG", "config"), ("PATH", &path)]), &[]).await
    }
}

fn cluster(world: &World) -> Json {
    json!({"server": world.running.url(), "certificate-authority-data": encoded(&world.running.ca_pem())})
}

#[tokio::test]
async fn a_command_is_run_once_until_its_token_runs_out_or_is_refused() {
    let world = World::new().await;
    let (user, command) = (User::admin("somebody"), Command::new());
    let mut cluster = cluster(&world);
    cluster["extensions"] = json!([{"name": "client.authentication.k8s.io/exec", "extension": {"audience": "a"}}]);
    let line = command.line(cluster, json!({"provideClusterInfo": true})).await;
    command.prints(json!({"token": world.running.token(&user), "expirationTimestamp": "2999-01-01T00:00:00Z"}));
    for _ in 0..3 {
        line.identity().await.unwrap();
    }
    assert_eq!(command.runs(), 1);
    let told: Json = serde_json::from_slice(&std::fs::read(command.path().join("told")).unwrap()).unwrap();
    assert_eq!((&told["kind"], &told["apiVersion"]), (&json!("ExecCredential"), &json!(V1)));
    assert_eq!(told["spec"]["interactive"], false);
    assert_eq!(told["spec"]["cluster"]["server"], world.running.url());
    assert_eq!(told["spec"]["cluster"]["certificate-authority-data"], encoded(&world.running.ca_pem()));
    assert_eq!(told["spec"]["cluster"]["config"]["audience"], "a");
    // The server forgets the token before its time: one more run, and the request is repeated.
    world.running.expire(&user);
    command.prints(json!({"token": world.running.token(&user), "expirationTimestamp": "2000-01-01T00:00:00Z"}));
    line.identity().await.unwrap();
    assert_eq!(command.runs(), 2);
    // What has run out is asked for again before the next request.
    line.identity().await.unwrap();
    assert_eq!(command.runs(), 3);
    // The same token again does not help, and is not asked for again and again.
    command.prints(json!({"token": "canary"}));
    for _ in 0..3 {
        let error = line.identity().await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Forbidden);
        assert!(error.to_string().contains("does not accept these credentials"), "{error}");
        assert!(!shown(&error).contains("canary"), "{}", shown(&error));
    }
    assert_eq!(command.runs(), 5, "once because the last had run out, once because it was refused");
}

#[tokio::test]
async fn what_a_command_prints_is_in_no_error() {
    let world = World::new().await;
    let command = Command::new();
    let print = |text: &str| std::fs::write(command.path().join("answer"), format!("{text}\n")).unwrap();
    let v1 = |status: &str| format!(r#"{{"kind": "ExecCredential", "apiVersion": "{V1}", "status": {status}}}"#);
    let beta = r#"{"kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1beta1", "status": {"token": "canary"}}"#;
    for (printed, more, expected) in [
        ("canary: [", json!({}), "it is no ExecCredential"),
        (r#"{"token": "canary"}"#, json!({}), "it is no ExecCredential"),
        (beta, json!({}), "it is not of the version client.authentication.k8s.io/v1,"),
        (&v1("null"), json!({}), "it has no `status`"),
        (&v1("{}"), json!({}), "it has neither a token nor a certificate"),
        (&v1(r#"{"clientKeyData": "canary"}"#), json!({}), "it has only one of"),
        (&v1(r#"{"token": "canary", "expirationTimestamp": "canary"}"#), json!({}), "is no time"),
        (&v1(r#"{"token": "can\nary"}"#), json!({}), "characters that no token has"),
        (&v1(r#"{"clientCertificateData": "canary", "clientKeyData": "canary"}"#), json!({}), "cannot be used"),
        ("", json!({"env": [{"name": "FAILS", "value": "canary"}], "args": ["canary"]}), "failed: exit status: 3"),
        ("", json!({"command": "./missing", "installHint": "Install it."}), "cannot run the command"),
        ("", json!({"interactiveMode": "Always"}), "needs a terminal"),
    ] {
        if more.get("interactiveMode").is_some() && std::io::IsTerminal::is_terminal(&std::io::stdin()) {
            continue;
        }
        print(printed);
        let error = command.line(cluster(&world), more).await.identity().await.unwrap_err();
        assert!(error.to_string().contains(expected), "{expected}: {error}");
        assert!(!shown(&error).contains("canary"), "{}", shown(&error));
        assert!(error.hint.is_some(), "{error}");
        assert_ne!(error.kind, ErrorKind::Transient { after: None });
    }
}

#[tokio::test]
async fn a_token_file_is_read_again_when_its_token_is_refused() {
    let world = World::new().await;
    let (user, dir) = (User::admin("somebody"), tempfile::tempdir().unwrap());
    let token = dir.path().join("token");
    std::fs::write(&token, world.running.token(&user)).unwrap();
    std::fs::write(dir.path().join("config"), kubeconfig(cluster(&world), json!({"tokenFile": "token"}))).unwrap();
    let line = Line::new(environment(dir.path(), &[("KUBECONFIG", "config")]), &[]).await;
    line.identity().await.unwrap();
    world.running.expire(&user);
    std::fs::write(&token, world.running.token(&user)).unwrap();
    line.identity().await.unwrap();
    world.running.expire(&user);
    let error = line.identity().await.unwrap_err();
    assert!(error.to_string().contains("does not accept these credentials"), "{error}");
}

#[tokio::test]
async fn a_command_gives_certificates_and_others_when_they_are_refused() {
    let authority = Authority::new();
    let (first, second) =
        (authority.issue(ExtendedKeyUsagePurpose::ClientAuth), authority.issue(ExtendedKeyUsagePurpose::ClientAuth));
    let accepted = CertificateDer::from_pem_slice(second.0.as_bytes()).unwrap().to_vec();
    let url = serve(&authority, true, move |asked| {
        assert!(asked.head.starts_with("GET /api/v1/namespaces/kube-system "), "{}", asked.head);
        match asked.certificate == Some(accepted.clone()) {
            true => (200, json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"uid": "u-1"}})),
            false => (401, json!({"kind": "Status", "code": 401, "reason": "Unauthorized", "message": "Unauthorized"})),
        }
    })
    .await;
    let command = Command::new();
    let cluster = json!({"server": url, "certificate-authority-data": encoded(&authority.pem)});
    let line = command.line(cluster, json!({})).await;
    let prints = |pair: &(String, String)| {
        command.prints(json!({"clientCertificateData": pair.0, "clientKeyData": pair.1}));
    };
    prints(&first);
    let error = line.identity().await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Forbidden, "{error}");
    let line =
        command.line(json!({"server": url, "certificate-authority-data": encoded(&authority.pem)}), json!({})).await;
    // The first run is with the old pair, the one after the refusal with the new one.
    let answer = command.path().join("answer");
    let text = std::fs::read_to_string(&answer).unwrap();
    let script = "#!/bin/sh\ncd \"$(dirname \"$0\")\"\nread -r l < answer\nprintf '%s\\n' \"$l\"\n\
                  [ -f next ] && mv next answer\nexit 0\n";
    std::fs::write(command.path().join("command"), script).unwrap();
    prints(&second);
    std::fs::rename(&answer, command.path().join("next")).unwrap();
    std::fs::write(&answer, text).unwrap();
    assert_eq!(line.identity().await.unwrap(), "u-1");
}

fn token(seconds: i64, name: &str) -> String {
    let part = |json: Json| base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(json.to_string());
    format!("{}.{}.sig", part(json!({"alg": "none"})), part(json!({"exp": seconds, "sub": name})))
}

/// The kubeconfig of a user of an identity provider.
fn oidc(dir: &Path, server: &str, authority: &str, issuer: &str, secret: Option<&str>, id_token: &str) -> PathBuf {
    let mut config = json!({
        "idp-issuer-url": issuer, "client-id": "kubernetes", "id-token": id_token, "refresh-token": "canary-refresh-1",
        "idp-certificate-authority-data": encoded(authority),
    });
    if let Some(secret) = secret {
        config["client-secret"] = secret.into();
    }
    let cluster = json!({"server": server, "certificate-authority-data": encoded(authority)});
    let text = kubeconfig(cluster, json!({"auth-provider": {"name": "oidc", "config": config}}));
    let path = dir.join("config");
    std::fs::write(&path, format!("# mine\n{text}\n")).unwrap();
    path
}

#[tokio::test]
async fn an_id_token_that_has_run_out_is_renewed_and_written_to_the_kubeconfig() {
    const LATER: i64 = 32_503_680_000;
    let authority = Authority::new();
    for secret in [None, Some("canary-secret")] {
        let new = token(LATER, "new");
        let (served, wanted) = (new.clone(), format!("authorization: Bearer {new}"));
        let renewals = Arc::new(AtomicU32::new(0));
        let counted = renewals.clone();
        let idp = serve(&authority, false, move |asked| {
            if asked.head.starts_with("GET /realm/.well-known/openid-configuration ") {
                let host = asked.head.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
                return (200, json!({"token_endpoint": format!("https://{host}/realm/token")}));
            }
            assert!(asked.head.starts_with("POST /realm/token "), "{}", asked.head);
            // This provider wants the secret in the form.
            let named = "client_id=kubernetes";
            if asked.head.to_lowercase().contains("authorization:") || !asked.body.contains(named) {
                return (401, json!({"error": "invalid_client"}));
            }
            assert!(asked.body.contains("refresh_token=canary-refresh-1"), "{}", asked.body);
            assert_eq!(asked.body.contains("client_secret=canary-secret"), secret.is_some());
            counted.fetch_add(1, Ordering::Relaxed);
            (200, json!({"id_token": served, "refresh_token": "canary-refresh-2"}))
        })
        .await;
        let server = serve(&authority, false, move |asked| match asked.head.contains(&wanted) {
            true => (200, json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"uid": "u-1"}})),
            false => (401, json!({"kind": "Status", "code": 401})),
        })
        .await;
        let dir = tempfile::tempdir().unwrap();
        let file = oidc(dir.path(), &server, &authority.pem, &format!("{idp}/realm"), secret, &token(1, "old"));
        let line = Line::new(environment(dir.path(), &[("KUBECONFIG", "config")]), &[]).await;
        for _ in 0..2 {
            assert_eq!(line.identity().await.unwrap(), "u-1");
        }
        assert_eq!(renewals.load(Ordering::Relaxed), 1);
        let kept = std::fs::read_to_string(&file).unwrap();
        assert!(kept.starts_with("# mine\n") && kept.contains(&new) && kept.contains("canary-refresh-2"), "{kept}");
        assert!(!kept.contains("canary-refresh-1"), "{kept}");
        // Another run goes on with what was written.
        let line = Line::new(environment(dir.path(), &[("KUBECONFIG", "config")]), &[]).await;
        assert_eq!(line.identity().await.unwrap(), "u-1");
        assert_eq!(renewals.load(Ordering::Relaxed), 1);
    }
}

#[tokio::test]
async fn a_refresh_token_that_is_refused_is_said_without_it() {
    let authority = Authority::new();
    let idp = serve(&authority, false, |asked| {
        let host = asked.head.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
        match asked.head.starts_with("GET ") {
            true => (200, json!({"token_endpoint": format!("https://{host}/token")})),
            false => (400, json!({"error": "invalid_grant", "error_description": "canary"})),
        }
    })
    .await;
    let dir = tempfile::tempdir().unwrap();
    oidc(dir.path(), "https://127.0.0.1:1", &authority.pem, &idp, None, &token(1, "canary"));
    let line = Line::new(environment(dir.path(), &[("KUBECONFIG", "config")]), &[]).await;
    let error = line.identity().await.unwrap_err();
    assert!(error.to_string().ends_with("it refuses the refresh token (HTTP 400, invalid_grant)"), "{error}");
    assert!(!shown(&error).contains("canary"), "{}", shown(&error));
}
