#include "conformance/jar_reader.hpp"

#include <cstdint>
#include <fstream>
#include <iterator>

#include <zlib.h>

namespace braidmq::conformance {
namespace {

// PKWARE APPNOTE.TXT, sections 4.3.7, 4.3.12 and 4.3.16; little-endian throughout.
constexpr std::uint32_t end_magic = 0x06054b50;
constexpr std::uint32_t entry_magic = 0x02014b50;
constexpr std::uint32_t local_magic = 0x04034b50;
constexpr std::size_t end_size = 22;
constexpr std::size_t entry_size = 46;
constexpr std::size_t local_size = 30;

class archive {
 public:
  explicit archive(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) throw std::runtime_error(path + " cannot be read");
    content_.assign(std::istreambuf_iterator<char>(in), {});
  }

  std::map<std::string, std::string> read(const std::function<bool(std::string_view)>& wanted) const {
    const std::size_t end = find_end();
    std::map<std::string, std::string> files;
    std::size_t at = number(end + 16, 4);
    for (std::size_t left = number(end + 10, 2); left > 0; --left) {
      expect_magic(at, entry_magic);
      const std::size_t name_length = number(at + 28, 2);
      const std::string name(part(at + entry_size, name_length));
      if (wanted(name)) files.emplace(name, extract(at));
      at += entry_size + name_length + number(at + 30, 2) + number(at + 32, 2);
    }
    return files;
  }

 private:
  std::string_view part(std::size_t at, std::size_t size) const {
    if (at > content_.size() || size > content_.size() - at) throw std::runtime_error("archive is cut short");
    return std::string_view(content_).substr(at, size);
  }
  std::size_t number(std::size_t at, std::size_t size) const {
    std::size_t value = 0;
    const std::string_view field = part(at, size);
    for (std::size_t i = size; i-- > 0;) value = value << 8U | static_cast<unsigned char>(field[i]);
    return value;
  }
  void expect_magic(std::size_t at, std::uint32_t magic) const {
    if (number(at, 4) != magic) throw std::runtime_error("archive is damaged");
  }

  // The end record is last but for a comment of unknown length, so look for it from behind.
  std::size_t find_end() const {
    for (std::size_t back = end_size; back <= content_.size() && back <= end_size + 0xffff; ++back) {
      const std::size_t at = content_.size() - back;
      if (number(at, 4) == end_magic) return at;
    }
    throw std::runtime_error("this is no ZIP archive");
  }

  std::string extract(std::size_t entry) const {
    const std::size_t method = number(entry + 10, 2);
    const std::size_t packed_size = number(entry + 20, 4);
    const std::size_t size = number(entry + 24, 4);
    const std::size_t local = number(entry + 42, 4);
    expect_magic(local, local_magic);
    const std::string_view packed =
        part(local + local_size + number(local + 26, 2) + number(local + 28, 2), packed_size);
    std::string content = method == 0 ? std::string(packed) : inflate_raw(packed, size);
    if (method != 0 && method != 8) throw std::runtime_error("unknown compression in the archive");
    if (crc32(0, reinterpret_cast<const Bytef*>(content.data()), static_cast<uInt>(content.size())) !=
        number(entry + 16, 4)) {
      throw std::runtime_error("checksum of an archive entry is wrong");
    }
    return content;
  }

  static std::string inflate_raw(std::string_view packed, std::size_t size) {
    std::string content(size, '\0');
    z_stream stream{};
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) throw std::runtime_error("zlib does not start");
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
    stream.avail_in = static_cast<uInt>(packed.size());
    stream.next_out = reinterpret_cast<Bytef*>(content.data());
    stream.avail_out = static_cast<uInt>(content.size());
    const int outcome = inflate(&stream, Z_FINISH);
    inflateEnd(&stream);
    if (outcome != Z_STREAM_END || stream.avail_out != 0) throw std::runtime_error("an archive entry is damaged");
    return content;
  }

  std::string content_;
};

}  // namespace

std::map<std::string, std::string> read_jar(const std::string& path,
                                            const std::function<bool(std::string_view)>& wanted) {
  return archive(path).read(wanted);
}

}  // namespace braidmq::conformance
