// Certificates made on the spot, so that no test depends on a file that expires.
#pragma once

#include <memory>
#include <string>

namespace braidmq::k8s::testing {

struct key_pair {
  std::string certificate_pem;
  std::string key_pem;
};

class certificate_authority {
 public:
  explicit certificate_authority(const std::string& name);
  ~certificate_authority();

  const std::string& pem() const;
  // `alternative_name` as OpenSSL writes it: "IP:127.0.0.1", "DNS:example.com".
  key_pair issue(const std::string& alternative_name, bool expired = false,
                 const std::string& common_name = "leaf") const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace braidmq::k8s::testing
