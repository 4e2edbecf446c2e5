//! Functions whose bytes are not Terraform's, or other ones every time: what their results say is what went in.

use std::{io::Read, sync::Arc};

use base64::{Engine, engine::general_purpose::STANDARD};
use engine_model::host::FixedHost;

use super::setting::Setting;

#[test]
fn base64gzip_is_read_again() {
    let long = "wide ü ".repeat(5_000);
    for text in ["", "a", "Hällo\nyou", &long] {
        let packed = Setting::new().value_of(&format!("base64gzip({})", engine_value::json::Json::from(text))).unwrap();
        let packed = STANDARD.decode(packed.as_str().unwrap()).unwrap();
        let mut read = String::new();
        flate2::read::GzDecoder::new(packed.as_slice()).read_to_string(&mut read).unwrap();
        assert_eq!(read, text);
        assert!(packed.len() < 100 + text.len() / 50, "{} bytes", packed.len());
    }
}

#[test]
fn bcrypt_verifies() {
    let setting = Setting::new().with_host(Arc::new(FixedHost::new(0)));
    // What is less than the least cost is the default one.
    for (call, cost) in [("bcrypt(\"pä\", 4)", "04"), ("bcrypt(\"pä\", 5)", "05"), ("bcrypt(\"pä\", 1)", "10")] {
        let hash = setting.value_of(call).unwrap();
        let hash = hash.as_str().unwrap();
        assert!(hash.starts_with(&format!("$2a${cost}$")), "{call}: {hash}");
        assert!(bcrypt::verify("pä", hash).unwrap(), "{call}: {hash}");
        assert!(!bcrypt::verify("pa", hash).unwrap(), "{call}: {hash}");
        assert_ne!(setting.value_of(call).unwrap().as_str(), Some(hash), "the salt is another one");
    }
    let least = "bcrypt(\"\", 4)";
    assert!(bcrypt::verify("", setting.value_of(least).unwrap().as_str().unwrap()).unwrap());
    assert!(!Setting::new().value_of(least).unwrap().is_known(), "without a host, as in a plan");
}
