#include "storage/format.hpp"

#include <gtest/gtest.h>

namespace braidmq::storage {
namespace {

TEST(SegmentFileName, ThereAndBack) {
  EXPECT_EQ(segment_file(model::offset(0), file_kind::log), "00000000000000000000.log");
  EXPECT_EQ(segment_file(model::offset(838860), file_kind::offset_index), "00000000000000838860.index");
  EXPECT_EQ(segment_file(model::offset(9223372036854775807), file_kind::time_index), "09223372036854775807.timeindex");
  for (const std::int64_t base : {std::int64_t{0}, std::int64_t{42}, std::int64_t{9223372036854775807}}) {
    for (const file_kind kind : {file_kind::log, file_kind::offset_index, file_kind::time_index}) {
      EXPECT_EQ(parse_segment_file(segment_file(model::offset(base), kind)),
                (segment_file_name{model::offset(base), kind}));
    }
  }
}

TEST(SegmentFileName, OthersAreNotOurs) {
  for (const char* name :
       {"", ".log", "0.log", "0000000000000000000.log", "000000000000000000000.log", "00000000000000000000.LOG",
        "00000000000000000000.log.tmp", "00000000000000000000", "0000000000000000000x.log", "-0000000000000000001.log",
        "+0000000000000000001.log", " 0000000000000000001.log", "99999999999999999999.log",
        "00000000000000000000.txnindex", "0x000000000000000000.log", "00000000000000000000.indexes"}) {
    EXPECT_EQ(parse_segment_file(name), std::nullopt) << name;
  }
}

}  // namespace
}  // namespace braidmq::storage
