// Why a call to the Kubernetes API did not do what was asked. The message of the error is that of the server's Status
// object, or says which connection failed and how.
#pragma once

#include <system_error>

namespace braidmq::k8s {

enum class errc {
  not_found = 1,      // 404: neither object nor, when the message says so, its kind
  already_exists,     // 409 on create
  conflict,           // 409: another resourceVersion, or another field manager owns a field (the message names it)
  gone,               // 410: the resourceVersion or continue token is too old
  invalid,            // 400, 415, 422: the same request can never succeed
  forbidden,          // 403: a right is missing, the quota is used up, or the namespace is terminating
  unauthorized,       // 401, also with a token read anew
  too_many_requests,  // 429 beyond the deadline
  server_error,       // 5xx beyond the deadline
  timed_out,          // no answer within the deadline; a write may have been carried out
  network,            // no connection, or it broke; a write may have been carried out
  tls,                // the server's certificate does not verify
  bad_response,       // an answer that is not what the API promises
  canceled,           // by us
  config,             // neither in a pod nor a usable kubeconfig
  not_leading,        // nothing was sent: this process may not write now
};

std::error_code make_error_code(errc code);

}  // namespace braidmq::k8s

template <>
struct std::is_error_code_enum<braidmq::k8s::errc> : std::true_type {};
