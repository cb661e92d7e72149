#include "support/k8s/test_certificates.hpp"

#include <atomic>

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include "base/check.hpp"

namespace braidmq::k8s::testing {
namespace {

constexpr long hour_s = 3600;

using key_ptr = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using certificate_ptr = std::unique_ptr<X509, decltype(&X509_free)>;

key_ptr make_key() {
  key_ptr key(EVP_EC_gen("P-256"), &EVP_PKEY_free);
  BRAID_CHECK(key != nullptr);
  return key;
}

template <class Write>
std::string to_pem(Write write) {
  BIO* target = BIO_new(BIO_s_mem());
  BRAID_CHECK(write(target) == 1);
  char* data = nullptr;
  const long size = BIO_get_mem_data(target, &data);
  std::string pem(data, static_cast<std::size_t>(size));
  BIO_free(target);
  return pem;
}

void add_extension(X509* to, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, to, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str());
  BRAID_CHECK(extension != nullptr, "{}", value);
  X509_add_ext(to, extension, -1);
  X509_EXTENSION_free(extension);
}

certificate_ptr make_certificate(const std::string& common_name, EVP_PKEY* key, long from_s, long to_s) {
  static std::atomic<long> serial{1};
  certificate_ptr made(X509_new(), &X509_free);
  X509_set_version(made.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(made.get()), serial++);
  X509_gmtime_adj(X509_getm_notBefore(made.get()), from_s);
  X509_gmtime_adj(X509_getm_notAfter(made.get()), to_s);
  X509_set_pubkey(made.get(), key);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(made.get()), "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(common_name.c_str()), -1, -1, 0);
  return made;
}

}  // namespace

struct certificate_authority::state {
  key_ptr key = make_key();
  certificate_ptr certificate{nullptr, &X509_free};
  std::string pem;
};

certificate_authority::certificate_authority(const std::string& name) : state_(std::make_unique<state>()) {
  state_->certificate = make_certificate(name, state_->key.get(), -hour_s, hour_s);
  X509* self = state_->certificate.get();
  X509_set_issuer_name(self, X509_get_subject_name(self));
  add_extension(self, self, NID_basic_constraints, "critical,CA:TRUE");
  add_extension(self, self, NID_subject_key_identifier, "hash");
  BRAID_CHECK(X509_sign(self, state_->key.get(), EVP_sha256()) > 0);
  state_->pem = to_pem([&](BIO* target) { return PEM_write_bio_X509(target, self); });
}

certificate_authority::~certificate_authority() = default;

const std::string& certificate_authority::pem() const {
  return state_->pem;
}

key_pair certificate_authority::issue(const std::string& alternative_name, bool expired,
                                      const std::string& common_name) const {
  const key_ptr key = make_key();
  const certificate_ptr leaf =
      make_certificate(common_name, key.get(), expired ? -2 * hour_s : -hour_s, expired ? -hour_s : hour_s);
  X509* issuer = state_->certificate.get();
  X509_set_issuer_name(leaf.get(), X509_get_subject_name(issuer));
  add_extension(leaf.get(), issuer, NID_subject_alt_name, alternative_name);
  BRAID_CHECK(X509_sign(leaf.get(), state_->key.get(), EVP_sha256()) > 0);
  return {.certificate_pem = to_pem([&](BIO* target) { return PEM_write_bio_X509(target, leaf.get()); }),
          .key_pem = to_pem([&](BIO* target) {
            return PEM_write_bio_PrivateKey(target, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
          })};
}

}  // namespace braidmq::k8s::testing
