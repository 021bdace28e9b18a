//! Mechanisms, one file each; the measure of the same name tells what they leak.

pub mod randomized_response;
