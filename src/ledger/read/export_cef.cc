#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <chrono>

#include "base/try.h"
#include "base/visible_text.h"
#include "ledger/entry/entry_meaning.h"
#include "ledger/read/export.h"
#include "ledger/read/stored_entry.h"

namespace sallyport::ledger {

namespace {

constexpr std::size_t kMaxMessage = 1023;

void append_character(std::string& out, char c, std::string_view special, bool keep_line_ends) {
  if (special.find(c) != std::string_view::npos) {
    out += '\\';
    out += c;
  } else if (keep_line_ends && (c == '\n' || c == '\r')) {
    out += c == '\n' ? "\\n" : "\\r";
  } else {
    out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
  }
}

// Appends a value so that no line end and no terminal sequence in it can begin a second event, and
// no character hides or moves another (AP-39).
void append_escaped(std::string& out, std::string_view text, std::string_view special,
                    bool keep_line_ends) {
  while (!text.empty()) {
    const Utf8Point next = decode_utf8(text);
    const std::string_view bytes = text.substr(0, std::max<std::size_t>(next.length, 1));
    text.remove_prefix(bytes.size());
    if (next.length == 1) {
      append_character(out, bytes[0], special, keep_line_ends);
    } else if (next.point >= 0x80 && next.point < 0xA0) {
      // Some terminals take these for the beginning of a sequence.
      out += ' ';
    } else {
      for (const char c : visible(bytes)) append_character(out, c, special, keep_line_ends);
    }
  }
}

class Event {
 public:
  void header(std::string_view text) {
    // The format has no line end in a header, not even an escaped one.
    append_escaped(out_, text, "\\|", false);
    out_ += '|';
  }
  void field(std::string_view name, std::string_view value) {
    if (value.empty()) return;
    if (out_.back() != '|') out_ += ' ';
    out_ += name;
    out_ += '=';
    append_escaped(out_, value, "\\=", true);
  }
  void labelled(std::string_view name, std::string_view label, std::string_view value) {
    if (value.empty()) return;
    field(std::string(name) + "Label", label);
    field(name, value);
  }
  const std::string& text() const { return out_; }

 private:
  std::string out_ = "CEF:0|";
};

std::string bounded(std::string text) {
  constexpr std::string_view kCut = "...";
  if (text.size() <= kMaxMessage) return text;
  std::size_t end = kMaxMessage - kCut.size();
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  text.resize(end);
  return text.append(kCut);
}

Result<std::string> event_line(const StoredEntry& stored, const EntryView& entry,
                               std::string_view version, bool with_openings) {
  SALLYPORT_TRY(const json::value value, parse_own_json(*stored.bytes));
  const json::value* const body =
      value.is_object() ? value.get_object().if_contains("body") : nullptr;
  const std::optional<WallTime> time = from_rfc3339(entry.recorded_at);
  if (body == nullptr || !body->is_object() || !time) {
    return ledger_unavailable("corrupt", fmt::format("entry {} is not an entry", stored.sequence));
  }
  const EntryMeaning meaning = meaning_of(entry, body->get_object());
  Event event;
  event.header("Sallyport");
  event.header("sallyport");
  event.header(version);
  event.header(meaning.signature);
  event.header(entry.tool_name.empty() ? entry.kind : entry.tool_name);
  event.header(std::to_string(meaning.severity));
  const auto since_epoch = std::chrono::floor<std::chrono::milliseconds>(time->time_since_epoch());
  event.field("rt", std::to_string(since_epoch.count()));
  event.field("externalId", std::to_string(entry.sequence));
  event.field("suser", entry.agent_id);
  event.field("act", entry.outcome);
  event.labelled("cs1", "policyHash", entry.policy_hash);
  event.labelled("cs2", "call", entry.call_id);
  if (with_openings) {
    SALLYPORT_TRY(const std::vector<Opening> openings, openings_of(stored));
    event.field("msg", bounded(canonical_json(opened_body(value, openings))));
  }
  return event.text();
}

}  // namespace

Result<std::string> cef_line(const StoredEntry& stored, std::string_view version) {
  SALLYPORT_CHECK_OK(check_leaf(stored));
  SALLYPORT_TRY(const EntryView entry, view_entry(*stored.bytes));
  return event_line(stored, entry, version, false);
}

Result<void> export_cef(ReadView& view, const Filter& filter, std::string_view version,
                        bool with_openings, const Line& line) {
  return find_entries(
      view, filter, [&](const StoredEntry& stored, const EntryView& entry) -> Result<bool> {
        SALLYPORT_TRY(const std::string text, event_line(stored, entry, version, with_openings));
        SALLYPORT_CHECK_OK(line(text));
        return true;
      });
}

}  // namespace sallyport::ledger
