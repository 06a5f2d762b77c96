//! Functions of one value, and values.

use crate::vfs::{Db, SqlError};

/// A value that a function answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    Null,
    Integer(i64),
    Text(String),
}

/// A function of one value, which no view or trigger can call.
pub(crate) struct ScalarFunction {
    pub(crate) name: &'static core::ffi::CStr,
    /// How many arguments it takes; any of these.
    pub(crate) arguments: &'static [i32],
    /// What it does with its arguments, as text.
    pub(crate) run: fn(Db<'_>, &[Option<String>]) -> Result<Value, SqlError>,
}
