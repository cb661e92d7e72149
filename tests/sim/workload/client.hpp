// A client of the simulation: one connection at a time, requests of the real protocol with answers in order, and turns,
// at which it decides what to do next. Operations (one file each) are clients of their own kind.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "history.hpp"
#include "protocol/message.hpp"
#include "support/sim_random.hpp"
#include "world/cluster.hpp"

namespace braidmq::sim {

// The topics that clients know, in the order in which they learned of them.
struct known_topic {
  std::string name;
  model::topic_id id;
  std::int32_t partitions = 0;
  bool churns() const { return sim::churns(name); }  // to be named by id only: its name may mean another topic by now
};

struct topic_directory {
  std::vector<known_topic> topics;  // acknowledged or seen in Metadata, with their ids
  std::vector<std::string> names;   // everything that anybody has asked to be made

  // Of a churning topic: the latest that anybody heard, its id included.
  void learn(const std::string& name, const model::topic_id& id, std::int32_t partitions);
  void forget(const model::topic_id& id);
};

// What all clients of a run share.
struct workload_context {
  scheduler& world;
  cluster_host& cluster;
  sim_executor& executor;  // of the clients
  history& log;
  topic_directory& topics;
  const conditions& drawn;
  std::uint64_t operations_left = 0;
  std::uint64_t operations_done = 0;
  std::uint64_t clients_made = 0;
  std::uint64_t requests_made = 0;
  bool verbose = false;
};

class client {
 public:
  client(workload_context& context, std::string name, rng chance);
  virtual ~client();
  client(const client&) = delete;
  client& operator=(const client&) = delete;

  void start();
  // No new operations; what is under way is brought to its end.
  void finish() { finishing_ = true; }
  virtual bool idle() const { return pending_.empty(); }
  virtual std::string describe() const;

 protected:
  // One decision; called again after a while. Connected, and not more than it wants is under way.
  virtual void on_turn() = 0;
  // The connection ended; unanswered requests have been told (their callback got an error).
  virtual void on_disconnected() {}

  using body_callback = std::function<void(result<bytes>)>;
  // Sends a request. `done` gets the body of the answer, or an error when there will be none.
  template <class Request>
  void send(const Request& request, std::int16_t version, body_callback done) {
    byte_buffer frame;
    const std::int32_t correlation = ++last_correlation_;
    const status encoded = protocol::encode_request_frame(frame, request, version, correlation, name_);
    BRAID_CHECK(encoded.has_value(), "{}", encoded.error().to_string());
    send_frame(Request::api_key, version, correlation, frame.freeze(), std::move(done));
  }
  // The same when no answer will come (acks=0).
  template <class Request>
  void send_unanswered(const Request& request, std::int16_t version) {
    byte_buffer frame;
    const status encoded = protocol::encode_request_frame(frame, request, version, ++last_correlation_, name_);
    BRAID_CHECK(encoded.has_value(), "{}", encoded.error().to_string());
    link_->client_write(frame.view());
  }

  // Takes one operation of the run's budget; false when there is none left, or this client is to come to its end.
  bool take_operation();
  bool finishing() const { return finishing_; }
  std::size_t in_flight() const { return pending_.size(); }
  bool connected() const { return link_ != nullptr; }
  std::uint64_t connection_id() const { return link_ ? link_->id() : 0; }
  void disconnect();
  void turn_after(io::duration delay);

  rng& chance() { return chance_; }
  workload_context& context() { return context_; }
  history& log() { return context_.log; }
  const history& log() const { return context_.log; }
  // At the next turn, to whoever leads by what was heard last.
  void go_elsewhere() { moves_ = true; }
  const known_topic* any_topic();
  const known_topic* any_lasting_topic();  // one that does not churn
  std::int16_t any_version(std::int16_t lowest, std::int16_t highest) {
    return static_cast<std::int16_t>(chance_.between(lowest, highest));
  }

 private:
  struct pending {
    std::int16_t api;
    std::int16_t version;
    std::int32_t correlation;
    io::time_point asked;
    body_callback done;
  };

  void turn();
  bool has_waited_enough();
  void try_connect();
  void on_data(byte_view piece);
  void on_frame(bytes frame);
  void on_end();
  void send_frame(std::int16_t api, std::int16_t version, std::int32_t correlation, bytes frame, body_callback done);

  workload_context& context_;
  std::string name_;
  rng chance_;
  std::shared_ptr<link> link_;
  std::deque<pending> pending_;
  std::vector<std::byte> received_;
  std::int32_t last_correlation_ = 0;
  bool finishing_ = false;
  std::size_t machine_ = 0;                // the connection's
  std::optional<std::size_t> gave_up_on_;  // it did not answer
  bool moves_ = false;                     // to another broker: this one does not lead
  io::timer_id turn_timer_{0};
};

// The kinds of clients.
std::unique_ptr<client> make_idempotent_producer(workload_context& context, rng chance);
std::unique_ptr<client> make_plain_producer(workload_context& context, rng chance);
std::unique_ptr<client> make_atomic_producer(workload_context& context, rng chance, bool idempotent);
std::unique_ptr<client> make_fetcher(workload_context& context, rng chance);
std::unique_ptr<client> make_session_fetcher(workload_context& context, rng chance);
std::unique_ptr<client> make_offset_lister(workload_context& context, rng chance);
std::unique_ptr<client> make_topic_creator(workload_context& context, rng chance);
std::unique_ptr<client> make_topic_churner(workload_context& context, rng chance);
std::unique_ptr<client> make_metadata_reader(workload_context& context, rng chance);

}  // namespace braidmq::sim
