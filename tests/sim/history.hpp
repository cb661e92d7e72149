// What the clients saw: every operation with its beginning, its end and its outcome. Written by the workload, read by
// the checkers, which know nothing else of the run.
//
// Moments are numbers that rise with every note taken; they order operations of different clients in real time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/bytes.hpp"
#include "model/ids.hpp"
#include "protocol/errors.hpp"
#include "raft/types.hpp"

namespace braidmq::sim {

using moment = std::uint64_t;
using model::topic_partition_id;

// Every record of the run is unique: the batch that it was made for, and its place there.
using batch_number = std::uint32_t;
struct record_name {
  batch_number batch = 0;
  std::uint32_t place = 0;
  friend auto operator<=>(const record_name&, const record_name&) = default;
};

// One try to have a batch written.
struct attempt {
  batch_number batch = 0;
  std::uint64_t connection = 0;
  std::uint64_t request = 0;  // batches of one request share it
  std::size_t slices = 1;     // how many batches the request had
  bool atomic = false;        // it asked for all of them or none
  moment asked = 0;
  std::int64_t asked_wall_ms = 0;
  moment answered = 0;                   // 0: never
  std::int64_t answered_by_wall_ms = 0;  // the latest that the broker's wall clock had shown
  protocol::error_code code = protocol::error_code::none;
  std::int64_t base = -1;
  bool predecessors_acknowledged = true;  // idempotent: all earlier batches of the producer, when it was asked
};

struct sent_batch {
  topic_partition_id target;
  std::uint32_t records = 0;
  std::int64_t producer_id = -1;
  std::int32_t sequence = -1;
  std::uint64_t client = 0;
  std::vector<attempt> attempts;

  // The first acknowledgement, if any.
  const attempt* acknowledged() const;
  // No attempt can have been written: each was refused with an error that says so.
  bool surely_refused() const;
};

// A batch as a reader saw it. Equal bytes share one.
struct seen_record {
  record_name name;
  std::int64_t timestamp_ms = -1;
};
struct seen_batch {
  std::uint64_t hash = 0;  // of all its bytes
  std::size_t size_bytes = 0;
  std::int64_t base = 0;
  std::int32_t epoch = -1;
  std::int64_t producer_id = -1;
  std::int32_t sequence = -1;
  std::vector<seen_record> records;
  std::int64_t end() const { return base + static_cast<std::int64_t>(records.size()); }
};
using seen_batch_ptr = std::shared_ptr<const seen_batch>;

struct fetched_partition {
  topic_partition_id target;
  std::int64_t from = 0;
  std::int64_t floor = 0;         // what must be visible: known before the fetch was asked
  std::int64_t server_floor = 0;  // of that, what the broker that is asked has shown in this life
  std::int64_t start_floor = 0;   // likewise, below which nothing may be shown any more
  protocol::error_code code = protocol::error_code::none;
  std::int64_t visible_end = -1;
  std::int64_t log_start = -1;
  std::vector<seen_batch_ptr> batches;
};

struct fetch_record {
  std::uint64_t connection = 0;
  bool asked_of_leader = true;  // of the braid; others may be behind
  moment asked = 0;
  moment answered = 0;
  std::vector<fetched_partition> partitions;
};

struct offset_record {
  std::uint64_t connection = 0;
  topic_partition_id target;
  std::int64_t timestamp = 0;  // as in the protocol: -1 latest, -2 earliest, -3 largest timestamp, else a time
  std::int64_t floor = 0;
  std::int64_t start_floor = 0;
  protocol::error_code code = protocol::error_code::none;
  std::int64_t offset = -1;
  std::int64_t answered_timestamp = -1;
};

struct topic_record {
  std::string name;
  model::topic_id id;
  std::int32_t partitions = 0;
};

// One life of a name: topics whose names begin with "churn" are deleted and made again, with another id each time.
struct churned_topic {
  std::string name;
  model::topic_id id;
  moment made = 0;              // acknowledged, or seen
  std::int32_t partitions = 0;  // acknowledged, or seen
  moment delete_asked = 0;      // 0: never; a deletion by name that nobody answered may still strike
  moment delete_acknowledged = 0;
};
bool churns(std::string_view name);

// A churning topic in a Metadata response, or its absence from a list of all topics.
struct churn_sighting {
  model::topic_id id;
  std::int32_t partitions = 0;  // 0: not in the list
  std::int32_t least = 0;       // acknowledged before the question
  std::int32_t most = 0;        // asked for by anybody before the answer
  moment asked = 0;
  moment answered = 0;
};

// A topic's answer in a Metadata response.
struct metadata_record {
  std::string name;
  protocol::error_code code = protocol::error_code::none;
  model::topic_id id;
  std::int32_t partitions = 0;
  bool was_known = false;  // acknowledged before the question, and the broker said that it was ready then
};

// In which term of the braid a broker is; what lies between them when only bounds are known.
struct known_term {
  raft::term lowest;
  raft::term highest;
};

class history {
 public:
  moment next_moment() { return ++now_; }

  // With several brokers not everything that one has shown is known to all at once.
  void set_brokers(std::size_t count) { brokers_ = count; }
  std::size_t brokers() const { return brokers_; }
  void note_connection(std::uint64_t connection, std::size_t broker, std::uint64_t life);
  // A broker has said that another leads. Clients go on there.
  void note_leader(std::int32_t broker, std::int32_t epoch);
  std::optional<std::size_t> leader() const { return leader_; }
  std::uint64_t refusals_for_leader() const { return refusals_for_leader_; }
  bool leads(std::uint64_t connection) const { return brokers_ == 1 || term_at(connection).lowest > raft::term(0); }
  std::int64_t known_end_at(std::uint64_t connection, const topic_partition_id& target) const;
  std::int64_t known_start_at(std::uint64_t connection, const topic_partition_id& target) const;

