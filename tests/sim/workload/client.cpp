#include "workload/client.hpp"

#include <algorithm>

#include "base/endian.hpp"

namespace braidmq::sim {

void topic_directory::learn(const std::string& name, const model::topic_id& id, std::int32_t partitions) {
  if (id.is_zero() || partitions <= 0) return;
  const auto known = std::ranges::find(topics, name, &known_topic::name);
  if (known == topics.end())
    topics.push_back({name, id, partitions});
  else if (known->churns())
    *known = {name, id, known->id == id ? std::max(partitions, known->partitions) : partitions};
}

void topic_directory::forget(const model::topic_id& id) {
  std::erase_if(topics, [&](const known_topic& one) { return one.id == id; });
}

client::client(workload_context& context, std::string name, rng chance)
    : context_(context), name_(fmt::format("{}-{}", name, ++context.clients_made)), chance_(chance) {}

client::~client() {
  context_.executor.cancel(turn_timer_);
  if (link_) link_->client_close();
}

void client::start() {
  turn_after(io::duration::zero());
}

std::string client::describe() const {
  std::string text =
      fmt::format("{}: {}, {} requests unanswered", name_, link_ ? "connected" : "not connected", pending_.size());
  for (const pending& one : pending_) text += fmt::format(" [api {} v{}]", one.api, one.version);
  return text;
}

void client::turn_after(io::duration delay) {
  context_.executor.cancel(turn_timer_);
  turn_timer_ = context_.executor.schedule(delay, [this] { turn(); });
}

void client::turn() {
  if (link_ && (moves_ || has_waited_enough())) disconnect();
  if (!link_) try_connect();
  if (link_) on_turn();
  const auto longest = static_cast<std::uint64_t>(context_.drawn.longest_thinking.count());
  turn_after(link_ ? io::duration(chance_.below(longest + 1)) : std::chrono::milliseconds(1 + chance_.below(50)));
}

// As clients do whose broker is there and does not answer; or that look for themselves who leads.
bool client::has_waited_enough() {
  if (log().brokers() == 1 || finishing_) return false;
  if (pending_.empty()) return chance_.chance(0.02);
  if (context_.world.now() - pending_.front().asked <= context_.drawn.client_patience) return false;
  gave_up_on_ = machine_;
  return true;
}

void client::try_connect() {
  // What was heard last of the leader may be old, or wrong.
  std::optional<std::size_t> wanted = chance_.chance(0.8) ? log().leader() : std::nullopt;
  if (wanted && wanted == gave_up_on_) wanted.reset();
  gave_up_on_.reset();
  client_connection made = context_.cluster.connect(context_.executor, wanted, chance_);
  link_ = std::move(made.way);
  if (!link_) return;
  moves_ = false;
  machine_ = made.machine;
  log().note_connection(link_->id(), made.machine, made.life);
  received_.clear();
  link_->on_data = [this](byte_view piece) { on_data(piece); };
  link_->on_end = [this] { on_end(); };
}

void client::disconnect() {
  if (!link_) return;
  link_->client_close();
  on_end();
}

bool client::take_operation() {
  if (finishing_ || context_.operations_left == 0) return false;
  --context_.operations_left;
  ++context_.operations_done;
  return true;
}

const known_topic* client::any_topic() {
  const auto& topics = context_.topics.topics;
  return topics.empty() ? nullptr : &topics[chance_.below(topics.size())];
}

const known_topic* client::any_lasting_topic() {
  std::vector<const known_topic*> lasting;
  for (const known_topic& one : context_.topics.topics) {
    if (!one.churns()) lasting.push_back(&one);
  }
  return lasting.empty() ? nullptr : lasting[chance_.below(lasting.size())];
}

void client::send_frame(std::int16_t api, std::int16_t version, std::int32_t correlation, bytes frame,
                        body_callback done) {
  BRAID_CHECK(link_ != nullptr);
  pending_.push_back({api, version, correlation, context_.world.now(), std::move(done)});
  link_->client_write(frame);
}

void client::on_data(byte_view piece) {
  received_.insert(received_.end(), piece.begin(), piece.end());
  const auto of = link_;
  std::size_t taken = 0;
  while (link_ == of && received_.size() - taken >= 4) {
    const auto size = static_cast<std::size_t>(load_be<std::uint32_t>(received_.data() + taken));
    if (received_.size() - taken - 4 < size) break;
    bytes frame = bytes::copy_of(byte_view(received_).subspan(taken + 4, size));
    taken += 4 + size;
    on_frame(std::move(frame));
  }
  if (link_ == of) received_.erase(received_.begin(), received_.begin() + static_cast<std::ptrdiff_t>(taken));
}

void client::on_frame(bytes frame) {
  if (pending_.empty()) {
    log().violation("order", name_ + " got an answer that it did not ask for");
    return;
  }
  pending one = std::move(pending_.front());
  pending_.pop_front();
  const auto* api = protocol::find_api(one.api);
  auto answer = protocol::decode_response_frame(std::move(frame), *api, one.version);
  if (!answer) {
    log().violation("protocol", fmt::format("{}: answer of {} v{} cannot be read: {}", name_, api->name, one.version,
                                            answer.error().to_string()));
    return;
  }
  if (answer->correlation_id != one.correlation) {
    log().violation("order",
                    fmt::format("{}: answer {} came where {} was due", name_, answer->correlation_id, one.correlation));
    return;
  }
  const std::uint64_t before = log().refusals_for_leader();
  one.done(answer->body);
  if (log().refusals_for_leader() != before) moves_ = true;
}

void client::on_end() {
  link_.reset();
  received_.clear();
  for (pending& one : std::exchange(pending_, {})) one.done(fail(io::errc::closed, "the connection ended"));
  on_disconnected();
}

}  // namespace braidmq::sim
