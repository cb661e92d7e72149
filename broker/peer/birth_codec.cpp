#include "peer/birth_codec.hpp"

#include <algorithm>
#include <utility>

#include "base/crc32c.hpp"
#include "peer/frame.hpp"
#include "protocol/generated/peer_birth.hpp"

namespace braidmq::peer {
namespace {

constexpr std::size_t about_bytes = 256;

status check_founding(const birth_state& state) {
  if (state.born && !state.record) return fail(errc::bad_frame, "a cluster that is born and was never prepared");
  if (!state.record) return {};
  const auto& voters = state.record->voters;
  const bool rising = std::ranges::is_sorted(voters, std::ranges::less_equal{}, &raft::node_id::broker) &&
                      std::ranges::adjacent_find(voters, {}, &raft::node_id::broker) == voters.end();
  if (voters.empty() || voters.front().broker < 0 || !rising || state.record->cluster_id.is_zero()) {
    return fail(errc::bad_frame, "a founding without a cluster id, or whose voters are not in order");
  }
  return {};
}

}  // namespace

bytes to_frame(const birth_state& state) {
  protocol::peer_birth record;
  record.born = state.born;
  record.prepared = state.record.has_value();
  if (state.record) {
    record.cluster_id = state.record->cluster_id;
    for (const raft::node_id& voter : state.record->voters) {
      auto& one = record.voters.emplace_back();
      one.broker = model::broker_id(voter.broker);
      one.incarnation = voter.incarnation;
    }
  }
  return frame_of(frame_kind::birth, record, about_bytes);
}

result<birth_state> birth_in_frame(const bytes& frame) {
  if (frame.size() < head_bytes) return fail(errc::bad_frame, "it is cut off");
  BRAID_TRY(record, record_in<protocol::peer_birth>(frame));
  birth_state state{{}, record.born};
  if (record.prepared) {
    founding& told = state.record.emplace();
    told.cluster_id = record.cluster_id;
    for (const auto& one : record.voters) told.voters.push_back({one.broker.value(), one.incarnation});
  }
  BRAID_TRY_VOID(check_founding(state));
  return state;
}

bytes to_file(const birth_state& state) {
  const bytes frame = to_frame(state);
  byte_buffer content(frame.size() + sizeof(std::uint32_t));
  content.append(frame.view());
  content.append_be(crc32c(frame.view()));
  return content.freeze();
}

result<birth_state> birth_in_file(const bytes& content) {
  if (content.size() < head_bytes + sizeof(std::uint32_t)) return fail(errc::bad_frame, "it is cut off");
  const std::size_t size = content.size() - sizeof(std::uint32_t);
  const auto kind = static_cast<frame_kind>(load_be<std::int16_t>(content.data()));
  const bool whole = load_be<std::uint32_t>(content.data() + size) == crc32c(content.view().first(size));
  if (!whole || kind != frame_kind::birth) return fail(errc::bad_frame, "it is not what was written");
  return birth_in_frame(content.slice(0, size));
}

}  // namespace braidmq::peer
