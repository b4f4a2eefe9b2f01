// The cached form of a document, damaged in any way, is refused, or it runs to an end within its
// own tables. (In a data folder a code over the file detects damage first.)
//
// The input: a byte that chooses the document, a byte that says whether an image follows or changes
// to the good one (two bytes of place and a byte each).
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "guardrails/check/compiled_image.h"
#include "guardrails/check/compiler.h"
#include "guardrails/check/evaluator.h"
#include "guardrails/stream/stream_gate.h"

namespace {

using namespace sallyport;
using guardrails::Compiled;
using guardrails::Document;
using guardrails::Stage;

constexpr std::string_view kDocuments[] = {
    R"({"max_hold_bytes":64,"checks":[{"type":"regex","stage":"output","patterns":["AK[A-Z0-9]{2}","a+b$"]}]})",
    R"({"checks":[{"type":"blocklist","stage":"output","on_fail":"redact","words":["key","ß"],"except":["keys"],"whole_word":true}]})",
    R"({"checks":[{"type":"blocklist","stage":"output","on_fail":"redact","words":["key"],"views":["nfkc","base64"]},
                  {"type":"regex","stage":"output","on_fail":"log","patterns":["\\bk.?y"]}]})"};
constexpr std::string_view kText = "AKIA aab keys KEY a2V5IGtleSBrZXkga2V5 ß\n";

struct Kept {
  Document document;
  std::string image;
};

const Kept& kept(unsigned choice) {
  static const auto all = [] {
    std::vector<Kept> made;
    for (const std::string_view text : kDocuments) {
      Document document = *guardrails::read_document(text);
      const auto compiled = *guardrails::compile(document, 1, nullptr);
      made.push_back({std::move(document), guardrails::image_of(*compiled)});
    }
    return made;
  }();
  return all[choice % all.size()];
}

std::string changed(std::string image, std::string_view changes) {
  for (; changes.size() >= 3; changes.remove_prefix(3)) {
    const auto high = static_cast<std::uint8_t>(changes[0]);
    const auto low = static_cast<std::uint8_t>(changes[1]);
    image[(high * 256u + low) % image.size()] = changes[2];
  }
  return image;
}

void run(const std::shared_ptr<const Compiled>& compiled) {
  guardrails::StreamGate gate(
      compiled, Stage::Output,
      guardrails::coverage_of(compiled->document, Stage::Output, std::nullopt, {}));
  (void)gate.push(kText);
  (void)gate.finish();
  (void)guardrails::evaluate(*compiled, {.stage = Stage::Output, .text = kText});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2 || size > 20'000) return 0;
  const Kept& good = kept(data[0]);
  const std::string_view rest(reinterpret_cast<const char*>(data) + 2, size - 2);
  const std::string image = data[1] == 0 ? std::string(rest) : changed(good.image, rest);
  if (const auto compiled = guardrails::read_image(good.document, 1, image)) run(compiled);
  return 0;
}
