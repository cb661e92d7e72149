// Reads files out of a .jar (a ZIP archive): central directory, stored and deflated entries, no ZIP64, no encryption.
#pragma once

#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>

namespace braidmq::conformance {

// Contents by name, of the entries that `wanted` picks. Throws std::runtime_error with words for a person.
std::map<std::string, std::string> read_jar(const std::string& path,
                                            const std::function<bool(std::string_view)>& wanted);

}  // namespace braidmq::conformance
