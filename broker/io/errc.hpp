// Errors of files and connections, in the few kinds that the program treats differently. The operating system's own
// words stand in error::message.
#pragma once

#include <system_error>

namespace braidmq::io {

enum class errc {
  not_found = 1,      // no such file or folder
  already_exists,     // a file was to be made and is there
  no_space,           // ENOSPC, EDQUOT: refuse new work, keep what is
  permission_denied,  // EACCES, EPERM, EROFS
  busy,               // locked by another process
  device_error,       // EIO and everything unforeseen: the file's content can no longer be trusted
  closed,             // the connection was closed by either side
  bad_address,        // not of the form host:port
};

std::error_code make_error_code(errc code);

}  // namespace braidmq::io

template <>
struct std::is_error_code_enum<braidmq::io::errc> : std::true_type {};
