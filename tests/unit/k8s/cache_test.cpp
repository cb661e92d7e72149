// Rows by their key and by their index, whatever happens to them.
#include "k8s/cache.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace braidmq::k8s::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct colored : row_header {
  std::string shape;
  std::string color;

  std::tuple<std::string_view, std::string_view> index_key() const { return {shape, color}; }
};

class cache_test : public ::testing::Test {
 protected:
  static std::shared_ptr<const colored> row(const std::string& name, const std::string& shape,
                                            const std::string& color) {
    auto made = std::make_shared<colored>();
    made->key = {"n", name};
    made->shape = shape;
    made->color = color;
    return made;
  }
  void put(const std::string& name, const std::string& shape, const std::string& color) {
    rows.put({"n", name}, row(name, shape, color));
  }
  template <class... Parts>
  std::vector<std::string> names(const Parts&... parts) const {
    std::vector<std::string> all;
    for (const auto& one : rows.find_by(parts...)) all.push_back(one->key.name);
    return all;
  }

  cache<colored> rows;
};

TEST_F(cache_test, finds_by_the_whole_index_and_by_its_first_part) {
  put("c", "ball", "red");
  put("a", "ball", "red");
  put("b", "ball", "blue");
  put("d", "box", "red");
  put("e", "ballx", "red");
  EXPECT_THAT(names("ball", "red"), ElementsAre("a", "c"));
  EXPECT_THAT(names(std::string("ball")), ElementsAre("b", "a", "c"));
  EXPECT_THAT(names("bal"), IsEmpty());
  EXPECT_THAT(names("ball", "green"), IsEmpty());
}

TEST_F(cache_test, a_row_that_changes_is_found_where_it_is_now) {
  put("a", "ball", "red");
  put("a", "box", "red");
  EXPECT_THAT(names("ball"), IsEmpty());
  EXPECT_THAT(names("box", "red"), ElementsAre("a"));
  put("a", "box", "red");
  EXPECT_THAT(names("box"), ElementsAre("a"));
  rows.erase({"n", "a"});
  rows.erase({"n", "a"});
  EXPECT_THAT(names("box"), IsEmpty());
}

TEST_F(cache_test, a_list_replaces_the_index_too) {
  put("a", "ball", "red");
  put("b", "ball", "red");
  const auto before = rows.replace({{{"n", "b"}, row("b", "box", "red")}, {{"n", "c"}, row("c", "ball", "red")}});
  EXPECT_EQ(before.size(), 2U);
  EXPECT_THAT(names("ball"), ElementsAre("c"));
  EXPECT_THAT(names("box"), ElementsAre("b"));
}

}  // namespace
}  // namespace braidmq::k8s::testing
