// The client that talks to a real API server, by HTTP/1.1 over a pool of connections; each watch has one of its own.
//
// What is sent again, within the deadline: after 429 everything (it was not carried out), obeying Retry-After; when no
// connection came about, everything; after a broken connection and 5xx what can do no harm: reads, applies, deletes
// with a UID. After 401 everything once, with the token read anew; after a certificate that does not verify, everything
// once when the CA bundle has changed.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "io/clock.hpp"
#include "io/random.hpp"
#include "k8s/client.hpp"
#include "k8s/config.hpp"
#include "k8s/transport.hpp"

namespace braidmq::k8s {

struct http_client_options {
  io::duration deadline = std::chrono::seconds(30);  // of a call with all its retries; watches have their own
  io::duration first_retry = std::chrono::milliseconds(100);
  io::duration last_retry = std::chrono::seconds(3);
  io::duration watch_grace = std::chrono::seconds(5);  // for the server to end a watch whose time is over
  std::size_t max_watch_line_bytes = 16U << 20U;
  std::string user_agent = "braidmq";
  // Asked right before each write is sent, the first time and again: false and it is not (errc::not_leading). A process
  // that was stopped for longer than its Lease must find out before it writes, not after. None: always.
  std::function<bool()> may_write;
  std::string field_manager;  // of patches, as managedFields shows it; empty: the server takes the user agent
  transport_options connections;
};

struct api_figures {
  // (verb, code): GET, LIST, WATCH, CREATE, APPLY, PATCH, DELETE; the HTTP code, or the word of the error without one.
  std::map<std::pair<std::string, std::string>, std::uint64_t> requests;
};

class http_client final : public client {
 public:
  // `clock`: for the age of the token, the CA bundle and idle connections; deadlines are real time.
  explicit http_client(client_config config, http_client_options options = {},
                       const io::clock& clock = io::system_clock(), io::random_source& random = io::system_random());
  ~http_client() override;

  result<json> get(const resource_type& type, const object_key& key) override;
  result<list_page> list(const resource_type& type, const list_options& options) override;
  result<json> create(const resource_type& type, const json& object, const std::string& field_manager) override;
  result<json> apply(const resource_type& type, const json& object, const apply_options& options) override;
  result<json> json_patch(const resource_type& type, const object_key& key, const json& operations,
                          const std::string& subresource = "") override;
  status remove(const resource_type& type, const object_key& key, const delete_options& options) override;
  result<watch_end> watch(const resource_type& type, const watch_options& options, const std::atomic<bool>& cancel,
                          const watch_handler& handler) override;

  // For the end of a process: calls under way return errc::canceled within a second, later ones at once. Whoever must
  // still write then (a Lease to give free) has a client of its own.
  void shut_down();

  api_figures read_figures() const;
  const client_config& config() const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace braidmq::k8s
