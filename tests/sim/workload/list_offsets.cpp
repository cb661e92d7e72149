// Asks for offsets: beginning, end, by time, of the record with the largest time.
#include "protocol/generated/list_offsets.hpp"

#include "workload/client.hpp"

namespace braidmq::sim {
namespace {

constexpr std::int16_t first_version_with_max_timestamp = 7;

class offset_lister final : public client {
 public:
  offset_lister(workload_context& context, rng chance) : client(context, "offsets", chance) {}

 private:
  void on_turn() override {
    if (in_flight() >= 2 || any_lasting_topic() == nullptr || !take_operation()) return;
    const std::int16_t version = any_version(1, 11);
    auto asked = std::make_shared<std::vector<offset_record>>();
    protocol::list_offsets_request request;
    request.replica_id = model::broker_id(-1);
    for (std::size_t i = 1 + chance().below(2); i > 0; --i) {
      const known_topic& topic = *any_lasting_topic();
      request.topics.emplace_back().name = topic.name;
      for (std::int32_t p = 0; p < topic.partitions; ++p) {
        auto& partition = request.topics.back().partitions.emplace_back();
        partition.partition_index = model::partition_index(p);
        partition.timestamp = draw_timestamp(version);
        offset_record record;
        record.connection = connection_id();
        record.target = {topic.id, model::partition_index(p)};
        record.timestamp = partition.timestamp;
        record.floor = log().known_end(record.target);
        record.start_floor = log().known_start(record.target);
        asked->push_back(record);
      }
    }
    send(request, version, [this, asked, version](const result<bytes>& body) { take(*asked, body, version); });
  }

  std::int64_t draw_timestamp(std::int16_t version) {
    const std::uint64_t kind = chance().below(4);
    if (kind == 0) return -1;
    if (kind == 1) return -2;
    if (kind == 2 && version >= first_version_with_max_timestamp) return -3;
    return context().cluster.wall_clocks().first - chance().between(-1'000, 4'000);
  }

  void take(std::vector<offset_record>& asked, const result<bytes>& body, std::int16_t version) {
    if (!body) return;
    const auto response = protocol::list_offsets_response::decode(*body, version);
    if (!response) return log().violation("protocol", "list offsets: " + response.error().to_string());
    std::size_t place = 0;
    for (const auto& topic : response->topics) {
      for (const auto& partition : topic.partitions) {
        if (place >= asked.size() || asked[place].target.partition != partition.partition_index) {
          return log().violation("protocol", "offsets answered in another order");
        }
        offset_record& record = asked[place++];
        record.code = partition.error_code;
        record.offset = partition.offset.value();
        record.answered_timestamp = partition.timestamp;
        log().add(record);
      }
    }
    if (place != asked.size()) log().violation("protocol", "not all offsets were answered");
  }
};

}  // namespace

std::unique_ptr<client> make_offset_lister(workload_context& context, rng chance) {
  return std::make_unique<offset_lister>(context, chance);
}

}  // namespace braidmq::sim
