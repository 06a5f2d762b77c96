//! AES-CBC, HMAC, PBKDF2 and random bytes over slices. Knows no pages and no
//! SQLite.
