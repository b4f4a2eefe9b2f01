#include "proxy/provider_ids.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace sallyport::proxy {
namespace {

using Ids = std::vector<ProviderId>;

// MP-25
TEST(ProviderIds, APathNamesItsCollectionAndAnId) {
  EXPECT_EQ(id_in_path("/v1/files"), (ProviderId{"file", ""}));
  EXPECT_EQ(id_in_path("/v1/files/file-1"), (ProviderId{"file", "file-1"}));
  EXPECT_EQ(id_in_path("/v1/files/file-1/content"), (ProviderId{"file", "file-1"}));
  EXPECT_EQ(id_in_path("/v1/messages/batches/b/results"), (ProviderId{"batch", "b"}));
  EXPECT_EQ(id_in_path("/v1/images/generations"), ProviderId{});
  EXPECT_EQ(id_in_path("/v1/filesystem/x"), ProviderId{});
}

// MP-25
TEST(ProviderIds, ABodyNamesIdsAtAnyDepth) {
  const json::value body = json::parse(
      R"({"input_file_id":"f1","a":[{"file_ids":["f2","f3"]}],"conversation":{"id":"c1"},
          "vector_store_ids":["v1"],"container_id":"k1","batch":"no","file_name":"no"})");
  EXPECT_EQ(ids_in_body(body), (Ids{{"file", "f1"},
                                    {"file", "f2"},
                                    {"file", "f3"},
                                    {"conversation", "c1"},
                                    {"vector_store", "v1"},
                                    {"container", "k1"}}));
}

// MP-25
TEST(ProviderIds, AnAnswerGivesItsOwnIdAndThoseOfItsFiles) {
  const json::value batch =
      json::parse(R"({"id":"b1","output_file_id":"f1","error_file_id":null})");
  EXPECT_EQ(ids_in_answer("batch", batch), (Ids{{"batch", "b1"}, {"file", "f1"}}));
  const json::value upload = json::parse(R"({"id":"u1","file":{"id":"f2"}})");
  EXPECT_EQ(ids_in_answer("upload", upload), (Ids{{"upload", "u1"}, {"file", "f2"}}));
  EXPECT_EQ(ids_in_answer("", json::parse(R"({"id":"x"})")), Ids{});
}

// MP-25
TEST(ProviderIds, APathEndsAtAnObjectOrLeadsToAPartOfIt) {
  EXPECT_TRUE(ends_at_id("/v1/files/file-1"));
  EXPECT_TRUE(ends_at_id("/v1/files/file-1/"));
  EXPECT_FALSE(ends_at_id("/v1/files"));
  EXPECT_FALSE(ends_at_id("/v1/files/"));
  EXPECT_FALSE(ends_at_id("/v1/vector_stores/vs_1/files/vs_1"));
  EXPECT_FALSE(ends_at_id("/v1/conversations/c/items/i"));
  EXPECT_FALSE(ends_at_id("/v1/images/x"));
}

}  // namespace
}  // namespace sallyport::proxy
