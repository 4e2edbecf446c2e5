//! Pods that do not come up, and whether that can heal by itself. A pure function of one pod.

use serde_json::Value as Json;

/// A container that does not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Trouble {
    /// Its name.
    pub(crate) container: String,
    /// `CrashLoopBackOff`.
    pub(crate) reason: String,
    /// As the kubelet tells it; may be empty.
    pub(crate) message: String,
    /// How long it may go on before nobody should wait any longer.
    pub(crate) heals: Heals,
    /// Has it run before? Then what it said then tells why.
    pub(crate) ran: bool,
}

/// Can a trouble pass by itself?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Heals {
    /// Only by another configuration.
    Never,
    /// Perhaps: for a while it is waited.
    Perhaps,
}

/// So many restarts that end in the next back-off are no slow start of something that the container needs: with the
/// kubelet's delays of 10, 20 and 40 s they have taken more than a minute.
const RESTARTS: i64 = 3;

/// What a registry says that will not say anything else to the next try: the image is not there, or not for us.
const REFUSED: &[&str] =
    &["not found", "manifest unknown", "does not exist", "unauthorized", "denied", "no match for platform"];

/// The first container of a pod that does not come up. A pod that nothing is known of yet, that waits for a node, or
/// whose containers are being made has no trouble: capacity and volumes come.
pub(crate) fn trouble(pod: &Json) -> Option<Trouble> {
    let going = pod.pointer("/metadata/deletionTimestamp").is_some_and(|at| !at.is_null());
    if going {
        return None;
    }
    let statuses = ["initContainerStatuses", "containerStatuses"]
        .into_iter()
        .flat_map(|field| pod.pointer(&format!("/status/{field}")).and_then(Json::as_array).into_iter().flatten());
    statuses.filter_map(of).next()
}

fn of(status: &Json) -> Option<Trouble> {
    let told = |pointer: &str| status.pointer(pointer).and_then(Json::as_str).unwrap_or_default();
    let (reason, message) = (told("/state/waiting/reason"), told("/state/waiting/message"));
    let restarts = status.get("restartCount").and_then(Json::as_i64).unwrap_or(0);
    let heals = match reason {
        "CrashLoopBackOff" if restarts >= RESTARTS => Heals::Never,
        "CrashLoopBackOff" => Heals::Perhaps,
        // The first failure is told as ErrImagePull, all later ones as ImagePullBackOff: one of the two is always shown.
        "ErrImagePull" | "ImagePullBackOff" | "RegistryUnavailable" => {
            match REFUSED.iter().any(|w| message.contains(w)) {
                true => Heals::Never,
                false => Heals::Perhaps,
            }
        }
        "InvalidImageName" | "ErrImageNeverPull" => Heals::Never,
        // A ConfigMap or Secret that is missing may be on its way, in the same run.
        "CreateContainerConfigError" | "CreateContainerError" | "RunContainerError" => Heals::Perhaps,
        _ => return None,
    };
    Some(Trouble {
        container: told("/name").to_owned(),
        reason: reason.to_owned(),
        message: message.to_owned(),
        heals,
        ran: restarts > 0 || status.pointer("/lastState/terminated").is_some(),
    })
}

/// The names of the Secrets whose values the containers of a pod may know.
pub(crate) fn secrets(pod: &Json) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    collect(pod.get("spec").unwrap_or(&Json::Null), &mut names);
    names.sort_unstable();
    names.dedup();
    names
}

/// Secrets are named in `secretKeyRef.name`, `secretRef.name`, `secret.secretName` and `secret.name` (projected).
fn collect(at: &Json, names: &mut Vec<String>) {
    match at {
        Json::Object(fields) => {
            for (name, value) in fields {
                if matches!(name.as_str(), "secretKeyRef" | "secretRef" | "secret") {
                    let named = value.get("secretName").or_else(|| value.get("name")).and_then(Json::as_str);
                    names.extend(named.map(str::to_owned));
                }
                collect(value, names);
            }
        }
        Json::Array(items) => items.iter().for_each(|item| collect(item, names)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn pod(reason: &str, message: &str, restarts: i64) -> Json {
        json!({"status": {"containerStatuses": [
            {"name": "ok", "restartCount": 0, "state": {"running": {}}},
            {"name": "app", "restartCount": restarts, "state": {"waiting": {"reason": reason, "message": message}}}]}})
    }

    #[test]
    fn what_can_heal_is_told_from_what_cannot() {
        for (pod, expected) in [
            (json!({}), None),
            (pod("ContainerCreating", "", 0), None),
            (pod("CrashLoopBackOff", "back-off 10s", 1), Some(Heals::Perhaps)),
            (pod("CrashLoopBackOff", "back-off 40s", 3), Some(Heals::Never)),
            (pod("ErrImagePull", "dial tcp: i/o timeout", 0), Some(Heals::Perhaps)),
            (pod("ImagePullBackOff", "Back-off pulling image: ErrImagePull: a:1: not found", 0), Some(Heals::Never)),
            (pod("InvalidImageName", "", 0), Some(Heals::Never)),
            (pod("CreateContainerConfigError", "configmap \"a\" not found", 0), Some(Heals::Perhaps)),
        ] {
            assert_eq!(trouble(&pod).map(|trouble| trouble.heals), expected, "{pod}");
        }
        let mut going = pod("InvalidImageName", "", 0);
        going["metadata"] = json!({"deletionTimestamp": "2026-01-01T00:00:00Z"});
        assert_eq!(trouble(&going), None);
    }

    #[test]
    fn secrets_are_found_wherever_a_pod_names_them() {
        let pod = json!({"spec": {
            "volumes": [{"secret": {"secretName": "b"}}, {"projected": {"sources": [{"secret": {"name": "d"}}]}}],
            "containers": [{"env": [{"valueFrom": {"secretKeyRef": {"name": "a", "key": "x"}}}],
                "envFrom": [{"secretRef": {"name": "c"}}, {"configMapRef": {"name": "no"}}]}]}});
        assert_eq!(secrets(&pod), ["a", "b", "c", "d"]);
    }
}
