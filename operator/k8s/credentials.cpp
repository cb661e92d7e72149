#include "k8s/credentials.hpp"

#include <algorithm>
#include <chrono>

#include <openssl/bio.h>
#include <openssl/pem.h>

#include "k8s/small_file.hpp"

namespace braidmq::k8s {
namespace {

using namespace std::chrono_literals;

// A kubelet writes a new token long before the old one ends, so the age of our copy is all that matters.
constexpr io::duration token_max_age = 60s;
constexpr io::duration trust_max_age = 5min;

// A half-written file must not replace a bundle that works.
bool has_certificate(const std::string& pem) {
  BIO* source = BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()));
  X509* certificate = PEM_read_bio_X509(source, nullptr, nullptr, nullptr);
  const bool found = certificate != nullptr;
  X509_free(certificate);
  BIO_free(source);
  return found;
}

// As a header's value: nothing that could end the line.
bool is_token(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7F; });
}

}  // namespace

credentials::credentials(const client_config& config, const io::clock& clock)
    : config_(config), clock_(clock), token_(config.token), trust_(std::make_shared<trust_bundle>(0, config.ca_pem)) {
  read_token();
  read_trust();
}

void credentials::read_token() {
  token_read_ = clock_.now();
  if (config_.token_file.empty()) return;
  auto content = read_small_file(config_.token_file);
  if (!content) return;
  std::string token = trimmed(std::move(*content));
  if (is_token(token)) token_ = std::move(token);
}

std::string credentials::token() {
  std::lock_guard lock(mutex_);
  if (clock_.now() - token_read_ >= token_max_age) read_token();
  return token_;
}

void credentials::token_was_refused() {
  std::lock_guard lock(mutex_);
  read_token();
}

void credentials::read_trust() {
  trust_read_ = clock_.now();
  if (config_.ca_file.empty()) return;
  auto content = read_small_file(config_.ca_file);
  if (!content || *content == trust_->pem || !has_certificate(*content)) return;
  trust_ = std::make_shared<trust_bundle>(trust_->generation + 1, std::move(*content));
}

std::shared_ptr<const trust_bundle> credentials::trust() {
  std::lock_guard lock(mutex_);
  if (clock_.now() - trust_read_ >= trust_max_age) read_trust();
  return trust_;
}

bool credentials::trust_was_wrong(const trust_bundle& used) {
  std::lock_guard lock(mutex_);
  if (trust_->generation == used.generation) read_trust();
  return trust_->generation != used.generation;
}

}  // namespace braidmq::k8s
