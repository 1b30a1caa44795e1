//! What the fuzz targets share: naive second opinions, and a server in memory to put questions to.

pub mod base64;
pub mod binding;
pub mod bound;
pub mod churn;
pub mod control;
pub mod h2;
pub mod json;
mod lent;
pub mod model;
pub mod ops;
pub mod oracle;
pub mod response;
pub mod rig;
pub mod run;
pub mod say;
pub mod script;
pub mod tables;
pub mod whatwg;
pub mod world;
