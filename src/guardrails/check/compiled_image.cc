#include "guardrails/check/compiled_image.h"

#include <fmt/format.h>

#include <utility>

#include "base/digest.h"
#include "base/encoding.h"
#include "match/engine_version.h"
#include "match/image.h"

namespace sallyport::guardrails {

namespace {

void write_names(const std::vector<EntryName>& names, match::ImageWriter& out) {
  out.number(names.size());
  for (const EntryName& name : names) {
    out.text(name.check);
    out.text(name.entry);
  }
}

std::vector<EntryName> read_names(match::ImageReader& in) {
  std::vector<EntryName> names(in.count(2));
  for (EntryName& name : names) {
    name.check = in.text();
    name.entry = in.text();
  }
  return names;
}

}  // namespace

std::string image_digest(const Document& document) {
  return hex(
      sha256(fmt::format("guardrails|{}|{}", match::engine_version(), document.config_hash)));
}

std::string image_of(const Compiled& compiled) {
  match::ImageWriter out;
  out.number(compiled.report.patterns);
  write_names(compiled.report.unbounded, out);
  write_names(compiled.report.ascii_classes, out);
  for (const std::shared_ptr<const CheckSet>& set : compiled.stages) {
    if (set) set->write(out);
  }
  return std::move(out).take();
}

std::shared_ptr<const Compiled> read_image(const Document& document, std::uint64_t generation,
                                           std::string_view image) {
  match::ImageReader in(image);
  auto compiled = std::make_shared<Compiled>();
  compiled->generation = generation;
  compiled->report.patterns = in.number();
  compiled->report.unbounded = read_names(in);
  compiled->report.ascii_classes = read_names(in);
  for (std::size_t stage = 0; stage < compiled->stages.size(); ++stage) {
    std::vector<std::uint32_t> chosen = checks_of_texts(document, static_cast<Stage>(stage));
    if (chosen.empty()) continue;
    compiled->stages[stage] = CheckSet::read(document, std::move(chosen), in);
    if (!compiled->stages[stage]) return nullptr;
  }
  if (!in.at_end()) return nullptr;
  compiled->document = document;
  return compiled;
}

}  // namespace sallyport::guardrails
