// What was kept of a document, damaged in any way: it is refused, or it runs to an end within its
// own tables. (In a data folder damage is noticed before this, by a code over the file.)
//
// The input: a byte that chooses the document, a byte that says whether an image follows or changes
// to the good one (two bytes of place and a byte each).
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "guardrails/gate.h"
#include "guardrails/guardrails.h"
#include "guardrails/pattern_store.h"

namespace {

using namespace sallyport;
using guardrails::Guardrails;

constexpr std::string_view kDocuments[] = {
    R"({"max_hold_bytes":64,"checks":[{"type":"regex","stage":"output","patterns":["AK[A-Z0-9]{2}","a+b$"]}]})",
    R"({"checks":[{"type":"blocklist","stage":"output","on_fail":"redact","words":["key","ß"],"except":["keys"],"whole_word":true}]})",
    R"({"checks":[{"type":"blocklist","stage":"output","on_fail":"redact","words":["key"],"views":["nfkc","base64"]},
                  {"type":"regex","stage":"output","on_fail":"log","patterns":["\\bk.?y"]}]})"};
constexpr std::string_view kText = "AKIA aab keys KEY a2V5IGtleSBrZXkga2V5 ß\n";

class Planted final : public guardrails::PatternStore {
 public:
  std::optional<std::string> load(const std::string&) const override { return image; }
  void keep(const std::string&, std::string_view bytes) const override { kept = bytes; }

  std::optional<std::string> image;
  mutable std::string kept;
};

std::shared_ptr<const Guardrails> compiled(std::string_view document, const Planted& store) {
  return *Guardrails::compile(*guardrails::read_document(document), 1, &store);
}

std::string changed(std::string image, std::string_view changes) {
  for (; changes.size() >= 3; changes.remove_prefix(3)) {
    const auto high = static_cast<std::uint8_t>(changes[0]);
    const auto low = static_cast<std::uint8_t>(changes[1]);
    image[(high * 256u + low) % image.size()] = changes[2];
  }
  return image;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2 || size > 20'000) return 0;
  const std::string_view document = kDocuments[data[0] % std::size(kDocuments)];
  const std::string_view rest(reinterpret_cast<const char*>(data) + 2, size - 2);
  static const auto good = [] {
    std::vector<std::string> images;
    for (const std::string_view text : kDocuments) {
      const Planted store;
      compiled(text, store);
      images.push_back(store.kept);
    }
    return images;
  }();
  Planted store;
  store.image =
      data[1] == 0 ? std::string(rest) : changed(good[data[0] % std::size(kDocuments)], rest);
  const auto guardrails = compiled(document, store);
  if (!store.kept.empty()) return 0;  // refused, and made anew
  const auto gate = guardrails->arm(guardrails::Stage::Output, std::nullopt);
  (void)gate->push(kText);
  (void)gate->finish();
  (void)guardrails->evaluate({.stage = guardrails::Stage::Output, .text = kText});
  return 0;
}
