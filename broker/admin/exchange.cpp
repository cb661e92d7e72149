#include "admin/exchange.hpp"

#include <spdlog/spdlog.h>

namespace braidmq::admin {

http_response error_response(const error& why) {
  const std::error_code category = admin_client::make_error_code(admin_client::errc::refused);
  const auto code = static_cast<admin_client::errc>(why.code.value());
  if (why.code.category() == category.category() && admin_client::http_status(code) != 0) {
    return error_response(code, why.message.empty() ? why.code.message() : why.message);
  }
  spdlog::warn("HTTP API: {}", why.to_string());
  return error_response(admin_client::errc::refused, "internal error; the broker's log says more");
}

}  // namespace braidmq::admin
