#include "base/bytes.hpp"

#include <algorithm>
#include <cstring>

namespace braidmq {

bytes bytes::copy_of(byte_view view) {
  if (view.empty()) return {};
  auto block = std::make_shared_for_overwrite<std::byte[]>(view.size());
  std::memcpy(block.get(), view.data(), view.size());
  return {std::shared_ptr<const std::byte>(block, block.get()), view.size()};
}

bytes bytes::joined(std::span<const byte_view> parts) {
  std::size_t size = 0;
  for (const byte_view part : parts) size += part.size();
  if (size == 0) return {};
  auto block = std::make_shared_for_overwrite<std::byte[]>(size);
  std::byte* to = block.get();
  for (const byte_view part : parts) to = std::copy(part.begin(), part.end(), to);
  return {std::shared_ptr<const std::byte>(block, block.get()), size};
}

bytes bytes::take(std::vector<std::byte>&& block) {
  if (block.empty()) return {};
  const auto owner = std::make_shared<const std::vector<std::byte>>(std::move(block));
  return {std::shared_ptr<const std::byte>(owner, owner->data()), owner->size()};
}

bytes bytes::take(std::vector<std::byte>&& block, memory_lease lease) {
  struct leased {
    std::vector<std::byte> block;
    memory_lease lease;
  };
  if (block.empty()) return {};
  const auto owner = std::make_shared<leased>(leased{std::move(block), std::move(lease)});
  return {std::shared_ptr<const std::byte>(owner, owner->block.data()), owner->block.size()};
}

bool operator==(const bytes& a, const bytes& b) {
  return a.size_ == b.size_ && std::equal(a.view().begin(), a.view().end(), b.view().begin());
}

}  // namespace braidmq
