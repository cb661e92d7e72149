// What the rows of all kinds begin with, and words that all kinds share.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/reader.hpp"
#include "k8s/cache.hpp"
#include "k8s/object.hpp"

namespace braidmq::api {

// Annotations and finalizers of ours begin with this.
inline constexpr std::string_view group = "braidmq.io";
inline constexpr std::string_view version = "v1alpha1";

// Annotations that people set.
inline constexpr std::string_view abandon_annotation = "braidmq.io/abandon";  // frees an object from its finalizer
inline constexpr std::string_view paused_annotation = "braidmq.io/paused";

struct row : k8s::row_header {
  std::int64_t generation = 0;
  std::int64_t created_s = 0;  // seconds since 1970
  bool deleting = false;
  std::int64_t deleted_s = 0;  // the deletionTimestamp: when that was asked for; of a pod, when its grace is over
  std::vector<std::string> finalizers;
  text_map annotations;               // only those of braidmq.io
  std::vector<std::string> problems;  // what could not be read of spec or status

  bool has_finalizer(std::string_view name) const;
  bool is_set(std::string_view annotation) const;  // there, and not "false"
};

// Fills what a row begins with. Never fails: what is missing is empty.
void read_row(const json& object, row& target);

// RFC 3339 as Kubernetes writes it ("2026-11-29T20:55:05Z", fractions allowed); 0 when it is something else.
std::int64_t parse_time(std::string_view text);
std::string format_time(std::int64_t seconds);

// At most `max_bytes` of a text, cut between characters, with "..." where something is left out.
std::string shorten(std::string_view text, std::size_t max_bytes);

// FNV-1a over the compact text of a document. The same on every machine and in every version.
std::uint64_t hash_of(std::string_view text);
std::uint64_t hash_of_document(const json& document);

}  // namespace braidmq::api
