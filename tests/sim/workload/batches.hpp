// Record batches of the workload, each record of which is unique.
#pragma once

#include "history.hpp"
#include "model/batch_builder.hpp"
#include "support/sim_random.hpp"

namespace braidmq::sim {

// What a batch holds is drawn from its number, so that a repetition has the same bytes.
struct batch_plan {
  batch_number number = 0;
  std::uint32_t records = 1;
  std::size_t largest_value_bytes = 20;
  std::int64_t timestamp_ms = 0;
  model::compression codec = model::compression::none;
  std::int64_t producer_id = -1;
  std::int16_t producer_epoch = -1;
  std::int32_t sequence = -1;
};

inline bytes build_batch(const batch_plan& plan) {
  model::batch_options options;
  options.codec = plan.codec;
  options.producer_id = model::producer_id(plan.producer_id);
  options.producer_epoch = model::producer_epoch(plan.producer_epoch);
  options.base_sequence = model::sequence(plan.sequence);
  model::batch_builder builder(options);
  rng chance(plan.number);
  for (std::uint32_t i = 0; i < plan.records; ++i) {
    const std::string value = make_value({plan.number, i}, chance.below(plan.largest_value_bytes + 1));
    // Times of neighbours overlap and repeat.
    builder.add("k", value, plan.timestamp_ms + chance.between(-20, 20));
  }
  auto built = builder.build();
  BRAID_CHECK(built.has_value(), "{}", built.error().to_string());
  return std::move(*built);
}

inline model::compression draw_codec(rng& chance) {
  return chance.chance(0.7) ? model::compression::none : static_cast<model::compression>(chance.below(5));
}

}  // namespace braidmq::sim
