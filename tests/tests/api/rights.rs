//! Who may do what: roles and bindings, what may be given away, reviews, tokens of service accounts, impersonation.

use std::time::Duration;

use kube::api::{DeleteParams, PostParams};
use serde_json::{Value, json};

use crate::cluster::{Cluster, create, object, refusal};

/// A request in the name of somebody else.
async fn as_user(
    cluster: &Cluster,
    user: &str,
    method: &str,
    path: &str,
    body: Option<Value>,
) -> Result<Value, kube::Error> {
    let request = http::Request::builder()
        .method(method)
        .uri(path)
        .header("impersonate-user", user)
        .header("content-type", "application/json")
        .body(body.map(|body| body.to_string().into_bytes()).unwrap_or_default())
        .unwrap();
    cluster.client.request::<Value>(request).await
}

/// A real server learns of roles a moment later than it stores them.
async fn until_allowed(cluster: &Cluster, user: &str, path: &str) {
    let allowed = async {
        while as_user(cluster, user, "GET", path, None).await.is_err() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), allowed).await.expect("the user is allowed in time");
}

async fn role(cluster: &Cluster, name: &str, rules: Value) {
    let role = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": name}, "rules": rules});
    create(&cluster.api("rbac.authorization.k8s.io", "v1", "Role"), role).await;
}

fn binding(name: &str, kind: &str, role: &str, subject: Value) -> Value {
    json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "metadata": {"name": name},
        "roleRef": {"kind": kind, "name": role, "apiGroup": "rbac.authorization.k8s.io"}, "subjects": [subject],
    })
}

async fn bind(cluster: &Cluster, name: &str, kind: &str, role: &str, subject: Value) {
    create(&cluster.api("rbac.authorization.k8s.io", "v1", "RoleBinding"), binding(name, kind, role, subject)).await;
}

fn path(cluster: &Cluster, rest: &str) -> String {
    format!("/api/v1/namespaces/{}/{rest}", cluster.namespace)
}

fn rbac_path(cluster: &Cluster, plural: &str) -> String {
    format!("/apis/rbac.authorization.k8s.io/v1/namespaces/{}/{plural}", cluster.namespace)
}

fn user(name: &str) -> Value {
    json!({"kind": "User", "name": name})
}

pub(crate) async fn roles_allow_what_they_name(cluster: &Cluster) {
    let namespace = &cluster.namespace;
    role(
        cluster,
        "reader",
        json!([
            {"verbs": ["get", "list"], "apiGroups": [""], "resources": ["pods"]},
            {"verbs": ["get"], "apiGroups": [""], "resources": ["configmaps"], "resourceNames": ["one"]},
        ]),
    )
    .await;
    bind(cluster, "reader", "Role", "reader", user("ann")).await;
    until_allowed(cluster, "ann", &path(cluster, "pods")).await;
    let maps = cluster.config_maps();
    for name in ["one", "two"] {
        create(&maps, json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}})).await;
    }
    as_user(cluster, "ann", "GET", &path(cluster, "configmaps/one"), None).await.unwrap();
    as_user(cluster, "ann", "GET", "/version", None).await.unwrap();
    as_user(cluster, "ann", "GET", "/apis/apps/v1", None).await.unwrap();
    for (who, method, path, message) in [
        (
            "ann",
            "GET",
            path(cluster, "configmaps/two"),
            format!(
                "configmaps \"two\" is forbidden: User \"ann\" cannot get resource \"configmaps\" in API group \"\" in the namespace \"{namespace}\""
            ),
        ),
        (
            "ann",
            "GET",
            path(cluster, "configmaps"),
            format!(
                "configmaps is forbidden: User \"ann\" cannot list resource \"configmaps\" in API group \"\" in the namespace \"{namespace}\""
            ),
        ),
        (
            "ann",
            "DELETE",
            path(cluster, "pods/x"),
            format!(
                "pods \"x\" is forbidden: User \"ann\" cannot delete resource \"pods\" in API group \"\" in the namespace \"{namespace}\""
            ),
        ),
        (
            "ann",
            "GET",
            path(cluster, "pods/x/status"),
            format!(
                "pods \"x\" is forbidden: User \"ann\" cannot get resource \"pods/status\" in API group \"\" in the namespace \"{namespace}\""
            ),
        ),
        (
            "ann",
            "GET",
            "/api/v1/nodes".to_owned(),
            "nodes is forbidden: User \"ann\" cannot list resource \"nodes\" in API group \"\" at the cluster scope"
                .to_owned(),
        ),
        (
            "bob",
            "GET",
            path(cluster, "pods"),
            format!(
                "pods is forbidden: User \"bob\" cannot list resource \"pods\" in API group \"\" in the namespace \"{namespace}\""
            ),
        ),
        ("ann", "GET", "/metrics".to_owned(), "forbidden: User \"ann\" cannot get path \"/metrics\"".to_owned()),
    ] {
        let (code, reason, found) = refusal(as_user(cluster, who, method, &path, None).await);
        assert_eq!((code, reason.as_str(), found), (403, "Forbidden", message), "{who} {method} {path}");
    }
}

