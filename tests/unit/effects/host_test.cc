#include "effects/host.h"

#include <gtest/gtest.h>

namespace sallyport::effects {

namespace {

std::string read(std::string_view text) {
  const EffectHost host = host_from(text);
  return host.unknown ? "?" : host.text;
}

}  // namespace

// RU-59
TEST(HostTest, HostsAreComparedInOneForm) {
  EXPECT_EQ(read("https://DOCS.example.org.:8443/a"), "docs.example.org");
  EXPECT_EQ(read("example.com/x"), "example.com");
  EXPECT_EQ(read("localhost:8080"), "localhost");
  EXPECT_EQ(read("https://docs.example.org@evil.example/"), "evil.example");
  EXPECT_EQ(read("https://d\xc3\xb6"
                 "cs.example.com/"),
            "xn--dcs-sna.example.com");
  EXPECT_EQ(read("http://127.1/"), "127.0.0.1");
  EXPECT_EQ(read("http://0x7f000001/"), "127.0.0.1");
  EXPECT_EQ(read("http://2130706433/"), "127.0.0.1");
  EXPECT_EQ(read("http://0177.0.0.1/"), "127.0.0.1");
  EXPECT_EQ(read("http://[::ffff:10.0.0.5]/"), "10.0.0.5");
  EXPECT_EQ(read("[::1]:80"), "[::1]");
  EXPECT_EQ(read("http://[0:0:0:0:0:0:0:1]/"), "[::1]");
}

// RU-59
TEST(HostTest, WhatCanBeReadAsTwoHostsIsUnknown) {
  for (const char* text :
       {"https://a.example\\@b.example/", "https://a@b@c.example/", "", "http://",
        "http://{a,b}.example/", "http://256.1.1.1.1/", "http://a b.example/",
        "http://a%2eb.example/", "https:/a.example", "https:/\\a.example", "https:///a.example"}) {
    EXPECT_EQ(read(text), "?") << text;
  }
}

// RU-60
TEST(HostTest, PrivateHostsAreTold) {
  for (const char* text :
       {"127.0.0.1",   "10.0.0.5",  "172.16.0.1",        "192.168.0.1", "169.254.1.1",
        "100.64.0.1",  "224.0.0.1", "0.0.0.0",           "localhost",   "web1",
        "a.localhost", "a.local",   "metadata.internal", "x.home.arpa", "[::1]",
        "[::]",        "[fe80::1]", "[fd00::1]",         "[ff02::1]",   "[::ffff:10.0.0.5]",
        "127.1"}) {
    EXPECT_TRUE(is_private(host_from(text))) << text;
  }
  for (const char* text : {"8.8.8.8", "172.32.0.1", "example.com", "10.0.0.5.names.example",
                           "[2606:4700::1111]", "100.128.0.1"}) {
    EXPECT_FALSE(is_private(host_from(text))) << text;
  }
}

}  // namespace sallyport::effects
