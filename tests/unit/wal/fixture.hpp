// A WAL on simulated disks and executors, and words to write to it and to read it back.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/manual_executor.hpp"
#include "support/manual_timers.hpp"
#include "support/sim_file_system.hpp"
#include "support/sim_random.hpp"
#include "wal/format.hpp"
#include "wal/log.hpp"

namespace braidmq::wal::test {

class seeded_random final : public io::random_source {
 public:
  explicit seeded_random(std::uint64_t seed) : rng_(seed) {}
  void fill(mutable_byte_view target) override {
    for (std::byte& byte : target) byte = static_cast<std::byte>(rng_());
  }

 private:
  sim::rng rng_;
};

inline constexpr raft::group_id group_a{7};
inline constexpr raft::group_id group_b{9};

inline raft::entry make_entry(std::uint64_t term, std::uint64_t index, std::string_view payload) {
  return {raft::term(term), raft::index(index), raft::entry_kind::command, bytes::copy_of(payload)};
}

inline append_item item(raft::group_id group, std::vector<raft::entry> entries,
                        std::optional<raft::hard_state> state = std::nullopt) {
  return {group, state, std::move(entries)};
}

inline raft::hard_state hard_state(std::uint64_t term, std::uint64_t commit = 0) {
  raft::node_id vote{1, {}};
  vote.incarnation.octets.fill(0xab);
  return {raft::term(term), vote, raft::index(commit)};
}

// One process that has the WAL open. Several may follow one another on one file system.
class process {
 public:
  explicit process(sim::sim_file_system& fs, options opts = {}, std::uint64_t seed = 1) : random(seed) {
    opts.folder = "/wal";
    if (fs.exists("/wal") == false) (void)fs.make_directories("/wal");
    if (opts.file_bytes > 1U << 20U) opts.preallocate = false;  // in memory, files of the default size are slow
    auto opened = log::open({fs, disk, background, owner, timers, random, clock}, opts);
    if (opened) {
      wal = std::move(*opened);
    } else {
      failure = opened.error();
    }
  }

  // Appends without waiting. `outcomes` shows what came back, in the order in which it came.
  void append(append_item item) {
    const std::size_t number = appended++;
    wal->append(std::move(item), [this, number](status s) {
      outcomes.emplace_back(number, s.has_value());
      if (!s) last_error = s.error();
    });
  }
  // Appends and waits.
  bool write(append_item item) {
    append(std::move(item));
    loop.run_until_idle();
    return outcomes.back().second;
  }

  result<std::vector<raft::entry>> read(raft::group_id group, std::uint64_t from, std::size_t max_bytes = 1U << 30U) {
    std::optional<result<std::vector<raft::entry>>> answer;
    wal->read(group, raft::index(from), max_bytes, [&](auto r) { answer = std::move(r); });
    EXPECT_FALSE(answer.has_value()) << "never inside the call";
    loop.run_until_idle();
    EXPECT_TRUE(answer.has_value());
    return std::move(*answer);
  }

  // All entries of a group, from several reads if need be.
  std::vector<raft::entry> all(raft::group_id group, std::size_t max_bytes = 1U << 30U) {
    std::vector<raft::entry> entries;
    const auto* known = recovered(group);
    std::uint64_t next = known != nullptr && known->first_index.value() > 0 ? known->first_index.value() : 1;
    while (true) {
      auto chunk = read(group, next, max_bytes);
      if (!chunk) {
        EXPECT_EQ(chunk.error().code, errc::not_retained) << chunk.error().to_string();
        return entries;
      }
      next += chunk->size();
      for (auto& entry : *chunk) entries.push_back(std::move(entry));
    }
  }

  const recovered_group* recovered(raft::group_id group) const {
    for (const recovered_group& each : wal->recovered()) {
      if (each.group == group) return &each;
    }
    return nullptr;
  }

  seeded_random random;
  sim::manual_clock clock;
  sim::manual_loop loop;
  sim::manual_executor disk{loop};
  sim::manual_executor background{loop};
  sim::manual_executor owner{loop};
  sim::manual_timers timers{clock, owner};
  std::unique_ptr<log> wal;
  std::optional<error> failure;  // of open
  std::vector<std::pair<std::size_t, bool>> outcomes;
  std::optional<error> last_error;
  std::size_t appended = 0;
};

inline std::string path_of(std::uint64_t file) {
  return "/wal/" + format::file_name(file);
}

inline std::vector<std::string> names_in_wal(io::file_system& fs) {
  return fs.list("/wal").value();
}

inline std::vector<std::byte> content_of(io::file_system& fs, const std::string& path) {
  auto file = fs.open(path, io::open_mode::read);
  EXPECT_TRUE(file.has_value());
  std::vector<std::byte> content(*(*file)->size());
  EXPECT_EQ((*file)->read_at(0, content).value(), content.size());
  return content;
}

}  // namespace braidmq::wal::test
