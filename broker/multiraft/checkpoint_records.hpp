// Frames of a checkpoint that hold records of the schema language, each with its version before it
// (docs/formats/checkpoint.md).
//
// Threads and errors: those of checkpoint_file.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/check.hpp"
#include "base/endian.hpp"
#include "multiraft/checkpoint_file.hpp"
#include "multiraft/group.hpp"

namespace braidmq::multiraft {

template <class Record>
status add_record(checkpoint_writer& to, std::uint8_t kind, const Record& record) {
  byte_buffer buffer;
  buffer.append_be(Record::max_version);
  const status encoded = record.encode(buffer, Record::max_version);
  BRAID_CHECK(encoded.has_value(), "a checkpoint's record cannot be written: {}", encoded.error().to_string());
  return to.add(kind, buffer.view());
}

// A frame whose kind says which record it is.
struct record_frame {
  std::uint8_t kind = 0;
  std::int16_t version = 0;
  bytes body;

  // Hands the record to `take`, which says what is wrong with it; empty: nothing. A result may also be
  // errc::checkpoint_format: it takes a later version.
  template <class Record, class Take>
  result<std::string> as(Take&& take) const {
    if (version > Record::max_version) {
      return fail(errc::checkpoint_format, fmt::format("a frame of kind {} has version {}, this version reads {}", kind,
                                                       version, Record::max_version));
    }
    BRAID_TRY(record, Record::decode(body, version));
    return std::forward<Take>(take)(record);
  }
  result<std::string> unknown() const { return fmt::format("a frame has kind {}", kind); }
};

// Hands every frame to `take`, which answers as record_frame::as does.
template <class Take>
status read_records(checkpoint_reader& from, Take&& take) {
  while (true) {
    BRAID_TRY(frame, from.next());
    if (!frame) return {};
    if (frame->payload.size() < sizeof(std::int16_t)) return from.damaged("a frame has no version");
    const record_frame one{frame->kind, load_be<std::int16_t>(frame->payload.data()),
                           frame->payload.slice(sizeof(std::int16_t))};
    const result<std::string> problem = take(one);
    if (!problem && problem.error().code == errc::checkpoint_format) return from.later(problem.error().message);
    if (!problem) return from.damaged(problem.error().to_string());
    if (!problem->empty()) return from.damaged(*problem);
  }
}

}  // namespace braidmq::multiraft
