//! Which pods hold which devices, as the kubelet itself remembers it.
//!
//! The kubelet tells it by its PodResources service, which this agent does not speak yet. It keeps the same in a file, its
//! device manager's checkpoint (`pkg/kubelet/cm/devicemanager/checkpoint` of Kubernetes, the form since 1.20), and keeps a
//! folder for each pod that it has not cleaned up yet. An entry of the checkpoint counts as long as its pod's folder is
//! there: the file still names pods that have gone. If it cannot be read, nobody knows what is in use, and the agent
//! changes nothing.

use std::collections::BTreeMap;
use std::fs;
use std::future::{Future, ready};
use std::path::PathBuf;
use std::pin::Pin;

use providers_agent_api::{PodDevice, PodDevices, PodDevicesError};
use serde::Deserialize;

/// The kubelet's files.
#[derive(Clone, Debug)]
pub struct KubeletFiles {
    /// The kubelet's own folder: `/var/lib/kubelet`.
    pub root: PathBuf,
    /// The folder of the pods' logs, whose names have the pods' names in them: `/var/log/pods`.
    pub logs: PathBuf,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Checkpoint {
    data: Data,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Data {
    /// Go writes an empty list as null.
    pod_device_entries: Option<Vec<Entry>>,
}

#[derive(Deserialize)]
struct Entry {
    #[serde(rename = "PodUID")]
    pod: String,
    #[serde(rename = "ContainerName")]
    container: String,
    #[serde(rename = "ResourceName")]
    resource: String,
    /// By NUMA node.
    #[serde(rename = "DeviceIDs")]
    devices: Option<BTreeMap<String, Vec<String>>>,
}

impl KubeletFiles {
    fn read(&self) -> Result<Vec<PodDevice>, PodDevicesError> {
        let path = self.root.join("device-plugins/kubelet_internal_checkpoint");
        let failed = |why: String| PodDevicesError(format!("{}: {why}", path.display()));
        let text = fs::read(&path).map_err(|error| failed(error.to_string()))?;
        let checkpoint: Checkpoint = serde_json::from_slice(&text).map_err(|error| failed(error.to_string()))?;
        let names = self.names()?;
        let entries = checkpoint.data.pod_device_entries.unwrap_or_default();
        let held = entries.into_iter().filter(|entry| self.root.join("pods").join(&entry.pod).is_dir());
        let devices = held.map(|entry| {
            // A pod without logs has not started yet. It is somebody all the same.
            let unnamed = || (String::new(), format!("with UID {}", entry.pod));
            let (namespace, pod) = names.get(&entry.pod).cloned().unwrap_or_else(unnamed);
            let device_ids = entry.devices.unwrap_or_default().into_values().flatten().collect();
            PodDevice { namespace, pod, container: entry.container, resource: entry.resource, device_ids }
        });
        let mut devices: Vec<PodDevice> = devices.collect();
        devices.sort();
        Ok(devices)
    }

    /// Namespace and name by UID. Folders of logs are called `NAMESPACE_NAME_UID`, and names have no `_`.
    fn names(&self) -> Result<BTreeMap<String, (String, String)>, PodDevicesError> {
        let failed = |error: std::io::Error| PodDevicesError(format!("{}: {error}", self.logs.display()));
        let mut names = BTreeMap::new();
        for entry in fs::read_dir(&self.logs).map_err(failed)? {
            let folder = entry.map_err(failed)?.file_name();
            let parts: Vec<&str> = folder.to_str().unwrap_or_default().split('_').collect();
            if let [namespace, name, uid] = parts.as_slice() {
                names.insert((*uid).to_owned(), ((*namespace).to_owned(), (*name).to_owned()));
            }
        }
        Ok(names)
    }
}

impl PodDevices for KubeletFiles {
    fn list(&self) -> Pin<Box<dyn Future<Output = Result<Vec<PodDevice>, PodDevicesError>> + Send + '_>> {
        Box::pin(ready(self.read()))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn files(root: &Path, checkpoint: Option<&str>) -> KubeletFiles {
        for folder in ["device-plugins", "pods/u-1", "pods/u-3", "logs/team-b_nb-1_u-1", "logs/team-b_old_u-2"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        if let Some(text) = checkpoint {
            fs::write(root.join("device-plugins/kubelet_internal_checkpoint"), text).unwrap();
        }
        KubeletFiles { root: root.to_owned(), logs: root.join("logs") }
    }

    #[test]
    fn entries_count_while_the_pod_has_its_folder() {
        let entry = |uid: &str, device: &str| {
            format!(
                r#"{{"PodUID": "{uid}", "ContainerName": "main", "ResourceName": "nvidia.com/mig-1g.10gb",
                    "DeviceIDs": {{"-1": ["{device}"]}}, "AllocResp": ""}}"#
            )
        };
        let entries = [entry("u-1", "MIG-a"), entry("u-2", "MIG-b"), entry("u-3", "MIG-c")].join(",");
        let text =
            format!(r#"{{"Data": {{"PodDeviceEntries": [{entries}], "RegisteredDevices": {{}}}}, "Checksum": 1}}"#);
        let dir = tempfile::tempdir().unwrap();
        let devices = files(dir.path(), Some(&text)).read().unwrap();
        let found: Vec<(&str, &str, &str)> =
            devices.iter().map(|one| (&*one.namespace, &*one.pod, &*one.device_ids[0])).collect();
        assert_eq!(found, [("", "with UID u-3", "MIG-c"), ("team-b", "nb-1", "MIG-a")]);
    }

    #[test]
    fn what_cannot_be_read_is_not_nothing() {
        for (text, expected) in [
            (Some(r#"{"Data": {"PodDeviceEntries": null, "RegisteredDevices": null}, "Checksum": 1}"#), Ok(0)),
            (Some("not a checkpoint"), Err("kubelet_internal_checkpoint")),
            (None, Err("kubelet_internal_checkpoint")),
        ] {
            let dir = tempfile::tempdir().unwrap();
            match (files(dir.path(), text).read(), expected) {
                (Ok(found), Ok(count)) => assert_eq!(found.len(), count),
                (Err(error), Err(part)) => assert!(error.to_string().contains(part), "{error}"),
                (found, expected) => unreachable!("{found:?}, expected {expected:?}"),
            }
        }
    }
}
