#include "admin/router.hpp"

#include <gtest/gtest.h>

#include "admin/secret_file.hpp"

namespace braidmq::admin {
namespace {

TEST(percent_decoded, reads_what_is_well_formed) {
  EXPECT_EQ(percent_decoded("a%20b%2f%C3%BC+"), "a b/\xC3\xBC+");
  for (const char* text : {"%", "%2", "%zz", "a%", "%+1", "%-1"}) EXPECT_FALSE(percent_decoded(text)) << text;
}

TEST(router, finds_by_method_and_path) {
  router routes;
  const auto nothing = [](const http_request&) { return http_response(); };
  routes.add({{"GET", "/a", nothing}, {"GET", "/a/{name}", nothing}, {"PUT", "/a/{name}", nothing}});
  EXPECT_EQ(routes.find("GET", "/a").to->pattern, "/a");
  EXPECT_EQ(routes.find("HEAD", "/a").to->pattern, "/a");
  EXPECT_EQ(routes.find("PUT", "/a/x%20y").name, "x y");
  EXPECT_EQ(routes.find("PUT", "/a/x%20y").to->method, "PUT");
  EXPECT_EQ(routes.find("GET", "/a/").refusal.status, 404);
  EXPECT_EQ(routes.find("GET", "/a/b/c").refusal.status, 404);
  EXPECT_EQ(routes.find("GET", "").refusal.status, 404);
  const auto wrong = routes.find("POST", "/a/b");
  EXPECT_EQ(wrong.to, nullptr);
  EXPECT_EQ(wrong.refusal.status, 405);
  EXPECT_EQ(wrong.refusal.headers.at("Allow"), "GET, PUT");
}

}  // namespace
}  // namespace braidmq::admin
