// The answer to an ApiVersions request in a version that we do not know: version 0, error 35, and all that we speak.
#pragma once

#include "base/bytes.hpp"

namespace braidmq::server::handlers {

bytes unsupported_api_versions_body();

}  // namespace braidmq::server::handlers
