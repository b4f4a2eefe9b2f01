#include "guardrails/check/text_redaction.h"

#include <memory>
#include <stdexcept>

#include "guardrails/check/hit.h"
#include "match/utf8.h"

namespace sallyport::guardrails {

namespace {

class RegionSink final : public MatchSink {
 public:
  RegionSink(const CheckSet& set, const std::vector<bool>& wanted) : set_(set), wanted_(wanted) {}

  void add(match::OtherMatch&& found) override { add(found.match); }
  void truncated(std::size_t) override {}
  void add(const match::Match& match) {
    if (!wanted_[match.rule] || set_.raw->effect(match.rule) != match::Effect::Redact) return;
    regions.add(match);
  }

  match::Regions regions;

 private:
  const CheckSet& set_;
  const std::vector<bool>& wanted_;
};

template <class Take>
void read_characters(std::string_view text, Take take) {
  for (std::size_t at = 0; at < text.size();) {
    const match::Decoded next = match::decode_first(text.substr(at));
    take(match::Unit{next.character, at, at + next.size});
    at += next.size;
  }
}

void require_followed(bool overflowed) {
  if (overflowed) throw std::runtime_error("more matches are open than can be followed");
}

void search_raw(const CheckSet& set, std::string_view text, RegionSink& sink) {
  match::Scanner scanner(*set.raw);
  std::vector<match::Match> certain;
  const auto settle = [&] {
    for (const match::Match& match : certain) sink.add(match);
    certain.clear();
  };
  read_characters(text, [&](const match::Unit& unit) {
    scanner.step(unit, certain);
    if (!certain.empty()) settle();
    require_followed(scanner.overflowed());
  });
  scanner.finish(certain);
  settle();
}

void search_view(const CheckSet& set, std::string_view text, const Reading& reading,
                 RegionSink& sink) {
  const ViewGroup& group = set.groups[reading.group];
  const std::vector<bool> nothing_muted(set.checks.size());
  const SpanReader* reader = nullptr;
  ViewTree tree(
      set, group,
      [&](std::size_t view) {
        auto made = std::make_unique<SpanReader>(group, view, nothing_muted);
        reader = made.get();
        return made;
      },
      sink, reading.view);
  read_characters(text, [&](const match::Unit& unit) {
    tree.take(unit);
    require_followed(reader->overflowed());
  });
  tree.finish();
}

}  // namespace

// Goes through one reading after the other, so that only its open matches are kept at a time.
match::Regions redacted_regions(const CheckSet& set, std::string_view text,
                                const std::vector<bool>& wanted,
                                const std::set<Reading>& readings) {
  match::Regions all;
  for (const Reading& reading : readings) {
    RegionSink sink(set, wanted);
    if (reading.view == 0) {
      search_raw(set, text, sink);
    } else {
      search_view(set, text, reading, sink);
    }
    all.add(sink.regions);
  }
  return all;
}

std::string redacted_text(const Document& document, const CheckSet& set, std::string_view text,
                          const match::Regions& regions) {
  std::string out;
  std::size_t from = 0;
  for (const match::Region& region : regions.all()) {
    match::append_well_formed(out, text.substr(from, region.start - from));
    out += redaction_of(document.checks[set.checks[region.rules.front()]]);
    from = region.end;
  }
  match::append_well_formed(out, text.substr(from));
  return out;
}

std::size_t redacted_size(const Document& document, const CheckSet& set, std::string_view text,
                          const match::Regions& regions) {
  std::size_t size = text.size();
  for (const match::Region& region : regions.all()) {
    size += redaction_of(document.checks[set.checks[region.rules.front()]]).size();
    size -= region.end - region.start;
  }
  return size;
}

std::string redaction_of(const Check& check) {
  if (check.replacement) return *check.replacement;
  return std::string(default_replacement(check.stage, Action::Redact));
}

}  // namespace sallyport::guardrails
