//! The library itself: starting, stopping, versions, error texts.

use std::ffi::{CStr, c_char, c_uint};
use std::sync::atomic::Ordering;

use nvml_wrapper_sys::bindings::nvmlReturn_t;

use crate::answer::{UNINITIALIZED, USERS, answer, edit, put_text, with_node};

#[unsafe(no_mangle)]
extern "C" fn nvmlInit_v2() -> nvmlReturn_t {
    answer(|| {
        edit(|_| ())?;
        USERS.fetch_add(1, Ordering::SeqCst);
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn nvmlInitWithFlags(_flags: c_uint) -> nvmlReturn_t {
    nvmlInit_v2()
}

#[unsafe(no_mangle)]
extern "C" fn nvmlShutdown() -> nvmlReturn_t {
    answer(|| {
        let one_less = USERS.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |users| users.checked_sub(1));
        one_less.map(|_| ()).map_err(|_| UNINITIALIZED)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvmlSystemGetDriverVersion(version: *mut c_char, length: c_uint) -> nvmlReturn_t {
    // SAFETY: the contract of `nvml.h`.
    with_node(|node| unsafe { put_text(version, length, &node.driver_version) })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nvmlSystemGetNVMLVersion(version: *mut c_char, length: c_uint) -> nvmlReturn_t {
    // As NVIDIA writes it: the API's version, then the driver's.
    // SAFETY: the contract of `nvml.h`.
    with_node(|node| unsafe { put_text(version, length, &format!("13.{}", node.driver_version)) })
}

#[unsafe(no_mangle)]
extern "C" fn nvmlErrorString(result: nvmlReturn_t) -> *const c_char {
    let text: &'static CStr = match result {
        0 => c"Success",
        1 => c"Uninitialized",
        2 => c"Invalid Argument",
        3 => c"Not Supported",
        4 => c"Insufficient Permissions",
        6 => c"Not Found",
        7 => c"Insufficient Size",
        9 => c"Driver Not Loaded",
        15 => c"GPU is lost",
        16 => c"GPU requires reset",
        18 => c"Driver/library version mismatch",
        19 => c"In use by another client",
        23 => c"Insufficient Resources",
        25 => c"The provided version is invalid/unsupported",
        _ => c"Unknown Error",
    };
    text.as_ptr()
}
