//! How many cases a property is tried on.

use proptest::prelude::ProptestConfig;

/// So many, or as `JBODBENCH_CASES` says: scripts/fuzz.
pub fn config(usual: u32) -> ProptestConfig {
    let cases = std::env::var("JBODBENCH_CASES").ok().and_then(|text| text.parse().ok());
    ProptestConfig { cases: cases.unwrap_or(usual), ..ProptestConfig::default() }
}
