//! From a Rust result to what C expects: a return code, and values behind pointers.

use std::ffi::{CStr, c_char, c_uint};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use nvml_wrapper_sys::bindings as sys;
use providers_simulator::{Node, Refusal};

/// A return code other than success.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Code(pub(crate) sys::nvmlReturn_t);

pub(crate) const UNINITIALIZED: Code = Code(sys::nvmlReturn_enum_NVML_ERROR_UNINITIALIZED);
pub(crate) const INVALID_ARGUMENT: Code = Code(sys::nvmlReturn_enum_NVML_ERROR_INVALID_ARGUMENT);
pub(crate) const NOT_SUPPORTED: Code = Code(sys::nvmlReturn_enum_NVML_ERROR_NOT_SUPPORTED);
pub(crate) const NOT_FOUND: Code = Code(sys::nvmlReturn_enum_NVML_ERROR_NOT_FOUND);
pub(crate) const INSUFFICIENT_SIZE: Code = Code(sys::nvmlReturn_enum_NVML_ERROR_INSUFFICIENT_SIZE);
pub(crate) const VERSION_MISMATCH: Code = Code(sys::nvmlReturn_enum_NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
const DRIVER_NOT_LOADED: Code = Code(sys::nvmlReturn_enum_NVML_ERROR_DRIVER_NOT_LOADED);
const UNKNOWN: Code = Code(sys::nvmlReturn_enum_NVML_ERROR_UNKNOWN);

impl From<Refusal> for Code {
    fn from(refusal: Refusal) -> Self {
        Self(refusal.code())
    }
}

/// How often NVML was initialised and not yet shut down.
pub(crate) static USERS: AtomicU32 = AtomicU32::new(0);

/// The return code of a result. A panic must not unwind into C: it becomes "unknown error".
pub(crate) fn answer(work: impl FnOnce() -> Result<(), Code>) -> sys::nvmlReturn_t {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(())) => sys::nvmlReturn_enum_NVML_SUCCESS,
        Ok(Err(code)) => code.0,
        Err(_) => UNKNOWN.0,
    }
}

/// A call that needs an initialised library and works on the node.
pub(crate) fn with_node(work: impl FnOnce(&mut Node) -> Result<(), Code>) -> sys::nvmlReturn_t {
    answer(|| {
        if USERS.load(Ordering::SeqCst) == 0 {
            return Err(UNINITIALIZED);
        }
        let (result, delay) = edit(|node| (work(node), node.take_delay_ms()))?;
        if delay > 0 {
            thread::sleep(Duration::from_millis(delay));
        }
        result
    })
}

/// Works on the node of the file that the environment names.
pub(crate) fn edit<T>(work: impl FnOnce(&mut Node) -> T) -> Result<T, Code> {
    let path = PathBuf::from(std::env::var_os(crate::NODE_FILE).ok_or(DRIVER_NOT_LOADED)?);
    crate::world::edit(&path, work).map_err(|_| DRIVER_NOT_LOADED)
}

/// Writes a value to where the caller wants it.
///
/// # Safety
/// `out` is null or valid for a write.
pub(crate) unsafe fn put<T>(out: *mut T, value: T) -> Result<(), Code> {
    if out.is_null() {
        return Err(INVALID_ARGUMENT);
    }
    // SAFETY: not null, so valid by the contract.
    unsafe { out.write(value) };
    Ok(())
}

/// Writes a text with its terminating zero.
///
/// # Safety
/// `out` is null or valid for writes of `length` characters.
pub(crate) unsafe fn put_text(out: *mut c_char, length: c_uint, text: &str) -> Result<(), Code> {
    let bytes: Vec<c_char> = text.bytes().chain([0]).map(|byte| byte as c_char).collect();
    // SAFETY: the caller's contract, of which `put_all` checks the length.
    unsafe { put_all(out, length, &bytes) }
}

/// Writes values one after the other.
///
/// # Safety
/// `out` is null or valid for writes of `length` values.
pub(crate) unsafe fn put_all<T: Copy>(out: *mut T, length: c_uint, values: &[T]) -> Result<(), Code> {
    if out.is_null() {
        return Err(INVALID_ARGUMENT);
    }
    if values.len() > length as usize {
        return Err(INSUFFICIENT_SIZE);
    }
    for (index, value) in values.iter().enumerate() {
        // SAFETY: `index` is less than `length`.
        unsafe { out.add(index).write(*value) };
    }
    Ok(())
}

/// NVML's way to return a list: `count` says how much space there is and then how much there was to say. Without space
/// the list is not written.
///
/// # Safety
/// `count` is null or valid for reads and writes; `out` is null or valid for writes of `*count` values.
pub(crate) unsafe fn put_list<T: Copy>(out: *mut T, count: *mut c_uint, values: &[T]) -> Result<(), Code> {
    if count.is_null() {
        return Err(INVALID_ARGUMENT);
    }
    // SAFETY: not null, so valid by the contract.
    let space = unsafe { count.read() };
    // SAFETY: as above.
    unsafe { count.write(values.len() as c_uint) };
    if space == 0 || out.is_null() {
        return if values.is_empty() { Ok(()) } else { Err(INSUFFICIENT_SIZE) };
    }
    // SAFETY: `out` has space for `*count` values by the contract.
    unsafe { put_all(out, space, values) }
}

/// Reads a text.
///
/// # Safety
/// `text` is null or points to characters that end with a zero.
pub(crate) unsafe fn text<'a>(text: *const c_char) -> Result<&'a str, Code> {
    if text.is_null() {
        return Err(INVALID_ARGUMENT);
    }
    // SAFETY: not null, so valid by the contract.
    unsafe { CStr::from_ptr(text) }.to_str().map_err(|_| INVALID_ARGUMENT)
}
