#include "ledger/entry/entry_reader.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <array>

#include "base/encoding.h"
#include "base/try.h"
#include "ledger/entry/sealed_names.h"

namespace sallyport::ledger {

namespace {

using simdjson::dom::element;
using simdjson::dom::element_type;

std::unexpected<Error> unreadable(std::string message, std::string_view where) {
  return fail(ErrorCode::InvalidInput, std::move(message), std::string(where));
}

// LE-1: where each member goes, and whether it must be there.
struct Member {
  std::string_view name;
  bool required = false;
  std::string EntryView::* text = nullptr;
  std::uint64_t EntryView::* number = nullptr;
};

constexpr auto kMembers = std::to_array<Member>({
    {"agent_id", false, &EntryView::agent_id},
    {"body", true},
    {"call_id", false, &EntryView::call_id},
    {"id", true, &EntryView::id},
    {"instance_id", true, &EntryView::instance_id},
    {"kind", true, &EntryView::kind},
    {"outcome", false, &EntryView::outcome},
    {"policy_hash", false, &EntryView::policy_hash},
    {"recorded_at", true, &EntryView::recorded_at},
    {"redactions", false},
    {"run_id", false, &EntryView::run_id},
    {"schema", true},
    {"sequence", true, nullptr, &EntryView::sequence},
    {"server", false, &EntryView::server},
    {"session_id", false, &EntryView::session_id},
    {"tool_name", false, &EntryView::tool_name},
    {"topic", false, &EntryView::topic},
    {"topic_id", false, nullptr, &EntryView::topic_id},
    {"trace_id", false, &EntryView::trace_id},
});

std::optional<std::string_view> sealed_text(const element& value) {
  simdjson::dom::object object;
  std::string_view digest;
  if (value.get_object().get(object) || object.size() != 1 ||
      object["$sealed"].get_string().get(digest)) {
    return std::nullopt;
  }
  return digest;
}

bool is_commitment(const element& value) {
  constexpr std::string_view kPrefix = "sha256:";
  const std::optional<std::string_view> digest = sealed_text(value);
  return digest && digest->starts_with(kPrefix) && digest->size() == kPrefix.size() + 64 &&
         std::ranges::all_of(digest->substr(kPrefix.size()),
                             [](char c) { return hex_digit(c) >= 0; });
}

// Counts sealed fields, and finds the first content field that is not.
Result<void> check_sealed(const element& value, std::string_view name, std::size_t& count) {
  if (is_sealed_name(name)) {
    if (value.is_null()) return {};
    if (!is_commitment(value)) return unreadable("a content field is not sealed", name);
    ++count;
    return {};
  }
  if (value.type() == element_type::OBJECT) {
    for (const auto [key, member] : simdjson::dom::object(value)) {
      SALLYPORT_CHECK_OK(check_sealed(member, key, count));
    }
  } else if (value.type() == element_type::ARRAY) {
    for (const element item : simdjson::dom::array(value)) {
      SALLYPORT_CHECK_OK(check_sealed(item, {}, count));
    }
  }
  return {};
}

bool take(EntryView& view, const Member& member, const element& value) {
  if (member.text != nullptr) {
    std::string_view text;
    if (value.get_string().get(text)) return false;
    (view.*member.text).assign(text);
    return true;
  }
  if (member.number != nullptr) return !value.get_uint64().get(view.*member.number);
  if (member.name == "body") return value.is_object();
  if (member.name == "redactions") return value.is_array();
  return value.is_string();
}

}  // namespace

struct EntryReader::Document {
  simdjson::dom::parser parser;
  element root;
};

EntryReader::EntryReader() : document_(std::make_unique<Document>()) {}
EntryReader::~EntryReader() = default;

Result<void> EntryReader::read(std::string_view bytes) {
  if (bytes.size() > kMaxEntryBytes) return unreadable("over 65,535 bytes", "entry");
  if (!is_canonical_json(bytes)) return unreadable("the bytes are not canonical JSON", "entry");
  if (document_->parser.parse(bytes.data(), bytes.size()).get(document_->root) ||
      !document_->root.is_object()) {
    return unreadable("an entry is an object", "entry");
  }
  SALLYPORT_CHECK_OK(read_members());
  return check_body();
}

Result<void> EntryReader::read_members() {
  for (const Member& member : kMembers) {  // keeps what the strings have allocated
    if (member.text != nullptr) (view_.*member.text).clear();
    if (member.number != nullptr) view_.*member.number = 0;
  }
  auto expected = kMembers.begin();
  const auto skip_to = [&](std::string_view name) -> Result<void> {
    // Both sides are sorted, so a skipped name is a missing member.
    for (; expected != kMembers.end() && expected->name < name; ++expected) {
      if (expected->required) {
        return unreadable(fmt::format("an entry lacks `{}`", expected->name), expected->name);
      }
    }
    return {};
  };
  for (const auto [name, value] : simdjson::dom::object(document_->root)) {
    SALLYPORT_CHECK_OK(skip_to(name));
    if (expected == kMembers.end() || expected->name != name) {
      return unreadable(fmt::format("an entry has no member `{:.40}`", name), name);
    }
    if (!take(view_, *expected, value)) {
      return unreadable(fmt::format("`{}` of an entry has the wrong form", name), name);
    }
    ++expected;
  }
  return skip_to("\x7f");
}

Result<void> EntryReader::check_body() {
  if (std::string_view(document_->root["schema"]) != kEntrySchema) {
    return unreadable(fmt::format("unknown schema, expected `{}`", kEntrySchema), "schema");
  }
  if (!core::kind_from(view_.kind)) {
    return unreadable(fmt::format("unknown kind `{:.40}`", view_.kind), "kind");
  }
  const std::optional<Uuid> id = parse_uuid(view_.id);
  if (!id || !is_version7(*id)) return unreadable("`id` of an entry has the wrong form", "id");
  const std::optional<WallTime> time = from_rfc3339(view_.recorded_at);
  if (!time || rfc3339(*time) != view_.recorded_at) {
    return unreadable("`recorded_at` of an entry has the wrong form", "recorded_at");
  }
  id_ = *id;
  recorded_at_ = *time;
  sealed_fields_ = 0;
  return check_sealed(document_->root["body"], {}, sealed_fields_);
}

std::optional<std::string_view> EntryReader::commitment(std::string_view pointer) const {
  element field;
  if (document_->root.at_pointer(pointer).get(field)) return std::nullopt;
  return sealed_text(field);
}

}  // namespace sallyport::ledger
