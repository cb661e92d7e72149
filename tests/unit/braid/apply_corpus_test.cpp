// Apply makes of recorded entries the state that it made of them when they were recorded, for ever.
#include "apply_corpus.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "model/record_batch.hpp"

namespace braidmq::braid::corpus {
namespace {

// Each file with the XXH3-128 of its bytes. A line of this table is added, never changed.
const std::map<std::string, std::string> files{
    {"level-1.txt", "554a3bd727531f73a7c61dff8294779c"},
};

std::string folder() {
  const char* data = std::getenv("BRAID_TEST_DATA");
  return std::string(data == nullptr ? "tests/data" : data) + "/apply/";
}

std::string content_of(const std::string& name) {
  std::ifstream file(folder() + name, std::ios::binary);
  EXPECT_TRUE(file) << folder() + name;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<recorded_entry> entries_of(const std::string& name) {
  auto parsed = parse_corpus(content_of(name));
  EXPECT_TRUE(parsed) << name << ": " << parsed.error().to_string();
  return parsed ? std::move(*parsed) : std::vector<recorded_entry>();
}

// The names of what apply can be asked for, and what it answers, as they are met.
void note(std::map<std::string, int>& seen, const recorded_entry& one, const std::vector<unit_outcome>& outcomes) {
  if (one.entry.kind == raft::entry_kind::noop) {
    ++seen["leader"];
    return;
  }
  const auto command = decode(one.entry.payload).value();
  const auto count = [&seen](const char* what, std::size_t times) { seen[what] += static_cast<int>(times); };
  count("level", command.apply_level > 0 ? 1 : 0);
  count("creation", command.creations.size());
  count("config", command.configs.size());
  count("deletion", command.deletions.size());
  count("log start", command.log_starts.size());
  count("expiry", command.expiries.size());
  for (std::size_t i = 0; i < command.units.size(); ++i) {
    const produce_unit& unit = command.units[i];
    bool refused = false;
    for (std::size_t s = 0; s < unit.slices.size(); ++s) {
      const slice_outcome& outcome = outcomes[i].slices[s];
      const auto header = model::parse_batch_header(unit.slices[s].batch);
      if (header->codec() != model::compression::none) ++seen["compressed"];
      if (header->timestamps() == model::timestamp_type::log_append_time) ++seen["append time"];
      if (outcome.duplicate) ++seen["duplicate"];
      if (outcome.error) ++seen[outcome.error.message()];
      if (!outcome.error && !outcome.duplicate) ++seen["appended"];
      refused = refused || (s < unit.atomic_slices && outcome.error);
    }
    if (unit.atomic_slices > 0) ++seen[refused ? "set refused" : "set taken"];
  }
}

TEST(ApplyCorpus, EveryFileIsAsItWasRecorded) {
  for (const auto& [name, sum] : files) {
    const std::string text = content_of(name);
    EXPECT_EQ(hash_of(as_byte_view(text)).to_string(), sum)
        << name << ": a recorded file is never changed: what it says has been promised to data that exists";
  }
}

TEST(ApplyCorpus, EveryFileIsPlayed) {
  std::size_t found = 0;
  for (const auto& one : std::filesystem::directory_iterator(folder())) {
    const std::string name = one.path().filename();
    found += files.contains(name) ? 1 : 0;
    EXPECT_TRUE(files.contains(name) || name == "README.md") << name << " is not in the table";
  }
  EXPECT_EQ(found, files.size());
}

TEST(ApplyCorpus, TheStateIsTheRecordedOneAfterEveryEntry) {
  for (const auto& [name, sum] : files) {
    filed_machine machine;
    for (const recorded_entry& one : entries_of(name)) {
      const auto outcomes = machine.apply(one.entry);
      ASSERT_TRUE(outcomes) << outcomes.error().to_string();
      ASSERT_EQ(machine.state_hash(), one.state_hash)
          << name << ", entry " << one.entry.index.value()
          << ": apply does something else than it did. A new rule needs a new "
          << "level, and the old one must stay for states that are not raised to it";
    }
  }
}

TEST(ApplyCorpus, AlsoThroughCheckpoints) {
  for (const auto& [name, sum] : files) {
    const auto entries = entries_of(name);
    for (const std::size_t first : {0U, 3U}) {
      filed_machine machine;
      for (std::size_t i = 0; i < entries.size(); ++i) {
        if (i % 7 == first) {
          machine.save_and_load();
          if (testing::Test::HasFatalFailure()) return;
        }
        ASSERT_TRUE(machine.apply(entries[i].entry));
        ASSERT_EQ(machine.state_hash(), entries[i].state_hash) << name << ", entry " << entries[i].entry.index.value();
      }
    }
  }
}

TEST(ApplyCorpus, HoldsEverythingThatApplyCanMeet) {
  std::map<std::string, int> seen;
  std::uint64_t expired = 0;
  std::size_t expiries_without_effect = 0;
  for (const auto& [name, sum] : files) {
    filed_machine machine;
    for (const recorded_entry& one : entries_of(name)) {
      const std::uint64_t before = machine.state().producers_expired();
      const auto outcomes = machine.apply(one.entry);
      ASSERT_TRUE(outcomes);
      note(seen, one, *outcomes);
      expired += machine.state().producers_expired() - before;
    }
    expiries_without_effect += machine.state().producer_count();
  }
  for (const char* what :
       {"leader", "level", "creation", "config", "deletion", "log start", "expiry", "compressed", "append time",
        "duplicate", "appended", "set refused", "set taken", "no such partition", "sequence number out of order",
        "producer epoch is older than the current one", "another part of the atomic write was refused"}) {
    EXPECT_GT(seen[what], 0) << what;
  }
  EXPECT_GT(expired, 3U);
  EXPECT_GT(expiries_without_effect, 0U) << "somebody is left";
}

// Today's code makes entries that it can record and play. With BRAID_WRITE_CORPUS=FILE it writes them there.
TEST(ApplyCorpus, ANewOneCanBeRecorded) {
  std::vector<recorded_entry> recorded;
  filed_machine machine;
  for (const raft::entry& entry : script_of_level_1()) {
    ASSERT_TRUE(machine.apply(entry));
    recorded.push_back({entry, machine.state_hash()});
  }
  const std::string text = write_corpus(recorded);
  const auto back = parse_corpus(text);
  ASSERT_TRUE(back) << back.error().to_string();
  ASSERT_EQ(back->size(), recorded.size());
  std::set<std::string> hashes;
  filed_machine again;
  for (std::size_t i = 0; i < back->size(); ++i) {
    ASSERT_EQ((*back)[i].entry, recorded[i].entry);
    ASSERT_TRUE(again.apply((*back)[i].entry));
    ASSERT_EQ(again.state_hash(), (*back)[i].state_hash);
    hashes.insert((*back)[i].state_hash);
  }
  EXPECT_EQ(hashes.size(), recorded.size()) << "every entry changes the state, its index at least";
  if (const char* path = std::getenv("BRAID_WRITE_CORPUS")) {
    std::ofstream(path, std::ios::binary) << text;
    std::cout << path << ": " << recorded.size() << " entries, " << hash_of(as_byte_view(text)).to_string() << "\n";
  }
}

TEST(ApplyCorpus, LinesThatAreNoEntriesAreRefused) {
  const std::string hash(32, 'a');
  EXPECT_EQ(parse_corpus("# a remark\n1 1 " + hash + " -\n2 1 " + hash + " 00ff\n")->size(), 2U);
  for (const std::string& wrong : {std::string("1 1 ") + hash, "1 1 " + hash + " 0", "1 1 " + hash + " 0g",
                                   std::string("1 1 abc 00"), "x 1 " + hash + " 00", "1 1 " + hash + " 00 00"}) {
    EXPECT_FALSE(parse_corpus(wrong + "\n")) << wrong;
  }
}

}  // namespace
}  // namespace braidmq::braid::corpus
