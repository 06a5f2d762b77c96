//! The script, as steps.

pub(crate) struct Step {
    pub(crate) line: usize,
    pub(crate) what: What,
    pub(crate) differs: Option<Differs>,
}

pub(crate) enum What {
    /// The open database is closed, and this one opened, without a key.
    Open(String),
    /// A line of statements.
    Sql(String),
}

/// How we differ from SQLCipher.
#[derive(Default)]
pub(crate) struct Differs {
    pub(crate) ours: Vec<String>,
    pub(crate) because: String,
}

impl Step {
    pub(crate) fn is_statement(&self) -> bool {
        matches!(self.what, What::Sql(_))
    }
}

pub(crate) fn parse(script: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut differs: Option<Differs> = None;
    for (index, text) in script.lines().enumerate() {
        let line = index + 1;
        if let Some(ours) = text.strip_prefix("-- pageseal:") {
            let differs = differs.get_or_insert_default();
            let ours = ours.trim();
            differs
                .ours
                .extend((!ours.is_empty()).then(|| ours.to_owned()));
        } else if let Some(because) = text.strip_prefix("-- because: ") {
            differs.get_or_insert_default().because = because.to_owned();
        } else if let Some(name) = text.strip_prefix(".open ") {
            steps.push(Step {
                line,
                what: What::Open(name.to_owned()),
                differs: None,
            });
        } else if !text.is_empty() && !text.starts_with("--") {
            assert!(text.ends_with(';'), "line {line}: a statement has one line");
            steps.push(Step {
                line,
                what: What::Sql(text.to_owned()),
                differs: differs.take(),
            });
        }
    }
    assert!(differs.is_none(), "a difference of no statement");
    steps
}
