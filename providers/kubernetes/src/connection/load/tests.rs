//! Which settings win, what a kubeconfig means, and what is said of one that is wrong.

use super::*;

const FILE: &str = "
apiVersion: v1
kind: Config
current-context: one
contexts:
- name: one
  context: { cluster: c1, user: u1 }
- name: two
  context: { cluster: c2, user: u1 }
clusters:
- name: c1
  cluster: { server: 'https://one:6443' }
- name: c2
  cluster: { server: 'https://two:6443' }
users:
- name: u1
  user: { token: from-file }
";

fn environment(directory: &Path, variables: &[(&str, &str)]) -> Environment {
    let variables = variables.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    Environment { variables, directory: directory.to_owned(), cache: None }
}

fn paths(paths: &[&str]) -> ConnectionSettings {
    ConnectionSettings {
        config_paths: paths.iter().map(|path| (*path).to_owned()).collect(),
        ..ConnectionSettings::default()
    }
}

fn has_token(target: &Target, token: &str) -> bool {
    matches!(&target.credential, Credential::Token(Secret(found)) if found == token)
}

#[test]
fn what_is_configured_decides_which_cluster() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("file"), FILE).unwrap();
    std::fs::create_dir(dir.path().join(".kube")).unwrap();
    std::fs::write(dir.path().join(".kube/config"), FILE).unwrap();
    let home = dir.path().to_str().unwrap();
    let none = ConnectionSettings::default();
    let path = paths(&["file"]);
    let text = |text: &str| Some(text.to_owned());
    let context = ConnectionSettings { config_context: text("two"), ..path.clone() };
    let cluster = ConnectionSettings { config_context_cluster: text("c2"), ..path.clone() };
    let host = ConnectionSettings { host: text("three:6443"), ..Default::default() };
    let both = ConnectionSettings { host: text("https://four"), ..path.clone() };
    type Case<'a> = (&'a ConnectionSettings, &'a [(&'a str, &'a str)], &'a str, bool);
    let cases: [Case<'_>; 11] = [
        (&path, &[], "https://one:6443/", true),
        (&context, &[], "https://two:6443/", true),
        (&cluster, &[], "https://two:6443/", true),
        (&host, &[("HOME", home)], "https://three:6443/", false),
        (&both, &[], "https://four/", true),
        (&none, &[("HOME", home)], "https://one:6443/", true),
        (&none, &[("KUBECONFIG", "file")], "https://one:6443/", true),
        (&none, &[("KUBECONFIG", "nowhere:file")], "https://one:6443/", true),
        (&none, &[("KUBE_CONFIG_PATH", "~/file"), ("HOME", home), ("KUBE_CTX", "two")], "https://two:6443/", true),
        (&none, &[("KUBE_CONFIG_PATHS", "nowhere:file")], "https://one:6443/", true),
        (&none, &[("KUBE_HOST", "https://five"), ("HOME", home)], "https://five/", false),
    ];
    for (settings, variables, url, token) in cases {
        let target = load(settings, &environment(dir.path(), variables)).unwrap();
        assert_eq!(target.url.to_string(), url, "{settings:?} {variables:?}");
        assert_eq!(has_token(&target, "from-file"), token, "{settings:?} {variables:?}");
    }
    let token = ConnectionSettings { token: Some(Secret("mine".to_owned())), ..path };
    assert!(has_token(&load(&token, &environment(dir.path(), &[])).unwrap(), "mine"));
}

#[test]
fn files_are_merged_by_name_and_whole() {
    let dir = tempfile::tempdir().unwrap();
    let sub = dir.path().join("sub");
    std::fs::create_dir(&sub).unwrap();
    let first = "current-context: ''\ncontexts:\n- name: x\n  context: { cluster: c, user: u }\n";
    let second = "current-context: x\nclusters:\n- name: c\n  cluster: { server: 'https://b', tls-server-name: b, \
                  proxy-url: 'socks5://p:1080' }\nusers:\n- name: u\n  user: { tokenFile: token, as: somebody }\n";
    let third = "current-context: y\nclusters:\n- name: c\n  cluster: { server: 'https://c', \
                 insecure-skip-tls-verify: true }\nusers:\n- name: u\n  user: { token: other }\n";
    std::fs::write(dir.path().join("1"), first).unwrap();
    std::fs::write(sub.join("2"), second).unwrap();
    std::fs::write(dir.path().join("3"), third).unwrap();
    let target = load(&paths(&["1", "sub/2", "3"]), &environment(dir.path(), &[])).unwrap();
    assert_eq!(target.url.to_string(), "https://b/");
    assert_eq!(target.server_name.as_deref(), Some("b"));
    assert_eq!(target.proxy.map(|url| url.to_string()).as_deref(), Some("socks5://p:1080/"));
    assert!(matches!(target.trust, Trust::System));
    assert_eq!(target.acting_for.impersonate.as_deref(), Some("somebody"));
    let Credential::File { path, otherwise: None } = target.credential else { panic!("it has a token file") };
    assert_eq!(path, sub.join("token"), "relative to the file that names it");
}

