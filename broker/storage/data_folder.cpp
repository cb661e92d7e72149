#include "storage/data_folder.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <vector>

#include "base/check.hpp"
#include "base/crc32c.hpp"

namespace braidmq::storage {
namespace {

constexpr std::string_view identity_file = "braidmq.identity";
constexpr std::string_view lock_file = "braidmq.lock";
constexpr std::size_t identity_limit_bytes = 4096;

class folder_category final : public std::error_category {
 public:
  const char* name() const noexcept override { return "data_folder"; }
  std::string message(int value) const override {
    switch (static_cast<folder_errc>(value)) {
      case folder_errc::foreign:
        return "not a folder of BraidMQ";
      case folder_errc::damaged:
        return "identity file is damaged";
      case folder_errc::newer_format:
        return "format of a later version";
      case folder_errc::volume_lost:
        return "a volume has lost its content";
      case folder_errc::mixed:
        return "folders do not belong together";
      case folder_errc::not_formed:
        return "a broker that has run before has no data";
    }
    return "unknown data folder error";
  }
};

// `forming` in data.dir, then `complete` in wal.dir, then `complete` in data.dir: whatever is interrupted can be told
// from a volume that was lost later.
enum class folder_state { forming, complete };

struct identity {
  std::string role;  // "data" or "wal"
  uuid incarnation;
  model::broker_id broker;
  folder_state state = folder_state::forming;
};

std::string join(const std::string& folder, std::string_view name) {
  return fmt::format("{}/{}", folder, name);
}

bytes to_bytes(const identity& id) {
  const std::string text =
      fmt::format("format: {}\nrole: {}\nincarnation: {}\nbroker.id: {}\nstate: {}\n", data_folders::format, id.role,
                  id.incarnation, id.broker, id.state == folder_state::forming ? "forming" : "complete");
  return bytes::copy_of(fmt::format("{}crc32c: {:08x}\n", text, crc32c(as_byte_view(text))));
}

result<identity> from_bytes(const std::string& path, byte_view content) {
  const auto damaged = [&path] {
    return fail(folder_errc::damaged, fmt::format("{}: restore the volume, or empty it to begin anew", path));
  };
  const std::string_view text = as_string_view(content);
  std::map<std::string, std::string, std::less<>> values;
  std::size_t checked = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    const std::size_t colon = text.find(": ", at);
    if (end == std::string_view::npos || colon >= end) return damaged();
    const std::string_view key = text.substr(at, colon - at);
    if (key == "crc32c") checked = at;
    values.emplace(key, text.substr(colon + 2, end - colon - 2));
    at = end + 1;
  }
  if (values["crc32c"] != fmt::format("{:08x}", crc32c(content.first(checked)))) return damaged();
  int format = 0;
  int broker = 0;
  const auto number = [&values](const char* key, int& into) {
    const std::string& value = values[key];
    return std::from_chars(value.data(), value.data() + value.size(), into).ec == std::errc{};
  };
  if (!number("format", format)) return damaged();
  if (format > data_folders::format) {
    return fail(folder_errc::newer_format,
                fmt::format("{} has format {}, this version reads up to {}: start the later version again", path,
                            format, data_folders::format));
  }
  const auto incarnation = uuid::parse(values["incarnation"]);
  if (!incarnation || !number("broker.id", broker)) return damaged();
  return identity{values["role"], *incarnation, model::broker_id(broker),
                  values["state"] == "complete" ? folder_state::complete : folder_state::forming};
}

// What is in a folder: an identity of ours, nothing, or (an error) something else.
result<std::optional<identity>> inspect(io::file_system& fs, const std::string& folder,
                                        const std::string& expected_child) {
  BRAID_TRY(exists, fs.exists(folder));
  if (!exists) return std::optional<identity>();
  BRAID_TRY(names, fs.list(folder));
  const std::string path = join(folder, identity_file);
  if (std::ranges::find(names, identity_file) != names.end()) {
    BRAID_TRY(content, io::read_file(fs, path, identity_limit_bytes));
    BRAID_TRY(id, from_bytes(path, content));
    return std::optional<identity>(std::move(id));
  }
  const auto is_leftover = [&expected_child](const std::string& name) {
    return name == lock_file || name == expected_child || name == "lost+found" ||
           name == fmt::format("{}.tmp", identity_file);
  };
  const auto foreign = std::ranges::find_if_not(names, is_leftover);
  if (foreign != names.end()) {
    return fail(folder_errc::foreign, fmt::format("{} holds '{}' and no {}: name an empty folder, or the right one",
                                                  folder, *foreign, identity_file));
  }
  return std::optional<identity>();
}

// The name of wal_dir in data_dir when it lies directly in it.
std::string child_name(const std::string& parent, const std::string& folder) {
  if (folder.size() <= parent.size() + 1 || !folder.starts_with(parent + "/")) return {};
  const std::string rest = folder.substr(parent.size() + 1);
  return rest.find('/') == std::string::npos ? rest : std::string();
}

status check_pair(const std::optional<identity>& data, const std::optional<identity>& wal,
                  const data_folders_options& options) {
  const auto lost = [](const std::string& lost, const std::string& other) {
    return fail(folder_errc::volume_lost,
                fmt::format("{} is empty, but {} belongs to a broker that has run: attach the lost volume; or, when it "
                            "is gone for good, empty the other one too, and this broker begins a new life",
                            lost, other));
  };
  // Before `complete` in both, a broker has never run: an interrupted formatting holds nothing either.
  if (!options.may_form && !wal && (!data || data->state == folder_state::forming)) {
    return fail(folder_errc::not_formed,
                fmt::format("{} and {} are empty, but braid.bootstrap is existing: attach the volumes with which this "
                            "broker has run; if they are gone for good and no other broker has its data, restore a "
                            "backup, or set braid.bootstrap=initial to found a new, empty cluster",
                            options.data_dir, options.wal_dir));
  }
  if (wal && !data) return lost(options.data_dir, options.wal_dir);
  if (data && !wal && data->state == folder_state::complete) return lost(options.wal_dir, options.data_dir);
  const auto of_another = [&options](const std::string& folder, model::broker_id owner) {
    return fail(folder_errc::mixed, fmt::format("{} belongs to broker {}, but broker.id is {}: attach the volumes of "
                                                "this broker, or correct broker.id",
                                                folder, owner, options.broker));
  };
  if (data && data->broker != options.broker) return of_another(options.data_dir, data->broker);
  if (wal && wal->broker != options.broker) return of_another(options.wal_dir, wal->broker);
  if (data && wal && (data->incarnation != wal->incarnation || data->role != "data" || wal->role != "wal")) {
    return fail(
        folder_errc::mixed,
        fmt::format("{} ({} {}) and {} ({} {}) are not of one life: attach the volumes that belong together",
                    options.data_dir, data->role, data->incarnation, options.wal_dir, wal->role, wal->incarnation));
  }
  return {};
}

}  // namespace