  // What the brokers' wall clocks show, the lowest and the highest, after each task.
  void see_wall(std::int64_t lowest_ms, std::int64_t highest_ms);
  // Who says in which term of the braid a life of a broker is; with several brokers.
  using term_source = std::function<known_term(std::size_t broker, std::uint64_t life)>;
  void set_terms(term_source terms) { terms_ = std::move(terms); }
  std::int64_t wall_ms() const { return wall_ms_; }
  std::int64_t latest_wall_ms() const { return latest_wall_ms_; }
  // No entry that has the batch has an earlier time, and no try of it was judged when the clock had shown a later one.
  std::int64_t written_from_ms(const sent_batch& batch) const;
  std::int64_t tried_until_ms(const sent_batch& batch) const;

  batch_number add_batch(sent_batch batch);
  sent_batch& batch(batch_number number) { return batches_[number]; }
  const std::vector<sent_batch>& batches() const { return batches_; }
  std::uint64_t acknowledgements() const { return acknowledgements_; }  // of batches, each try counted
  void acknowledge(batch_number number, std::size_t attempt_index, protocol::error_code code, std::int64_t base);

  void add(fetch_record fetch);
  void add(const offset_record& answer);
  void add(metadata_record answer) { metadata_.push_back(std::move(answer)); }
  void acknowledge_topic(const topic_record& topic);

  // The lives of churning topics.
  void note_churned(const topic_record& topic);  // acknowledged, or seen: it is in the log
  void ask_partitions(const std::string& name, std::int32_t partitions);
  void ask_deletion(const model::topic_id& id);
  void ask_deletion(const std::string& name);  // whatever has the name now, or later if nobody answers
  void answer_deletion(const std::string& name);
  void acknowledge_deletion(const model::topic_id& id);
  const churned_topic* churned(const model::topic_id& id) const;
  const std::map<model::topic_id, churned_topic>& all_churned() const { return churned_; }
  std::int32_t most_partitions(const std::string& name) const;
  void add(const churn_sighting& seen) { sightings_.push_back(seen); }
  const std::vector<churn_sighting>& sightings() const { return sightings_; }
  // Whether the topic may be gone by now because somebody asked for that.
  bool may_be_deleted(const model::topic_id& id) const;
  void note_producer_id(std::int64_t id);

  const std::vector<fetch_record>& fetches() const { return fetches_; }
  const std::vector<offset_record>& offset_answers() const { return offset_answers_; }
  const std::vector<metadata_record>& metadata_answers() const { return metadata_; }
  const std::map<std::string, topic_record>& topics() const { return topics_; }

  // An end of the partition that somebody has been told: nothing later may be below it.
  std::int64_t known_end(const topic_partition_id& target) const;
  // Likewise a start.
  std::int64_t known_start(const topic_partition_id& target) const;

  // Parses and shares. None, and a violation noted, when the bytes are no valid batches.
  std::optional<std::vector<seen_batch_ptr>> read_batches(const bytes& block);

  // What a client saw that no order of events excuses: noticed on the spot.
  void violation(std::string checker, std::string what) {
    violations_.emplace_back(std::move(checker), std::move(what));
  }
  const std::vector<std::pair<std::string, std::string>>& violations() const { return violations_; }

 private:
  using broker_life = std::pair<std::size_t, std::uint64_t>;
  struct known_bounds {
    std::map<topic_partition_id, std::int64_t> ends;
    std::map<topic_partition_id, std::int64_t> starts;
  };

  broker_life server_of(std::uint64_t connection) const;
  known_term term_at(std::uint64_t connection) const;
  void raise_end(std::uint64_t connection, const topic_partition_id& target, std::int64_t end);
  void raise_start(std::uint64_t connection, const topic_partition_id& target, std::int64_t start);
  void see_code(protocol::error_code code);

  moment now_ = 0;
  std::int64_t wall_ms_ = 0;
  std::int64_t latest_wall_ms_ = 0;
  std::vector<std::pair<moment, std::int64_t>> wall_falls_;  // and to what
  std::uint64_t acknowledgements_ = 0;
  std::vector<sent_batch> batches_;
  std::vector<fetch_record> fetches_;
  std::vector<offset_record> offset_answers_;
  std::vector<metadata_record> metadata_;
  std::map<std::string, topic_record> topics_;
  std::map<model::topic_id, churned_topic> churned_;
  std::map<std::string, std::int32_t> partitions_asked_;
  std::map<std::string, int> open_deletions_;  // by name, not answered
  std::vector<churn_sighting> sightings_;
  std::set<std::int64_t> producer_ids_;
  known_bounds known_;  // by anybody
  std::size_t brokers_ = 1;
  std::map<std::uint64_t, broker_life> servers_;  // by connection
  std::map<broker_life, known_bounds> shown_;     // with several brokers
  // Likewise, the ends that brokers have told in a term, or acknowledged: whoever serves in a later one has them.
  std::map<topic_partition_id, std::map<raft::term, std::int64_t>> ends_by_term_;
  term_source terms_;
  std::map<std::int32_t, std::int32_t> leaders_;  // by epoch, as Metadata said
  std::optional<std::size_t> leader_;
  std::uint64_t refusals_for_leader_ = 0;
  std::unordered_map<std::uint64_t, seen_batch_ptr> seen_;
  std::vector<std::pair<std::string, std::string>> violations_;
};

// "3f-2" padded: how a record's value begins. The rest is filling.
std::string make_value(const record_name& name, std::size_t size_bytes);
std::optional<record_name> parse_value(byte_view value);

// Nothing was written and nothing will be: the codes of refusals that are decided before or at apply.
bool says_not_written(protocol::error_code code);

}  // namespace braidmq::sim