#[test]
fn a_cluster_around_this_process_must_be_asked_for() {
    let dir = tempfile::tempdir().unwrap();
    let service = [("KUBERNETES_SERVICE_HOST", "fd00::1"), ("KUBERNETES_SERVICE_PORT", "443")];
    let environment = environment(dir.path(), &service);
    let error = load(&ConnectionSettings::default(), &environment).err().unwrap();
    assert_eq!(error.to_string(), "no Kubernetes cluster is configured");
    assert!(error.hint.unwrap().contains("`in_cluster_config = true` or KUBE_IN_CLUSTER_CONFIG=true means that one"));
    let error = in_cluster(&environment, dir.path()).err().unwrap();
    assert!(error.to_string().ends_with("ca.crt does not exist"), "{error}");
    for name in ["ca.crt", "token"] {
        std::fs::write(dir.path().join(name), "x").unwrap();
    }
    let target = in_cluster(&environment, dir.path()).unwrap();
    assert_eq!(target.url.to_string(), "https://[fd00::1]/".replace("]/", "]:443/"));
    assert!(matches!(target.credential, Credential::File { .. }));
    let asked = ConnectionSettings { in_cluster_config: Some(true), ..ConnectionSettings::default() };
    let error = load(&ConnectionSettings { host: Some("a".to_owned()), ..asked }, &environment).err().unwrap();
    assert_eq!(error.to_string(), "`in_cluster_config` is set, and so is `host` or `config_path`");
}

#[test]
fn what_is_missing_or_wrong_is_said_without_secrets() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("file"), FILE).unwrap();
    let text = |text: &str| Some(text.to_owned());
    let file = |name: &str, user: &str, cluster: &str| {
        let text = format!(
            "current-context: x\ncontexts: [{{name: x, context: {{cluster: c, user: u}}}}]\nclusters: [{{name: c, \
             cluster: {{server: 'https://c', {cluster}}}}}]\nusers: [{{name: u, user: {user}}}]\n"
        );
        std::fs::write(dir.path().join(name), text).unwrap();
        paths(&[name])
    };
    let context = ConnectionSettings { config_context: text("three"), ..paths(&["file"]) };
    let user = ConnectionSettings { config_context_auth_info: text("u9"), ..paths(&["file"]) };
    let pem = ConnectionSettings { cluster_ca_certificate: text("canary"), ..paths(&["file"]) };
    let half = ConnectionSettings { client_certificate: text("canary"), ..paths(&["file"]) };
    let basic = ConnectionSettings { username: text("u"), password: Some(Secret("canary".into())), ..pem.clone() };
    let insecure = ConnectionSettings { insecure: Some(true), ..pem.clone() };
    let host = ConnectionSettings { host: text("https://u:canary@h"), ..Default::default() };
    let of_context = |name: &str, context: &str| {
        let text = format!(
            "current-context: x\ncontexts: [{{name: x, context: {context}}}, {{name: y, context: {{cluster: c}}}}]\nclusters: \
             [{{name: c, cluster: {{server: 'https://c'}}}}]\nusers: [{{name: u, user: {{token: canary}}}}]\n"
        );
        std::fs::write(dir.path().join(name), text).unwrap();
        paths(&[name])
    };
    let v1alpha1 = "{exec: {apiVersion: client.authentication.k8s.io/v1alpha1, command: canary-free}}";
    for (settings, expected) in [
        (ConnectionSettings::default(), "no Kubernetes cluster is configured"),
        (paths(&["none"]), "none"),
        (context, "it has no context \"three\"; it has \"one\", \"two\""),
        (user, "it has no user \"u9\""),
        (pem, "there is none in it"),
        (half, "`client_certificate` is set and `client_key` is not"),
        (basic, "no basic authentication since Kubernetes 1.19"),
        (insecure, "`insecure` is set, and so is `cluster_ca_certificate`"),
        (host, "it holds a user name"),
        (file("broken", "canary", ""), "is not as such a file is written, line "),
        (of_context("nowhere", "{user: u}"), "has a context \"x\" that names no cluster"),
        (of_context("empty", "{user: u, cluster: ''}"), "its context names no cluster"),
        (of_context("other", "{user: u, cluster: d}"), "it has no cluster \"d\""),
        (file("basic", "{username: u, password: canary}", ""), "no basic authentication since Kubernetes 1.19"),
        (file("exec", v1alpha1, ""), "which is not supported"),
        (file("gcp", "{auth-provider: {name: gcp, config: {access-token: canary}}}", ""), "\"gcp\""),
        (file("key", "{client-certificate-data: Y2FuYXJ5, client-key-data: 'canary!'}", ""), "is not base64"),
        (file("proxy", "{}", "proxy-url: 'ftp://u:canary@p'"), "`proxy-url` is no address of a proxy"),
        (file("both", "{}", "insecure-skip-tls-verify: true, certificate-authority-data: eA=="), "has both"),
    ] {
        let environment = environment(dir.path(), &[("HOME", "/nowhere")]);
        let error = load(&settings, &environment).err().unwrap_or_else(|| panic!("{settings:?} is no error"));
        let shown = format!("{error} {:?} {:?}", error.source, error.hint);
        assert!(error.to_string().contains(expected), "{error}");
        assert!(!shown.replace("canary-free", "").contains("canary"), "{shown}");
        assert!(error.hint.is_some(), "{error}");
    }
}
