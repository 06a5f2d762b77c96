//! The contract that SQLite has with a VFS, at the raw table of functions: what
//! is registered is called directly, with buffers full of poison, over a VFS that
//! does what a test tells it to do and writes down what reaches it.

mod below;
mod files;
mod opening;
mod raw;
mod reading;
mod vfs;
