#include "apply_corpus.hpp"

#include <optional>
#include <sstream>

#include <gtest/gtest.h>

#include "braid/checkpoint.hpp"

namespace braidmq::braid::corpus {
namespace {

const std::string checkpoint_path = "/checkpoints/braid";
constexpr raft::group_id group(1);
constexpr std::string_view digits = "0123456789abcdef";

std::string to_hex(byte_view data) {
  std::string text;
  text.reserve(2 * data.size());
  for (const std::byte octet : data) {
    text += digits[std::to_integer<std::size_t>(octet) >> 4U];
    text += digits[std::to_integer<std::size_t>(octet) & 15U];
  }
  return text;
}

std::optional<bytes> from_hex(const std::string& text) {
  if (text.size() % 2 != 0) return std::nullopt;
  std::vector<std::byte> octets;
  octets.reserve(text.size() / 2);
  for (std::size_t i = 0; i < text.size(); i += 2) {
    const std::size_t high = digits.find(text[i]);
    const std::size_t low = digits.find(text[i + 1]);
    if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
    octets.push_back(static_cast<std::byte>(high << 4U | low));
  }
  return bytes::take(std::move(octets));
}

}  // namespace

std::string write_corpus(const std::vector<recorded_entry>& entries) {
  std::string text;
  for (const auto& [entry, hash] : entries) {
    text += fmt::format("{} {} {} {}\n", entry.index, entry.term, hash,
                        entry.kind == raft::entry_kind::noop ? "-" : to_hex(entry.payload));
  }
  return text;
}

result<std::vector<recorded_entry>> parse_corpus(const std::string& text) {
  std::vector<recorded_entry> entries;
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    if (line.starts_with('#')) continue;
    std::istringstream words(line);
    std::uint64_t index = 0;
    std::uint64_t term = 0;
    std::string hash;
    std::string payload;
    words >> index >> term >> hash >> payload;
    const auto octets = payload == "-" ? std::optional<bytes>(bytes()) : from_hex(payload);
    if (!words || !words.eof() || !octets || hash.size() != 32) {
      return fail(std::make_error_code(std::errc::bad_message), fmt::format("line {} is no entry", number));
    }
    const auto kind = payload == "-" ? raft::entry_kind::noop : raft::entry_kind::command;
    entries.push_back({{raft::term(term), raft::index(index), kind, *octets}, hash});
  }
  return entries;
}

class filed_machine::file_logs final : public log_factory {
 public:
  file_logs(io::file_system& fs, io::executor& disk, io::executor& owner) : fs_(fs), disk_(disk), owner_(owner) {
    options_.segments.bytes = 1000;  // several for each partition
    options_.index_interval_bytes = 200;
  }
  std::unique_ptr<storage::partition_log> make(const model::topic_partition_id& id) override {
    return storage::partition_log::create(fs_, disk_, owner_, folder_of(id), options_, callbacks());
  }
  void configure(storage::partition_log&, const config_values&) override {}
  result<std::unique_ptr<storage::partition_log>> open(const pinned_partition& one) {
    return storage::partition_log::open(fs_, disk_, owner_, folder_of(one.id), options_, one.log.manifest, callbacks());
  }

 private:
  static std::string folder_of(const model::topic_partition_id& id) { return "/data/" + to_string(id); }
  static storage::log_callbacks callbacks() {
    return {nullptr, [](const error& why) { ADD_FAILURE() << why.to_string(); }};
  }

  io::file_system& fs_;
  io::executor& disk_;
  io::executor& owner_;
  storage::log_options options_;
};

filed_machine::filed_machine() : logs_(std::make_unique<file_logs>(fs_, disk_, owner_)) {
  EXPECT_TRUE(fs_.make_directories("/data"));
  EXPECT_TRUE(fs_.make_directories("/checkpoints"));
  state_ = std::make_unique<machine>(*logs_);
}

filed_machine::~filed_machine() = default;

result<std::vector<unit_outcome>> filed_machine::apply(const raft::entry& entry) {
  term_ = entry.term;
  auto outcomes = state_->apply(entry);
  state_->publish();
  return outcomes;
}

void filed_machine::save_and_load() {
  state_->take_deleted();  // their files stay, as before a checkpoint
  {
    const auto pinned = pin_for_checkpoint(*state_);
    bool written = false;
    pinned->when_written([&written](const status& done) { written = done.has_value(); });
    loop_.run_until_idle();
    ASSERT_TRUE(written);
    for (auto& sync : pinned->take_syncs()) ASSERT_TRUE(sync());
    auto writer = multiraft::checkpoint_writer::begin(fs_, checkpoint_path, {group, pinned->index(), term_});
    ASSERT_TRUE(writer);
    ASSERT_TRUE(pinned->write(*writer));
    ASSERT_TRUE(writer->commit());
  }
  state_ = std::make_unique<machine>(*logs_);
  loop_.run_until_idle();
  auto saved = read_checkpoint(fs_, checkpoint_path, group);
  ASSERT_TRUE(saved) << saved.error().to_string();
  const status loaded =
      state_->restore(std::move(**saved), [this](const pinned_partition& one) { return logs_->open(one); });
  ASSERT_TRUE(loaded) << loaded.error().to_string();
}

}  // namespace braidmq::braid::corpus
