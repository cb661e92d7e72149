// schemagen message <out-folder> <file.schema>   -> <stem>.hpp .cpp _random.hpp _random.cpp
// schemagen tables  <out-folder> <file.schema>.. -> api_table.inc all_messages.hpp schemas.json
//
// Files are named NN_name.schema; NN (the API key) orders folders and is not part of the stem. Errors go to stderr as
// file:line:column: error: text, which editors understand. Runs on the build host only.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "protocol/schemagen/check.hpp"
#include "protocol/schemagen/emit.hpp"
#include "protocol/schemagen/parser.hpp"

namespace {

using namespace braidmq::schemagen;
namespace fs = std::filesystem;

void report(const std::string& path, const schema_error& error) {
  std::cerr << fmt::format("{}:{}:{}: error: {}\n", path, error.at.line, error.at.column, error.text);
}

std::string stem_of(const fs::path& path) {
  std::string stem = path.stem().string();
  const std::size_t letters = stem.find_first_not_of("0123456789");
  if (letters != 0 && letters != std::string::npos && stem[letters] == '_') stem.erase(0, letters + 1);
  return stem;
}

std::string content_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::optional<schema_file> load(const std::string& path) {
  if (!std::ifstream(path)) {
    std::cerr << fmt::format("{}: cannot be read\n", path);
    return std::nullopt;
  }
  auto parsed = parse(content_of(path));
  if (const auto* error = std::get_if<schema_error>(&parsed)) {
    report(path, *error);
    return std::nullopt;
  }
  schema_file file{stem_of(path), fs::path(path).filename().string(),
                   std::get<std::vector<message_def>>(std::move(parsed))};
  const std::vector<schema_error> errors = check(file.messages);
  for (const schema_error& error : errors) report(path, error);
  if (!errors.empty()) return std::nullopt;
  return file;
}

// An unchanged file keeps its time, so that a change of the tool rebuilds only what came out differently.
bool write_file(const fs::path& path, const std::string& text) {
  if (fs::exists(path) && content_of(path) == text) return true;
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << text;
  out.flush();
  if (!out) std::cerr << fmt::format("{}: cannot be written\n", path.string());
  return static_cast<bool>(out);
}

bool write_messages(const fs::path& folder, const schema_file& file) {
  return write_file(folder / (file.stem + ".hpp"), emit_header(file)) &&
         write_file(folder / (file.stem + ".cpp"), emit_source(file)) &&
         write_file(folder / (file.stem + "_random.hpp"), emit_random_header(file)) &&
         write_file(folder / (file.stem + "_random.cpp"), emit_random_source(file));
}

bool keys_are_unique(const std::vector<schema_file>& files) {
  std::map<int, std::string> seen;
  bool unique = true;
  for (const schema_file& file : files) {
    for (const message_def& message : file.messages) {
      if (message.kind != message_kind::request) continue;
      const auto [other, fresh] = seen.emplace(message.api_key, message.name);
      if (fresh) continue;
      report(file.path, {message.at, fmt::format("API key {} is {}'s already", message.api_key, other->second)});
      unique = false;
    }
  }
  return unique;
}

int run(std::string_view mode, const fs::path& folder, const std::vector<std::string>& paths) {
  std::vector<schema_file> files;
  for (const std::string& path : paths) {
    auto file = load(path);
    if (!file) return 1;
    files.push_back(std::move(*file));
  }
  fs::create_directories(folder);
  if (mode == "tables") {
    if (!keys_are_unique(files)) return 1;
    const bool written = write_file(folder / "api_table.inc", emit_api_table(files)) &&
                         write_file(folder / "all_messages.hpp", emit_message_list(files)) &&
                         write_file(folder / "schemas.json", emit_description(files));
    return written ? 0 : 1;
  }
  for (const schema_file& file : files) {
    if (!write_messages(folder, file)) return 1;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() < 3 || (arguments[0] != "message" && arguments[0] != "tables")) {
    std::cerr << "usage: schemagen message|tables <out-folder> <file.schema>...\n";
    return 2;
  }
  return run(arguments[0], arguments[1], {arguments.begin() + 2, arguments.end()});
}
