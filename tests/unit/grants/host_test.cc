#include "grants/host.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace sallyport::grants {
namespace {

// Returns the hosts of an input, one after another; `?` for an unknown one.
std::string hosts(const json::value& input) {
  const std::optional<std::vector<Host>> found = hosts_in(input);
  if (!found) return "?";
  std::string text;
  for (const Host& host : *found) text += (text.empty() ? "" : " ") + host.name;
  return text;
}
std::string host_of(std::string_view address) {
  return hosts(json::object{{"url", address}});
}

// CG-45
TEST(HostTest, HostsAreThoseOfAddressesAndOfTheThreeKeys) {
  EXPECT_EQ(hosts({{"url", "https://a.example.org/x"}, {"list", {{{"u", "ftp://b.org"}}}}}),
            "a.example.org b.org");
  EXPECT_EQ(hosts({{"host", "a.org"}, {"hostname", "b.org"}, {"domain", {"c.org", "d.org"}}}),
            "a.org b.org c.org d.org");
  EXPECT_EQ(hosts({{"text", "see a.org"}, {"n", 7}, {"x", "gopher:/a.org"}, {"y", "1http://a"}}),
            "");
  EXPECT_EQ(hosts({{"host", "https://a.org/x"}}), "a.org");
}

// CG-45
TEST(HostTest, CaseTrailingDotPortAndUserInfoDoNotCount) {
  EXPECT_EQ(host_of("HTTPS://A.Example.ORG./x"), "a.example.org");
  EXPECT_EQ(host_of("https://a.org:8443?x"), "a.org");
  EXPECT_EQ(host_of("https://a.org@evil.org/"), "evil.org");
  EXPECT_EQ(host_of("https://user:pw@a.org#x"), "a.org");
  EXPECT_EQ(host_of("  https://a.org\n"), "a.org");
  EXPECT_EQ(hosts({{"host", "A.org:443"}}), "a.org");
}

// CG-45
TEST(HostTest, NamesAreComparedInTheirAsciiForm) {
  EXPECT_EQ(host_of("https://b\xc3\xbc"
                    "cher.example/"),
            "xn--bcher-kva.example");
  EXPECT_EQ(host_of("https://B\xc3\x9c"
                    "CHER.example/"),
            "xn--bcher-kva.example");
  EXPECT_EQ(host_of("https://a\xe3\x80\x82org/"), "a.org");
}

// CG-45
TEST(HostTest, AnAddressEqualsOnlyItself) {
  EXPECT_EQ(host_of("http://127.0.0.1:80/"), "127.0.0.1");
  EXPECT_EQ(host_of("http://[0:0:0:0:0:0:0:1]/"), "[::1]");
  EXPECT_EQ(hosts({{"host", "::1"}}), "[::1]");
  EXPECT_TRUE(read_host("127.0.0.1")->address);
  EXPECT_TRUE(read_host("0x7f.1")->address);
  EXPECT_FALSE(is_below(*read_host("127.0.0.1"), *read_host("0.1a")));
  EXPECT_FALSE(glob_suffix("*.0.0.1"));
  EXPECT_NE(*read_host("127.0.0.1"), *read_host("2130706433"));
}

// CG-45
TEST(HostTest, WhatProgramsReadDifferentlyIsNoHost) {
  for (const std::string_view address : {"http://a.org\\@evil.org/",
                                         "http://a@b@c.org/",
                                         "http:///evil.org",
                                         "http://ev%69l.org/",
                                         "http://a b.org/",
                                         "http://a.org:80x/",
                                         "http://[::1/",
                                         "http://[x]/",
                                         "http://a..org/",
                                         "http://:80/",
                                         "http://ex\tample.org/",
                                         "https:/evil.org/",
                                         "https:evil.org",
                                         "HTTPS:\\\\evil.org",
                                         "ht\ttps://evil.org/",
                                         "wss:evil.org",
                                         "https:/evil.org/a b",
                                         "https:evil.org?q=a b",
                                         "https:evil.org#a b",
                                         "ht\ttps:evil.org/ x",
                                         "https:a b@evil.org",
                                         " https:/evil.org ",
                                         "https:///\\evil.org\\ x"}) {
    EXPECT_EQ(host_of(address), "?") << address;
  }
  EXPECT_EQ(host_of("file:///srv/x"), "");
  EXPECT_EQ(host_of("http: the protocol"), "");
  EXPECT_EQ(host_of("https: a/b or c"), "");
  EXPECT_EQ(host_of("https:"), "");
  EXPECT_EQ(hosts({{"host", ""}}), "?");
  EXPECT_EQ(hosts({{"host", "user@a.org"}}), "?");
}

// CG-45: an address behind a no-break space was no address, and `requests` of Python fetched it.
TEST(HostTest, WhatProgramsDropInFrontOfAnAddressDoesNotHideIt) {
  for (const std::string_view front : {"\u00a0", "\u2003", "\u3000 ", "\ufeff", "\u200b", "\u0085",
                                       "\u2028", "\x01", "\x7f", "\t\u00a0\t"}) {
    const std::string address = std::string(front) + "https://evil.org/";
    EXPECT_EQ(host_of(address), "evil.org") << address;
    EXPECT_EQ(host_of(std::string(front) + "https:evil.org"), "?");
  }
  EXPECT_EQ(host_of(std::string(10'000, ' ') + "\u00a0https://evil.org/"), "evil.org");
  for (const std::string_view address :
       {"<https://evil.org>", "<evil:https://evil.org>", "URL:https://evil.org",
        "url:HTTP://evil.org", "view-source:https://evil.org/", "jar:url:ftp://evil.org",
        "\u00a0URL:https://evil.org"}) {
    EXPECT_EQ(host_of(address), "?") << address;
  }
  EXPECT_EQ(host_of("see https://a.org"), "");
  EXPECT_EQ(host_of("a:b://c"), "");
  EXPECT_EQ(host_of("\u00a0a text"), "");
}

// CG-38
TEST(HostTest, AGlobIsAStarAndADomain) {
  EXPECT_EQ(glob_suffix("*.Example.org")->name, "example.org");
  for (const std::string_view bad :
       {"example.org", "*", "*.", "a.*.org", "**.org", "*.*.org", "*.org:80", "*.[::1]"}) {
    EXPECT_FALSE(glob_suffix(bad)) << bad;
  }
  EXPECT_TRUE(is_below(*read_host("a.b.example.org"), *glob_suffix("*.example.org")));
  EXPECT_FALSE(is_below(*read_host("example.org"), *glob_suffix("*.example.org")));
  EXPECT_FALSE(is_below(*read_host("badexample.org"), *glob_suffix("*.example.org")));
}

// CG-45 (partly): a name that no registry can hold is no host, even with an ASCII form.
TEST(HostTest, NamesThatBreakTheRulesOfIdnaAreNone) {
  EXPECT_TRUE(read_host("b\u00fccher.example"));
  for (const char* const name :
       {"\u05d0a.example", "xn--\u00fc.example", "a\u200db.example", "\u0308a.example"}) {
    EXPECT_FALSE(read_host(name)) << name;
  }
}

// CG-45
TEST(HostTest, TextsThatNameAHostAreThoseOfKeysAndAddresses) {
  const json::value input{{"host", "a.org"},
                          {"x", " https://b.org/x"},
                          {"domain", "file:///c"},
                          {"y", "d.org"},
                          {"z", "1http://e.org"}};
  EXPECT_EQ(host_leaves(input), (std::vector<std::string_view>{"a.org", " https://b.org/x"}));
}

}  // namespace
}  // namespace sallyport::grants
