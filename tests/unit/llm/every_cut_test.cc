// Recorded streams of each API, as a provider sends them over HTTP, cut in every way.
//
// An adapter sees the bytes only as events. So every cut is tried on the readers, and a sample of
// the cuts on readers and adapter. SALLYPORT_ALL_CUTS=1 tries every cut, and a thousand random
// ways, on both.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>

#include "fake_doors.h"
#include "net/http_parser.h"

namespace sallyport::llm::test {
namespace {

using Cuts = std::vector<std::size_t>;  // offsets between bytes, ascending

struct Recorded {
  std::string name{};
  Api api = Api::OpenAiChat;
  AnswerSettings settings{};
  std::string wire{};  // head, chunks, last chunk
  std::vector<net::SseEvent> events{};
};

bool tries_all() {
  return std::getenv("SALLYPORT_ALL_CUTS") != nullptr;
}

// Each event as a separate chunk.
std::string on_the_wire(std::string_view stream) {
  std::string wire =
      "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
  while (!stream.empty()) {
    const std::string_view frame = stream.substr(0, stream.find("\n\n") + 2);
    wire += fmt::format("{:x}\r\n{}\r\n", frame.size(), frame);
    stream.remove_prefix(frame.size());
  }
  return wire + "0\r\n\r\n";
}

// The readers between a connection and an adapter.
class Readers {
 public:
  // Calls `take` with each event that these bytes complete.
  template <class Take>
  void feed(std::string_view bytes, Take take) {
    ASSERT_TRUE(http_.feed(bytes));
    sse_.feed(http_.take_body());
    while (net::SseEvent* const event = sse_.next()) take(std::move(*event));
  }
  bool done() const { return http_.done(); }

 private:
  net::HttpParser http_{32u << 10};
  net::SseParser sse_{16u << 20};
};

template <class Take>
void send_cut(std::string_view wire, const Cuts& cuts, Take take) {
  Readers readers;
  std::size_t begin = 0;
  for (const std::size_t cut : cuts) {
    readers.feed(wire.substr(begin, cut - begin), take);
    begin = cut;
  }
  readers.feed(wire.substr(begin), take);
  ASSERT_TRUE(readers.done());
}

std::vector<net::SseEvent> events_of(std::string_view wire, const Cuts& cuts) {
  std::vector<net::SseEvent> events;
  send_cut(wire, cuts, [&](net::SseEvent event) { events.push_back(std::move(event)); });
  return events;
}

Api api_named(std::string_view word) {
  for (const Api api : {Api::AnthropicMessages, Api::OpenAiChat}) {
    if (to_string(api) == word) return api;
  }
  return Api::OpenAiResponses;
}

std::vector<Recorded> recorded() {
  std::ifstream in(std::filesystem::path(__FILE__).parent_path() /
                   "../../golden/model/streams.jsonl");
  std::vector<Recorded> all;
  for (std::string line; std::getline(in, line);) {
    const json::value one = json::parse(line);
    Recorded stream{.name = fmt::format("{} of {}", one.at("name").as_string().c_str(),
                                        one.at("api").as_string().c_str()),
                    .api = api_named(one.at("api").as_string())};
    stream.settings.choices = one.at("choices").to_number<std::uint64_t>();
    stream.settings.json_format = one.at("json").as_bool();
    stream.wire = on_the_wire(one.at("stream").as_string());
    stream.events = events_of(stream.wire, {});
    all.push_back(std::move(stream));
  }
  return all;
}

// The whole answer in one loop: a loop for each event would take longer than the adapter.
Task<void> pass(AnswerAdapter& adapter, std::vector<net::SseEvent> events, EventSink& out) {
  for (const net::SseEvent& event : events) {
    if (adapter.complete()) co_return Result<void>{};
    const Result<void> taken = co_await adapter.on_event(event, out);
    if (!taken) co_return taken;
  }
  if (adapter.complete()) co_return Result<void>{};
  co_return co_await adapter.on_end(out);
}

std::vector<SentEvent> sent(const Recorded& stream, std::vector<net::SseEvent> events) {
  FakeDoors doors;
  CollectingSink out;
  const std::unique_ptr<AnswerAdapter> adapter = answer_adapter(stream.api, doors, stream.settings);
  const Result<void> passed = sallyport::test::run_now(pass(*adapter, std::move(events), out));
  EXPECT_TRUE(passed) << stream.name;
  return out.events;
}

Cuts one_byte_writes(std::size_t size) {
  Cuts cuts;
  for (std::size_t at = 1; at < size; ++at) cuts.push_back(at);
  return cuts;
}

Cuts by_chance(std::size_t size, std::mt19937& chance) {
  std::set<std::size_t> cuts;
  const std::size_t count = std::uniform_int_distribution<std::size_t>(2, 40)(chance);
  while (cuts.size() < count) {
    cuts.insert(std::uniform_int_distribution<std::size_t>(1, size - 1)(chance));
  }
  return {cuts.begin(), cuts.end()};
}

// MP-39, MP-14
TEST(EveryCut, OfARecordedStreamGivesTheSameEventsOfTheProvider) {
  for (const Recorded& stream : recorded()) {
    ASSERT_GE(stream.events.size(), 3u) << stream.name;
    for (std::size_t at = 1; at < stream.wire.size(); ++at) {
      ASSERT_EQ(events_of(stream.wire, {at}), stream.events) << stream.name << " cut at " << at;
    }
  }
}

// MP-39
TEST(EveryCut, OfARecordedStreamGivesTheClientTheSameEvents) {
  const bool all = tries_all();
  std::mt19937 chance(39);
  std::size_t changed = 0;
  for (const Recorded& stream : recorded()) {
    const std::vector<SentEvent> whole = sent(stream, stream.events);
    changed += std::ranges::any_of(whole, [](const SentEvent& event) {
      return event.data.find("[redacted]") != std::string::npos ||
             event.data.find("[withheld]") != std::string::npos ||
             event.data.find("[refused]") != std::string::npos;
    });
    std::vector<Cuts> ways{one_byte_writes(stream.wire.size())};
    for (std::size_t at = 1; at < stream.wire.size(); at += all ? 1 : 211) ways.push_back({at});
    for (int i = 0; i < (all ? 1000 : 3); ++i) {
      ways.push_back(by_chance(stream.wire.size(), chance));
    }
    for (const Cuts& cuts : ways) {
      ASSERT_EQ(sent(stream, events_of(stream.wire, cuts)), whole)
          << stream.name << " cut " << cuts.size() << " times, first at " << cuts.front();
    }
  }
  EXPECT_GT(changed, 20u);  // otherwise the comparison proves little
}

}  // namespace
}  // namespace sallyport::llm::test
