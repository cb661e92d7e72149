// What changes under a running client: the projected token (read anew each minute, at once when it was refused) and the
// CA bundle (each 5 minutes, and when a certificate does not verify). Nothing of it is kept per connection.
//
// Threads: any. Files that cannot be read leave what was there before in use.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "io/clock.hpp"
#include "k8s/config.hpp"

namespace braidmq::k8s {

// A CA bundle as it was at one moment. Connections made under an older generation are not used for new requests.
struct trust_bundle {
  std::uint64_t generation = 0;
  std::string pem;
};

class credentials {
 public:
  credentials(const client_config& config, const io::clock& clock);

  std::string token();  // empty: none
  void token_was_refused();

  std::shared_ptr<const trust_bundle> trust();
  // True when the file has another bundle than `used`: trying again makes sense.
  bool trust_was_wrong(const trust_bundle& used);

 private:
  void read_token();
  void read_trust();

  const client_config& config_;
  const io::clock& clock_;
  std::mutex mutex_;
  std::string token_;
  io::time_point token_read_;
  std::shared_ptr<const trust_bundle> trust_;
  io::time_point trust_read_;
};

}  // namespace braidmq::k8s
