#include "net/url.h"

#include <gtest/gtest.h>

namespace sallyport::net {
namespace {

TEST(UrlTest, PartsAreFound) {
  EXPECT_EQ(*Url::parse("https://Example.com"), (Url{true, "example.com", "443", "/"}));
  EXPECT_EQ(*Url::parse("http://[::1]:80/a?b#c"), (Url{false, "::1", "80", "/a?b"}));
  EXPECT_EQ(*Url::parse("HTTP://h:8080?q"), (Url{false, "h", "8080", "/?q"}));
  EXPECT_EQ(Url::parse("https://[::1]:9/a?token=x")->text(), "https://[::1]:9/a");
}

TEST(UrlTest, WhatIsNoneIsRefused) {
  for (const char* const text :
       {"", "host", "ftp://h/", "https://", "https://u:p@h/", "https://h:0/", "https://h:70000/",
        "https://h:x/", "https://h/a b", "https://h/\r\nX: y", "https://[h]/", "https://[::1/",
        "https://[::1]x/", "https://h%00/", "https:///path"}) {
    EXPECT_FALSE(Url::parse(text)) << text;
  }
}

// The resolver once ended an IPv6 address at a zero, and the `Host` header did not: a server could
// write its own lines into requests to other servers.
TEST(UrlTest, NothingIsHiddenInAnAddress) {
  using namespace std::string_literals;
  for (const std::string& text :
       {"http://[::1\0\r\nX: y]/"s, "http://[::1%\r\nX: y]/"s, "http://[fe80::1%\x1b[2J]/"s,
        "https://h/a#\x1b[2J"s, "https://h/a#\xc2\x9b"s, "https://h/\0"s}) {
    EXPECT_FALSE(Url::parse(text)) << text;
  }
}

TEST(UrlTest, OnlyThisMachineIsLoopback) {
  for (const char* const text : {"http://localhost", "http://127.1.2.3", "http://[::1]"}) {
    EXPECT_TRUE(Url::parse(text)->is_loopback()) << text;
  }
  for (const char* const text :
       {"http://127.0.0.1.example.com", "http://10.0.0.1", "http://localhost.example.com"}) {
    EXPECT_FALSE(Url::parse(text)->is_loopback()) << text;
  }
}

TEST(UrlTest, ARedirectStaysAtItsServer) {
  const Url url = *Url::parse("https://h/a");
  EXPECT_EQ(url.followed("/b")->target, "/b");
  EXPECT_EQ(url.followed("https://h:443/c")->target, "/c");
  for (const char* const text : {"https://other/", "http://h/", "https://h:444/", "//other/", "",
                                 "/a\r\nX: y", "relative"}) {
    EXPECT_FALSE(url.followed(text)) << text;
  }
}

}  // namespace
}  // namespace sallyport::net
