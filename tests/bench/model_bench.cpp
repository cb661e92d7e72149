// What validation of a produced batch costs, by codec: 100 records of 1 KiB of text that compresses about as JSON does.
#include <benchmark/benchmark.h>

#include "model/batch_builder.hpp"
#include "model/batch_validator.hpp"

namespace braidmq::model {
namespace {

bytes batch_of(compression codec) {
  batch_options options;
  options.codec = codec;
  batch_builder builder(options);
  std::string value;
  for (int i = 0; i < 100; ++i) {
    value.clear();
    while (value.size() < 1024)
      value += fmt::format(R"({{"order":{},"line":{},"sku":"{:08x}"}},)", i, value.size(), i * 2654435761U);
    builder.add(std::to_string(i), value, 1000 + i);
  }
  return *builder.build();
}

void validate(benchmark::State& state) {
  const auto codec = static_cast<compression>(state.range(0));
  const bytes batch = batch_of(codec);
  validation_limits limits;
  limits.now_ms = 1000;
  std::size_t decoded = 0;
  for (auto _ : state) {
    const auto checked = validate_produce_records(batch, limits);
    if (!checked) return state.SkipWithError(checked.error().to_string().c_str());
    decoded = checked->decoded_bytes;
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * decoded));
  state.SetLabel(fmt::format("codec {}, {} bytes on the wire", state.range(0), batch.size()));
}
BENCHMARK(validate)->DenseRange(0, 4);

void crc_only(benchmark::State& state) {
  const bytes batch = batch_of(compression::none);
  for (auto _ : state) benchmark::DoNotOptimize(batch_crc_matches(batch));
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * batch.size()));
}
BENCHMARK(crc_only);

}  // namespace
}  // namespace braidmq::model
