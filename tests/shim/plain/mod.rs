//! A plaintext database through the shim is what it is without it: the same files,
//! written in the same steps, the same answers and the same errors.

mod errors;
mod steps;
