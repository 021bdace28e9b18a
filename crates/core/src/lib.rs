//! kernel
#![no_std]
