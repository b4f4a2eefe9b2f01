// Checks of a parsed request for tests.
#pragma once

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "llm/request.h"

namespace sallyport::llm::test {

inline void collect_strings(const json::value& value, const std::string& path,
                            std::multiset<std::string>& out) {
  if (value.is_string()) out.insert(path);
  if (value.is_array()) {
    std::size_t index = 0;
    for (const json::value& one : value.get_array()) {
      collect_strings(one, pointer_to(path, index++), out);
    }
  }
  if (value.is_object()) {
    for (const auto& [name, one] : value.get_object()) {
      collect_strings(one, pointer_to(path, std::string_view(name)), out);
    }
  }
}

// Each string of the body occurs once, as a leaf or as unread.
inline void expect_all_strings(const Request& request, const json::value& body) {
  std::multiset<std::string> expected;
  collect_strings(body, "", expected);
  std::multiset<std::string> read;
  for (const Leaf& leaf : request.leaves) {
    read.insert(leaf.path);
    EXPECT_EQ(std::string_view(body.at_pointer(leaf.path).as_string()), leaf.text);
  }
  for (const Unread& unread : request.unread) read.insert(unread.path);
  EXPECT_EQ(read, expected);
}

inline std::vector<std::string> paths_of(const Request& request, Leaf::Kind kind) {
  std::vector<std::string> paths;
  for (const Leaf& leaf : request.leaves) {
    if (leaf.kind == kind) paths.push_back(leaf.path);
  }
  return paths;
}

inline std::vector<std::string> unread_of(const Request& request) {
  std::vector<std::string> all;
  for (const Unread& unread : request.unread) all.push_back(unread.path + " " + unread.kind);
  return all;
}

}  // namespace sallyport::llm::test
