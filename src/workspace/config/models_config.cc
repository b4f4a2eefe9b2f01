#include "workspace/config/models_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <charconv>

#include "base/lower_case.h"
#include "base/try.h"
#include "workspace/config/config_values.h"

namespace sallyport::app {

namespace {

using config::Mapping;
using config::Place;
using config::ReadValue;
using config::YamlMember;
using config::YamlNode;
using proxy::Price;
using proxy::UpstreamSettings;

constexpr std::size_t kMostProviders = 64;
constexpr std::size_t kMostModels = 1'000;
constexpr std::size_t kLongestModel = 512;
constexpr std::uint64_t kLongestAnswer = 600;   // seconds
constexpr std::uint64_t kLongestSilence = 300;  // seconds
constexpr double kHighestPrice = 1e6;

ReadValue read_words(std::vector<std::string>& out) {
  return [&out](const Place& place) -> Result<void> {
    out.clear();
    return config::read_list(kMostModels, [&out](const Place& item) -> Result<void> {
      std::string word;
      SALLYPORT_CHECK_OK(config::read_text(word, kLongestModel)(item));
      if (word.empty()) return item.refuse("an empty name belongs nowhere; leave it out");
      out.push_back(std::move(word));
      return {};
    })(place);
  };
}

json::object words_schema() {
  return config::list_schema(config::text_schema(kLongestModel), kMostModels);
}

ReadValue read_rename(std::map<std::string, std::string>& out) {
  return [&out](const Place& place) -> Result<void> {
    if (place.node.kind != YamlNode::Kind::Mapping) {
      return place.must_be("a mapping of names to models, as in `{fast: gpt-6-mini}`");
    }
    for (const YamlMember& member : place.node.members) {
      SALLYPORT_CHECK_OK(
          config::read_text(out[member.key.text], kLongestModel)(Place{member.value, place.file}));
    }
    return {};
  };
}

Mapping upstream_keys(UpstreamSettings& out, const std::filesystem::path& folder) {
  using Key = UpstreamSettings::Key;
  static const std::vector<std::string> kApis = {"anthropic_messages", "openai_chat",
                                                 "openai_responses"};
  static const std::vector<std::string> kKeys = {"none", "client"};
  static const std::vector<std::string> kUsage = {"ask", "as_sent"};
  const json::object text = config::text_schema(kLongestConfigText);
  Mapping keys("a provider of models");
  keys.required("name", "name of the provider in records", name_schema(), read_name(out.name))
      .required("api", "API that the provider speaks", config::choice_schema(kApis),
                config::read_choice(
                    kApis, [&out](std::size_t at) { out.api = static_cast<llm::Api>(at); }))
      .required("url", "URL of the provider; `/v1/...` is appended", text, read_url(out.url))
      .optional("key", "`none` sends no credential; `client` forwards the client's own",
                config::choice_schema(kKeys),
                config::read_choice(
                    kKeys, [&out](std::size_t at) { out.key = at == 0 ? Key::None : Key::Client; }))
      .optional("key_env", "environment variable that holds the API key", text,
                [&out](const Place& place) -> Result<void> {
                  out.key = Key::Env;
                  return config::read_text(out.key_env, kLongestConfigText)(place);
                })
      .optional("key_file", "file that holds the API key, with mode 0600", text,
                [&out, folder](const Place& place) -> Result<void> {
                  out.key = Key::File;
                  return read_path(out.key_file, folder)(place);
                })
      .optional("models",
                "names of models that the provider serves; `*` stands for any characters [all]",
                words_schema(), read_words(out.models))
      .optional("rename", "names that agents use, each with the provider's name of the model",
                json::object{{"type", "object"},
                             {"additionalProperties", config::text_schema(kLongestModel)}},
                read_rename(out.rename))
      .optional(
          "usage", "whether the proxy asks chat streams for usage [ask]",
          config::choice_schema(kUsage),
          config::read_choice(kUsage, [&out](std::size_t at) { out.usage_as_sent = at == 1; }))
      .optional("ca_file", "certificates that are trusted in addition to those of the system", text,
                read_path(out.ca_file, folder))
      .optional("allow_http", "allow a connection to another machine without encryption [false]",
                config::truth_schema(), config::read_truth(out.allow_http))
      .optional("pass_through", "paths below /v1 that pass without checks, such as `/v1/files`",
                words_schema(), read_words(out.pass_through));
  return keys;
}

// The credential comes from one place. Of two, the last in the file would win.
Result<void> check_one_key(const Place& place) {
  constexpr std::string_view kSources[] = {"key", "key_env", "key_file"};
  const YamlMember* given = nullptr;
  for (const YamlMember& member : place.node.members) {
    if (std::ranges::find(kSources, member.key.text) == std::end(kSources)) continue;
    if (given != nullptr) {
      return Place{member.key, place.file}.refuse(fmt::format(
          "`{}` and `{}` exclude each other; keep one", given->key.text, member.key.text));
    }
    given = &member;
  }
  return {};
}

ReadValue read_upstreams(std::vector<UpstreamSettings>& out, const std::filesystem::path& folder) {
  const auto read_one = [&out, folder](const Place& place) -> Result<void> {
    UpstreamSettings entry;
    SALLYPORT_CHECK_OK(upstream_keys(entry, folder).read(place));
    SALLYPORT_CHECK_OK(check_one_key(place));
    for (const UpstreamSettings& other : out) {
      if (other.name == entry.name) {
        return place.refuse(fmt::format("duplicate name `{}`", entry.name));
      }
    }
    if (entry.url.ends_with("/v1") || entry.url.ends_with("/v1/")) {
      return place.refuse(fmt::format(
          "`{:.200}` ends with `/v1`, which the proxy appends itself; leave it out", entry.url));
    }
    for (const std::string& path : entry.pass_through) {
      if (!path.starts_with("/v1/")) {
        return place.refuse(fmt::format("`{:.100}` is not a path below `/v1/`", path));
      }
    }
    out.push_back(std::move(entry));
    return {};
  };
  return [&out, read_one](const Place& place) -> Result<void> {
    SALLYPORT_CHECK_OK(config::read_list(kMostProviders, read_one)(place));
    if (!out.empty()) return {};
    return place.refuse("`upstreams` is empty; name at least one provider, or leave `models` out");
  };
}

ReadValue read_price(double& out) {
  return [&out](const Place& place) -> Result<void> {
    const std::string& text = place.node.text;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    const bool number = place.node.kind == YamlNode::Kind::Scalar && !place.node.quoted &&
                        error == std::errc() && end == text.data() + text.size();
    if (number && out >= 0 && out <= kHighestPrice) return {};
    return place.refuse(fmt::format("`{:.80}` is not a price in dollars per million tokens", text));
  };
}

Mapping price_keys(Price& out) {
  const json::object price{{"type", "number"}, {"minimum", 0}};
  Mapping keys("dollars per million tokens");
  keys.required("input", "input tokens", price, read_price(out.input))
      .required("output", "output tokens", price, read_price(out.output))
      .optional("cache_read", "input tokens read from a cache [0]", price,
                read_price(out.cache_read))
      .optional("cache_write", "input tokens written to a cache [0]", price,
                read_price(out.cache_write));
  return keys;
}

ReadValue read_prices(std::vector<std::pair<std::string, Price>>& out) {
  return [&out](const Place& place) -> Result<void> {
    if (place.node.kind != YamlNode::Kind::Mapping || place.node.members.size() > kMostModels) {
      return place.must_be("a mapping of names of models to prices; `*` stands for any characters");
    }
    for (const YamlMember& member : place.node.members) {
      Price price;
      SALLYPORT_CHECK_OK(price_keys(price).read(Place{member.value, place.file}));
      out.emplace_back(member.key.text, price);
    }
    return {};
  };
}

ReadValue read_headers(std::vector<std::string>& out) {
  return [&out](const Place& place) -> Result<void> {
    SALLYPORT_CHECK_OK(read_words(out)(place));
    for (std::string& name : out) name = lower_case(name);
    return {};
  };
}

}  // namespace

Mapping models_keys(proxy::Settings& out, const std::filesystem::path& folder) {
  UpstreamSettings upstream;
  Price price;
  Mapping keys("providers of models");
  keys.required("upstreams",
                "the providers; the first whose `api` and `models` fit serves a request",
                config::list_schema(upstream_keys(upstream, folder).schema(), kMostProviders),
                read_upstreams(out.upstreams, folder))
      .optional(
          "prices", "dollars per million tokens, by names of models with `*`",
          json::object{{"type", "object"}, {"additionalProperties", price_keys(price).schema()}},
          read_prices(out.prices))
      .optional("session_headers", "headers that name the session of a request", words_schema(),
                read_headers(out.session_headers))
      .optional("answer_s", "seconds that a provider may take to begin an answer [600]",
                config::number_schema(1, kLongestAnswer),
                config::read_number(
                    1, kLongestAnswer,
                    [&out](std::uint64_t s) { out.answer_time = std::chrono::seconds(s); }))
      .optional("silence_s", "seconds that a provider may send nothing within an answer [300]",
                config::number_schema(1, kLongestSilence),
                config::read_number(1, kLongestSilence, [&out](std::uint64_t s) {
                  out.silence = std::chrono::seconds(s);
                }));
  return keys;
}

}  // namespace sallyport::app
