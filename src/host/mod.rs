//! stub
pub mod sys;
pub mod tree;
