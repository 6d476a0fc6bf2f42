//! stub
/// stub
pub fn delete_tree_at(
    _dir: std::os::fd::BorrowedFd<'_>,
    _name: &std::ffi::CStr,
) -> Result<u64, rustix::io::Errno> {
    Ok(0)
}
