//! Uses both: the plain crate's files stay plain, the other's are sealed.

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let dir = tempfile::tempdir()?;
    let plain = dir.path().join("plain.db");
    let sealed = dir.path().join("sealed.db");
    for n in 1..=3 {
        assert_eq!(mixed_plain::visit(&plain)?, n);
        assert_eq!(mixed_sealed::visit(&sealed)?, n);
    }
    let definition = b"CREATE TABLE visit";
    let is_plain = |path| -> std::io::Result<bool> {
        let file = std::fs::read(path)?;
        Ok(file.windows(definition.len()).any(|w| w == definition))
    };
    assert!(is_plain(&plain)?, "the plain crate's file is not plain");
    assert!(!is_plain(&sealed)?, "the sealed crate's file is plaintext");
    assert!(mixed_plain::visit(&sealed).is_err(), "opened without a key");
    println!("ok");
    Ok(())
}
