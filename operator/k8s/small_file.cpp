#include "k8s/small_file.hpp"

#include "io/file_system.hpp"
#include "k8s/errc.hpp"

namespace braidmq::k8s {

result<std::string> read_small_file(const std::string& path) {
  const auto content = io::read_file(io::posix_file_system(), path, max_small_file_bytes);
  if (!content) return fail(errc::config, with_context(content.error(), path).to_string());
  const byte_view view = content->view();
  return std::string(reinterpret_cast<const char*>(view.data()), view.size());
}

std::string trimmed(std::string text) {
  constexpr const char* white_space = " \t\r\n";
  text.erase(text.find_last_not_of(white_space) + 1);
  text.erase(0, text.find_first_not_of(white_space));
  return text;
}

}  // namespace braidmq::k8s
