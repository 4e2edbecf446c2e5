//! Reads the catalog's data (`data/mig-geometry.json`) into typed tables. Refuses data that contradicts itself.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use serde::Deserialize;

use crate::{
    Architecture, CardModel, DriverVersion, DriverVersionError, Geometry, MediaEngines, MigProfile, MigSupport,
    Product, ProfileInfo, Together,
};

/// What is wrong with the data.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DataError {
    #[error("the data is not of the expected form")]
    Form(#[from] serde_json::Error),
    #[error(transparent)]
    Driver(#[from] DriverVersionError),
    #[error("{what} needs {name}, which the data does not have")]
    Missing { what: String, name: String },
    #[error("card {0} has neither a geometry nor an architecture of its own")]
    NoArchitecture(Product),
    #[error("device id {0} is not hexadecimal")]
    DeviceId(String),
}

#[derive(Deserialize)]
struct Data {
    layouts: BTreeMap<String, RawLayout>,
    cards: Vec<RawCard>,
    geometries: Vec<RawGeometry>,
}

#[derive(Deserialize)]
struct RawLayout {
    placements_published: bool,
    #[serde(default)]
    together_since: Vec<RawTogether>,
}

#[derive(Deserialize)]
struct RawTogether {
    compute_slices: [u8; 2],
    min_driver: String,
}

#[derive(Deserialize)]
struct RawCard {
    product: Product,
    name: String,
    #[serde(default)]
    other_spellings: Vec<Product>,
    geometry: Option<String>,
    device_id: Option<String>,
    architecture: Option<Architecture>,
    memory_total_mib: Option<u64>,
    min_driver: Option<String>,
}

#[derive(Deserialize)]
struct RawGeometry {
    id: String,
    architecture: Architecture,
    layout: String,
    memory_slices: u8,
    compute_slices: u8,
    memory_total_mib: Option<u64>,
    min_driver: Option<String>,
    // Unknown for cards whose placements are not published either.
    mig_enable_needs_gpu_reset: Option<bool>,
    mig_mode_survives_reboot: Option<bool>,
    media_budget: Option<RawMedia>,
    profiles: Vec<RawProfile>,
}

#[derive(Deserialize)]
struct RawMedia {
    nvdec: u32,
    nvenc: u32,
    nvjpeg: u32,
    ofa: u32,
}

#[derive(Deserialize)]
struct RawProfile {
    name: MigProfile,
    compute_slices: u8,
    memory_slices: u8,
    max_instances: u32,
    starts: Option<Vec<u8>>,
    nvml_profile_enum: u32,
    gi_profile_id: Option<u32>,
    memory_mib: Option<u64>,
    multiprocessors: Option<u32>,
    nvdec: Option<u32>,
    nvenc: Option<u32>,
    nvjpeg: Option<u32>,
    ofa: Option<u32>,
    copy_engines: Option<u32>,
    min_driver: Option<String>,
}

struct Loaded {
    architecture: Architecture,
    memory_mib: Option<u64>,
    min_driver: Option<DriverVersion>,
    mig: MigSupport,
}

/// The card models of the data, in its order.
pub(crate) fn cards(json: &str) -> Result<Vec<CardModel>, DataError> {
    let data: Data = serde_json::from_str(json)?;
    let mut geometries = BTreeMap::new();
    for raw in data.geometries {
        let layout = data
            .layouts
            .get(&raw.layout)
            .ok_or_else(|| DataError::Missing { what: format!("geometry {}", raw.id), name: raw.layout.clone() })?;
        geometries.insert(raw.id.clone(), geometry(raw, layout)?);
    }
    data.cards.into_iter().map(|raw| card(raw, &geometries)).collect()
}

fn card(raw: RawCard, geometries: &BTreeMap<String, Loaded>) -> Result<CardModel, DataError> {
    let found = match &raw.geometry {
        None => None,
        Some(id) => Some(geometries.get(id).ok_or_else(|| DataError::Missing {
            what: format!("card {}", raw.product),
            name: format!("geometry {id}"),
        })?),
    };
    let architecture = raw.architecture.or(found.map(|geometry| geometry.architecture));
    let own_driver = raw.min_driver.as_deref().map(str::parse::<DriverVersion>).transpose()?;
    Ok(CardModel {
        architecture: architecture.ok_or_else(|| DataError::NoArchitecture(raw.product.clone()))?,
        product: raw.product,
        name: raw.name,
        other_spellings: raw.other_spellings,
        device_id: raw.device_id.map(device_id).transpose()?,
        memory_mib: raw.memory_total_mib.or(found.and_then(|geometry| geometry.memory_mib)),
        min_driver: own_driver.or(found.and_then(|geometry| geometry.min_driver.clone())),
        mig: found.map_or(MigSupport::No, |geometry| geometry.mig.clone()),
    })
}

fn device_id(text: String) -> Result<u16, DataError> {
    let digits = text.strip_prefix("0x").unwrap_or(&text);
    u16::from_str_radix(digits, 16).map_err(|_| DataError::DeviceId(text))
}

fn geometry(raw: RawGeometry, layout: &RawLayout) -> Result<Loaded, DataError> {
    let min_driver = raw.min_driver.as_deref().map(str::parse::<DriverVersion>).transpose()?;
    let mut together = Vec::new();
    for pair in &layout.together_since {
        together.push(Together { compute_slices: pair.compute_slices, min_driver: pair.min_driver.parse()? });
    }
    let loaded = |mig| Loaded {
        architecture: raw.architecture,
        memory_mib: raw.memory_total_mib,
        min_driver: min_driver.clone(),
        mig,
    };
    let (Some(mode_needs_reset), Some(mode_survives_reboot), true) =
        (raw.mig_enable_needs_gpu_reset, raw.mig_mode_survives_reboot, layout.placements_published)
    else {
        return Ok(loaded(MigSupport::Unpublished(raw.profiles.iter().map(|profile| profile.name).collect())));
    };
    let mut profiles = Vec::new();
    for raw_profile in &raw.profiles {
        profiles.push(profile(&raw.id, raw_profile)?);
    }
    profiles.sort_by_key(|info: &ProfileInfo| info.profile);
    let geometry = Arc::new(Geometry {
        id: raw.id.clone(),
        memory_slices: raw.memory_slices,
        compute_slices: raw.compute_slices,
        profiles,
        media_budget: raw.media_budget.as_ref().map(|media| MediaEngines {
            nvdec: media.nvdec,
            nvenc: media.nvenc,
            nvjpeg: media.nvjpeg,
            ofa: media.ofa,
        }),
        together,
        min_driver: min_driver.clone(),
        mode_needs_reset,
        mode_survives_reboot,
        valid: OnceLock::new(),
    });
    Ok(loaded(MigSupport::Known(geometry)))
}

fn profile(geometry: &str, raw: &RawProfile) -> Result<ProfileInfo, DataError> {
    let missing = |name: &str| DataError::Missing {
        what: format!("profile {} of geometry {geometry}", raw.name),
        name: name.to_owned(),
    };
    Ok(ProfileInfo {
        profile: raw.name,
        gi_profile_id: raw.gi_profile_id.ok_or_else(|| missing("a gi_profile_id"))?,
        nvml_profile: raw.nvml_profile_enum,
        size: raw.memory_slices,
        starts: raw.starts.clone().ok_or_else(|| missing("starts"))?,
        max_instances: raw.max_instances,
        compute_slices: raw.compute_slices,
        memory_mib: raw.memory_mib,
        multiprocessors: raw.multiprocessors,
        media: MediaEngines {
            nvdec: raw.nvdec.unwrap_or(0),
            nvenc: raw.nvenc.unwrap_or(0),
            nvjpeg: raw.nvjpeg.unwrap_or(0),
            ofa: raw.ofa.unwrap_or(0),
        },
        copy_engines: raw.copy_engines,
        min_driver: raw.min_driver.as_deref().map(str::parse::<DriverVersion>).transpose()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAYOUTS: &str = r#""layouts": {"l": {"placements_published": true}}"#;

    #[test]
    fn refuses_data_that_contradicts_itself() {
        for (json, expected) in [
            ("{}".to_owned(), "the data is not of the expected form"),
            (
                format!(
                    r#"{{{LAYOUTS}, "geometries": [], "cards": [{{"product": "X", "name": "X", "geometry": "g"}}]}}"#
                ),
                "card X needs geometry g, which the data does not have",
            ),
            (
                format!(r#"{{{LAYOUTS}, "geometries": [], "cards": [{{"product": "X", "name": "X"}}]}}"#),
                "card X has neither a geometry nor an architecture of its own",
            ),
            (
                format!(
                    r#"{{{LAYOUTS}, "geometries": [],
                        "cards": [{{"product": "X", "name": "X", "architecture": "Turing", "device_id": "T4"}}]}}"#
                ),
                "device id T4 is not hexadecimal",
            ),
        ] {
            assert_eq!(cards(&json).unwrap_err().to_string(), expected);
        }
    }
}
