//! Kubernetes objects by server-side apply.

#![forbid(unsafe_code)]