pub(crate) async fn nobody_gives_away_what_they_lack(cluster: &Cluster) {
    role(
        cluster,
        "manager",
        json!([
            {"verbs": ["*"], "apiGroups": ["rbac.authorization.k8s.io"], "resources": ["roles", "rolebindings"], "resourceNames": []},
            {"verbs": ["get", "list"], "apiGroups": [""], "resources": ["pods"]},
        ]),
    )
    .await;
    // `*` holds `escalate` and `bind`, too: so the one who may not has the verbs by name.
    let verbs = json!(["get", "list", "create", "update", "delete"]);
    role(
        cluster,
        "writer",
        json!([
            {"verbs": verbs, "apiGroups": ["rbac.authorization.k8s.io"], "resources": ["roles", "rolebindings"]},
            {"verbs": ["get", "list"], "apiGroups": [""], "resources": ["pods"]},
        ]),
    )
    .await;
    bind(cluster, "manager", "Role", "manager", user("max")).await;
    bind(cluster, "writer", "Role", "writer", user("wendy")).await;
    until_allowed(cluster, "max", &path(cluster, "pods")).await;
    until_allowed(cluster, "wendy", &path(cluster, "pods")).await;
    let made = |name: &str, rules: Value| json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": name}, "rules": rules});
    let pods = json!([{"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}]);
    let secrets = json!([{"verbs": ["get", "list"], "apiGroups": [""], "resources": ["pods", "secrets"]}]);
    let (roles, bindings) = (rbac_path(cluster, "roles"), rbac_path(cluster, "rolebindings"));
    as_user(cluster, "wendy", "POST", &roles, Some(made("pods", pods))).await.unwrap();
    let answer = as_user(cluster, "wendy", "POST", &roles, Some(made("secrets", secrets.clone()))).await;
    assert_eq!(
        refusal(answer),
        (
            403,
            "Forbidden".to_owned(),
            "roles.rbac.authorization.k8s.io \"secrets\" is forbidden: user \"wendy\" (groups=[\"system:authenticated\"]) \
             is attempting to grant RBAC permissions not currently held:\n\
             {APIGroups:[\"\"], Resources:[\"secrets\"], Verbs:[\"get\" \"list\"]}"
                .to_owned()
        )
    );
    as_user(cluster, "max", "POST", &roles, Some(made("secrets", secrets))).await.unwrap();
    let bound = |name: &str, role: &str| Some(binding(name, "Role", role, user("carl")));
    as_user(cluster, "wendy", "POST", &bindings, bound("carl-pods", "pods")).await.unwrap();
    let (code, _, message) = refusal(as_user(cluster, "wendy", "POST", &bindings, bound("carl", "secrets")).await);
    assert_eq!(code, 403);
    assert!(
        message.starts_with("rolebindings.rbac.authorization.k8s.io \"carl\" is forbidden: user \"wendy\""),
        "{message}"
    );
    let (code, _, message) = refusal(as_user(cluster, "wendy", "POST", &bindings, bound("carl", "missing")).await);
    assert_eq!((code, message.as_str()), (404, "rolebindings.rbac.authorization.k8s.io \"missing\" not found"));
    as_user(cluster, "max", "POST", &bindings, bound("carl", "secrets")).await.unwrap();
    let wide = json!([{"verbs": ["*"], "apiGroups": [""], "resources": ["pods"]}]);
    let mut changed = as_user(cluster, "wendy", "GET", &format!("{roles}/pods"), None).await.unwrap();
    changed["rules"] = wide;
    let answer = as_user(cluster, "wendy", "PUT", &format!("{roles}/pods"), Some(changed)).await;
    assert_eq!(refusal(answer).0, 403, "a change gives away as much as a creation");
}

pub(crate) async fn built_in_roles_are_there(cluster: &Cluster) {
    bind(cluster, "view", "ClusterRole", "view", user("vera")).await;
    bind(cluster, "edit", "ClusterRole", "edit", json!({"kind": "Group", "name": "editors"})).await;
    until_allowed(cluster, "vera", &path(cluster, "pods")).await;
    let is_allowed = |code: Result<Value, kube::Error>| code.is_ok();
    assert!(is_allowed(as_user(cluster, "vera", "GET", &path(cluster, "configmaps"), None).await));
    assert_eq!(refusal(as_user(cluster, "vera", "GET", &path(cluster, "secrets"), None).await).0, 403);
    assert_eq!(refusal(as_user(cluster, "vera", "GET", &rbac_path(cluster, "roles"), None).await).0, 403);
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m"}});
    assert_eq!(refusal(as_user(cluster, "vera", "POST", &path(cluster, "configmaps"), Some(map)).await).0, 403);
}

pub(crate) async fn aggregated_roles_follow(cluster: &Cluster) {
    let roles = cluster.global("rbac.authorization.k8s.io", "v1", "ClusterRole");
    let label = format!("aggregate-to-{}", cluster.namespace);
    let name = |part: &str| format!("{}-{part}", cluster.namespace);
    let role = |name: String| json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": name}});
    let mut whole = role(name("whole"));
    whole["aggregationRule"] = json!({"clusterRoleSelectors": [{"matchLabels": {&label: "true"}}]});
    create(&roles, whole).await;
    let mut part = role(name("part"));
    part["metadata"]["labels"] = json!({&label: "true"});
    part["rules"] = json!([{"verbs": ["get"], "apiGroups": ["example.com"], "resources": ["things"]}]);
    create(&roles, part.clone()).await;
    let rules = part["rules"].clone();
    let has = move |wanted: Value| {
        move |role: Option<&kube::api::DynamicObject>| {
            role.is_some_and(|role| {
                role.data.get("rules").filter(|rules| !rules.is_null()).cloned().unwrap_or_else(|| json!([])) == wanted
            })
        }
    };
    let (patience, whole) = (Duration::from_secs(20), name("whole"));
    let follows = kube::runtime::wait::await_condition(roles.clone(), &whole, has(rules));
    tokio::time::timeout(patience, follows).await.unwrap().unwrap();
    roles.delete(&name("part"), &DeleteParams::default()).await.unwrap();
    let follows = kube::runtime::wait::await_condition(roles.clone(), &whole, has(json!([])));
    tokio::time::timeout(patience, follows).await.unwrap().unwrap();
    roles.delete(&name("whole"), &DeleteParams::default()).await.unwrap();
}

pub(crate) async fn reviews_answer(cluster: &Cluster) {
    role(cluster, "reader", json!([{"verbs": ["list"], "apiGroups": [""], "resources": ["pods"]}])).await;
    bind(cluster, "reader", "Role", "reader", user("rita")).await;
    until_allowed(cluster, "rita", &path(cluster, "pods")).await;
    let authorization = "/apis/authorization.k8s.io/v1";
    let asked = |verb: &str| json!({"namespace": cluster.namespace, "verb": verb, "resource": "pods"});
    let review =
        |kind: &str, spec: Value| Some(json!({"apiVersion": "authorization.k8s.io/v1", "kind": kind, "spec": spec}));
    let own = format!("{authorization}/selfsubjectaccessreviews");
    for (verb, allowed) in [("list", true), ("delete", false)] {
        let body = review("SelfSubjectAccessReview", json!({"resourceAttributes": asked(verb)}));
        let answer = as_user(cluster, "rita", "POST", &own, body).await.unwrap();
        assert_eq!(answer["status"]["allowed"], allowed, "{answer}");
        if allowed {
            let reason = format!(
                "RBAC: allowed by RoleBinding \"reader/{}\" of Role \"reader\" to User \"rita\"",
                cluster.namespace
            );
            assert_eq!(answer["status"]["reason"], reason);
        }
    }
    let body = review("SelfSubjectAccessReview", json!({"nonResourceAttributes": {"verb": "get", "path": "/version"}}));
    assert_eq!(as_user(cluster, "rita", "POST", &own, body).await.unwrap()["status"]["allowed"], true);
    let (code, _, message) =
        refusal(as_user(cluster, "rita", "POST", &own, review("SelfSubjectAccessReview", json!({}))).await);
    assert_eq!(code, 422);
    assert!(
        message.contains(".authorization.k8s.io \"\" is invalid: spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified"),
        "{message}"
    );

    let others = format!("{authorization}/subjectaccessreviews");
    let spec = json!({"user": "rita", "resourceAttributes": asked("list")});
    let body = review("SubjectAccessReview", spec.clone());
    assert_eq!(refusal(as_user(cluster, "rita", "POST", &others, body.clone()).await).0, 403, "only of oneself");
    let request = http::Request::post(&others)
        .header("content-type", "application/json")
        .body(body.unwrap().to_string().into_bytes())
        .unwrap();
    assert_eq!(cluster.client.request::<Value>(request).await.unwrap()["status"]["allowed"], true);

    let body = review("SelfSubjectRulesReview", json!({"namespace": cluster.namespace}));
    let answer =
        as_user(cluster, "rita", "POST", &format!("{authorization}/selfsubjectrulesreviews"), body).await.unwrap();
    let rules = answer["status"]["resourceRules"].as_array().unwrap();
    assert!(rules.contains(&json!({"verbs": ["list"], "apiGroups": [""], "resources": ["pods"]})), "{answer}");
    assert_eq!(answer["status"]["incomplete"], false);

    let body = Some(json!({"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}));
    let answer =
        as_user(cluster, "rita", "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", body).await.unwrap();
    assert_eq!(answer["status"]["userInfo"]["username"], "rita");
    assert_eq!(answer["status"]["userInfo"]["groups"], json!(["system:authenticated"]));
}

pub(crate) async fn tokens_are_those_of_their_account(cluster: &Cluster) {
    let accounts = cluster.api("", "v1", "ServiceAccount");
    let account =
        create(&accounts, json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "bot"}})).await;
    let post = async |path: String, body: Value| {
        let request = http::Request::post(path)
            .header("content-type", "application/json")
            .body(body.to_string().into_bytes())
            .unwrap();
        cluster.client.request::<Value>(request).await
    };
    let ask = |seconds: u64| json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": seconds}});
    let tokens = path(cluster, "serviceaccounts/bot/token");
    let issued = post(tokens.clone(), ask(600)).await.unwrap();
    let token = issued["status"]["token"].as_str().unwrap().to_owned();
    assert!(issued["status"]["expirationTimestamp"].is_string());
    let (code, _, message) = refusal(post(tokens, ask(5)).await);
    assert_eq!(code, 422);
    assert!(
        message.contains("spec.expirationSeconds: Invalid value: 5: may not specify a duration less than 10 minutes"),
        "{message}"
    );
    assert_eq!(refusal(post(path(cluster, "serviceaccounts/none/token"), ask(600)).await).0, 404);
    let review = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": token}});
    let reviews = "/apis/authentication.k8s.io/v1/tokenreviews";
    let answer = post(reviews.to_owned(), review.clone()).await.unwrap();
    let name = format!("system:serviceaccount:{}:bot", cluster.namespace);
    let status = &answer["status"];
    assert_eq!((&status["authenticated"], &status["user"]["username"]), (&json!(true), &json!(name)));
    assert_eq!(status["user"]["uid"], account["metadata"]["uid"]);
    let groups = [
        "system:serviceaccounts".to_owned(),
        format!("system:serviceaccounts:{}", cluster.namespace),
        "system:authenticated".to_owned(),
    ];
    assert_eq!(status["user"]["groups"], json!(groups));
    accounts.delete("bot", &DeleteParams::default()).await.unwrap();
    // A real server remembers for ten seconds that a token was good.
    while post(reviews.to_owned(), review.clone()).await.unwrap()["status"]["authenticated"] == true {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

pub(crate) async fn impersonation_is_a_right(cluster: &Cluster) {
    let accounts = cluster.api("", "v1", "ServiceAccount");
    create(&accounts, json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "bot"}})).await;
    bind(
        cluster,
        "view",
        "ClusterRole",
        "view",
        json!({"kind": "ServiceAccount", "name": "bot", "namespace": cluster.namespace}),
    )
    .await;
    let bot = format!("system:serviceaccount:{}:bot", cluster.namespace);
    until_allowed(cluster, &bot, &path(cluster, "pods")).await;
    let pods = cluster.api("", "v1", "Pod");
    assert!(pods.list(&Default::default()).await.is_ok());
    let refused = as_user(cluster, &bot, "POST", &path(cluster, "pods"), Some(json!({}))).await;
    assert_eq!(refusal(refused).0, 403);
}

pub(crate) async fn roles_are_checked(cluster: &Cluster) {
    let roles = cluster.api("rbac.authorization.k8s.io", "v1", "Role");
    let bindings = cluster.api("rbac.authorization.k8s.io", "v1", "RoleBinding");
    let role = |rules: Value| {
        object(
            json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": "r"}, "rules": rules}),
        )
    };
    for (rules, why) in [
        (
            json!([{"verbs": [], "apiGroups": [""], "resources": ["pods"]}]),
            "rules[0].verbs: Required value: verbs must contain at least one value",
        ),
        (
            json!([{"verbs": ["get"], "resources": ["pods"]}]),
            "rules[0].apiGroups: Required value: resource rules must supply at least one api group",
        ),
        (
            json!([{"verbs": ["get"], "apiGroups": [""]}]),
            "rules[0].resources: Required value: resource rules must supply at least one resource",
        ),
        (json!([{"verbs": ["get"], "nonResourceURLs": ["/x"]}]), "namespaced rules cannot apply to non-resource URLs"),
    ] {
        let (code, _, message) = refusal(roles.create(&PostParams::default(), &role(rules)).await);
        assert_eq!(code, 422, "{message}");
        assert!(message.contains(why), "{message}");
    }
    let wrong = binding("b", "Thing", "r", json!({"kind": "Robot", "name": "x"}));
    let (code, _, message) = refusal(bindings.create(&PostParams::default(), &object(wrong)).await);
    assert_eq!(code, 422);
    assert!(message.contains("roleRef.kind: Unsupported value: \"Thing\": supported values: "), "{message}");
    assert!(message.contains("subjects[0].kind: Unsupported value: \"Robot\": supported values: "), "{message}");
}
