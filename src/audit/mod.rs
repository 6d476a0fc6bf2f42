//! Which permission check each component of a path takes, for a user. Floor 2.
//!
//! [`audit`] looks at the path as the caller, decides with [`decide`] what the kernel's check does for
//! the user, and, where the caller may take the user's credentials, asks the kernel as that user
//! whether it agrees. It changes nothing, but for one thing: asking for an ACL fills the kernel's
//! cache of it. It knows nothing of loads and runs.

pub mod cost;
pub mod decide;
mod gather;
pub mod layers;
pub mod model;
mod mounts;
mod path;
mod summary;
mod trial;

pub use gather::{Question, audit};
pub use model::{Audit, Component, Kind};
