#include "core/record/plain_text.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace sallyport::core {
namespace {

TEST(PlainTextTest, WhatATerminalObeysIsLeftOut) {
  const std::pair<std::string, std::string> kCases[] = {
      {"plain", "plain"},       {"a\nb\tc", "a\nb\tc"},
      {"a\x1b[31mb", "a[31mb"}, {"\x01\x1f\x20", " "},
      {"\x7f~", "~"},           {"a\xc2\x80z", "az"},
      {"a\xc2\x9fz", "az"},     {"a\xc2\xa0z", "a\xc2\xa0z"},
      {"\xc3\x80", "\xc3\x80"}, {"", ""},
  };
  for (const auto& [text, plain] : kCases) EXPECT_EQ(plain_text(NoRedactor(), text), plain);
}

}  // namespace
}  // namespace sallyport::core
