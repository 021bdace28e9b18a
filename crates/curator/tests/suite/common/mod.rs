//! What several files of tests share.

pub(crate) mod postgres;