std::error_code make_error_code(folder_errc code) {
  static const folder_category category;
  return {static_cast<int>(code), category};
}

result<data_folders> data_folders::open(io::file_system& fs, io::random_source& random,
                                        const data_folders_options& options) {
  BRAID_TRY(data, inspect(fs, options.data_dir, child_name(options.data_dir, options.wal_dir)));
  BRAID_TRY(wal, inspect(fs, options.wal_dir, {}));
  BRAID_TRY_VOID(check_pair(data, wal, options));

  data_folders opened;
  const bool complete = data && data->state == folder_state::complete;
  if (!complete) {
    BRAID_TRY_VOID(fs.make_directories(options.data_dir));
    BRAID_TRY_VOID(fs.make_directories(options.wal_dir));
  }
  BRAID_TRY(data_lock, fs.lock(join(options.data_dir, lock_file)));
  BRAID_TRY(wal_lock, fs.lock(join(options.wal_dir, lock_file)));
  opened.data_lock_ = std::move(data_lock);
  opened.wal_lock_ = std::move(wal_lock);
  opened.incarnation_ = data ? data->incarnation : random.next_uuid();
  if (complete) return opened;

  const auto write = [&](const std::string& folder, const char* role, folder_state state) {
    const identity id{role, opened.incarnation_, options.broker, state};
    return io::write_file_atomically(fs, join(folder, identity_file), to_bytes(id));
  };
  if (!data) BRAID_TRY_VOID(write(options.data_dir, "data", folder_state::forming));
  if (!wal) BRAID_TRY_VOID(write(options.wal_dir, "wal", folder_state::complete));
  BRAID_TRY_VOID(write(options.data_dir, "data", folder_state::complete));
  opened.formatted_now_ = true;
  return opened;
}

}  // namespace braidmq::storage
