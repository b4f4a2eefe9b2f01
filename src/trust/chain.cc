#include "trust/chain.h"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <set>

#include "base/cut_text.h"
#include "base/json_members.h"

namespace sallyport::trust {

namespace {

constexpr std::size_t kMostLines = 100;

json::array texts(const std::vector<std::string>& lines) {
  json::array array;
  for (const std::string& line : lines) array.emplace_back(line);
  return array;
}

bool has_text(std::string_view value) {
  return value.size() > 2 && value.front() == '"' &&
         value.find_first_not_of(" \"") != std::string_view::npos;
}

}  // namespace

json::object to_json(const ChainReport& report) {
  json::object object{{"topic", report.topic},         {"total", report.total},
                      {"verified", report.verified},   {"root_hash", nullptr},
                      {"broken_at_event_id", nullptr}, {"errors", texts(report.errors)}};
  if (report.root_hash) object["root_hash"] = *report.root_hash;
  if (report.broken_at_event_id) object["broken_at_event_id"] = *report.broken_at_event_id;
  if (!report.warnings.empty()) object["warnings"] = texts(report.warnings);
  return object;
}

void ChainVerifier::wrong(std::uint64_t index, std::string what) {
  if (!report_.broken_at_event_id) report_.broken_at_event_id = index;
  if (report_.errors.size() < kMostLines) {
    report_.errors.push_back(fmt::format("record {}: {}", index, what));
  }
}

void ChainVerifier::warn(std::string what) {
  if (report_.warnings.size() < kMostLines) report_.warnings.push_back(std::move(what));
}

void ChainVerifier::report_wrong(std::string what) {
  if (!report_.broken_at_event_id) report_.broken_at_event_id = report_.total + 1;
  if (report_.errors.size() < kMostLines) report_.errors.push_back(std::move(what));
}

void ChainVerifier::take(std::string_view record) {
  ++report_.total;
  if (const Result<void> read = record_.read(record); !read) {
    wrong(report_.pruned + report_.total, "cannot be read: " + read.error().message);
    last_hash_.clear();
    return;
  }
  if (rules_.after_prune && report_.total == 1) find_beginning();
  const std::uint64_t index = report_.pruned + report_.total;
  check_links(index);
  check_meaning(index);
}

void ChainVerifier::find_beginning() {
  const std::uint64_t place = record_.number("chain_index").value_or(1);
  if (place < 2) return;
  report_.pruned = place - 1;
  last_hash_ = record_.text("previous_hash").value_or("");
  warn(fmt::format("records before record {} were pruned and not checked", place));
}

void ChainVerifier::check_links(std::uint64_t index) {
  if (record_.number("chain_index") != index) {
    wrong(index, fmt::format("chain_index is {}, expected {}",
                             cut_utf8_bytes(record_.member("chain_index"), 20), index));
  }
  const std::string_view previous = record_.member("previous_hash");
  const bool linked = index == 1 ? previous == "null" : record_.text("previous_hash") == last_hash_;
  if (!linked) wrong(index, "previous_hash mismatch");
  const std::string hash = record_.entry_hash();
  const std::optional<std::string_view> claimed = record_.text("entry_hash");
  if (claimed != hash) wrong(index, "entry_hash mismatch");
  // The next record names the hash that this one claims, so one edit is one error.
  last_hash_ = claimed.value_or("");
}

void ChainVerifier::check_meaning(std::uint64_t index) {
  const std::optional<std::string_view> schema = record_.text("schema");
  if (schema != kRecordSchema) {
    warn(fmt::format("record {}: unknown schema `{}`, only its hash and link were checked", index,
                     cut_utf8_bytes(schema.value_or("?"), 60)));
    return;
  }
  for (const std::string_view name : {"record_id", "agent", "action", "trace_id"}) {
    if (!has_text(record_.member(name))) wrong(index, fmt::format("`{}` is missing", name));
  }
  if (!outcome_from(record_.text("outcome").value_or(""))) wrong(index, "unknown outcome");
  const std::string_view metadata = record_.member("metadata");
  // Nearly all records are about calls without an approval request.
  const std::string_view action = record_.text("action").value_or("");
  const bool matters = metadata.find("\"approval\"") != std::string_view::npos ||
                       metadata.find("\"control\"") != std::string_view::npos ||
                       action.starts_with("trust.") ||
                       record_.text("autonomy_tier") == "act_with_approval";
  if (!matters) return;
  const Result<ParsedJson> parsed = parse_json(metadata);
  if (!parsed || !parsed->value.is_object()) return wrong(index, "`metadata` is not an object");
  check_approval(index, parsed->value.get_object());
  check_authority(index, parsed->value.get_object());
}

void ChainVerifier::check_approval(std::uint64_t index, const json::object& metadata) {
  if (record_.text("outcome") != "success") return;
  if (record_.text("autonomy_tier") != "act_with_approval") return;
  const json::object* const approval = object_in(metadata, "approval");
  const bool required = approval != nullptr && bool_in(*approval, "required") == true;
  if (!required) {
    if (rules_.ours) wrong(index, "approval required but `metadata.approval` does not say so");
    return;
  }
  if (!has_text(record_.member("approver"))) {
    wrong(index, "approval required but approver is empty");
  }
  const json::value* const signatures = approval->if_contains("signatures");
  if (signatures == nullptr || !signatures->is_array() || signatures->get_array().empty()) {
    return wrong(index, "approval required but signatures are empty");
  }
  if (!rules_.ours) return;
  // Each entry is one of AP-16, and each reviewer counts once (TR-7).
  std::set<std::string> reviewers;
  for (const json::value& item : signatures->get_array()) {
    const json::object* const entry = item.if_object();
    const std::string reviewer = entry ? text_or_empty(*entry, "reviewer") : "";
    const bool whole = !reviewer.empty() && !text_or_empty(*entry, "signed_at").empty() &&
                       !text_or_empty(*entry, "signature").empty();
    if (!whole) return wrong(index, "an approval signature lacks reviewer, signed_at or signature");
    reviewers.insert(reviewer);
  }
  const std::uint64_t quorum = number_in(*approval, "quorum").value_or(0);
  if (quorum == 0) return wrong(index, "approval required but its quorum is not a number above 0");
  if (reviewers.size() < quorum) {
    wrong(index,
          fmt::format("approval needs {} reviewers, and {} signed", quorum, reviewers.size()));
  }
}

void ChainVerifier::check_authority(std::uint64_t index, const json::object& metadata) {
  const std::string_view action = record_.text("action").value_or("");
  const bool control =
      metadata.contains("control") || action == "trust.promote" || action == "trust.demote";
  // Other producers do not sign. A record with one of our ids claims to be signed.
  if (!control || (!rules_.ours && !metadata.contains("control_id"))) return;
  const auto refuse = [&](std::string_view why) {
    wrong(index, fmt::format("unauthorized control: {}", why));
  };
  std::string whole(record_.hashed());
  whole.insert(1, R"("entry_hash":"",)");
  const Result<ParsedJson> parsed = parse_json(whole);
  if (!parsed) return refuse(parsed.error().message);
  const Result<TrustRecord> record = trust_record_from_json(parsed->value);
  if (!record) return refuse(record.error().message);
  const Result<ClaimedControl> claimed = claimed_control(*record, rules_.origin);
  if (!claimed) return refuse(claimed.error().message);
  if (record->outcome != Outcome::Success) return refuse("its outcome is not success");
  if (!control_ids_.insert(claimed->statement.control_id).second) {
    return refuse("its control_id was used before");
  }
  if (rules_.reviewers == nullptr) {
    return warn(fmt::format("record {}: the signature of `{}` was not checked, no keys are known",
                            index, cut_utf8_bytes(claimed->statement.reviewer, 60)));
  }
  const Result<void> checked =
      check_control(claimed->statement, claimed->signature, *rules_.reviewers,
                    from_rfc3339(record->timestamp).value_or(WallTime{}));
  if (!checked) refuse(checked.error().message);
}

void ChainVerifier::expect(std::optional<std::uint64_t> total,
                           std::optional<std::string> root_hash) {
  if (total != report_.total) {
    report_wrong(fmt::format("chain.total is {}, there are {} records",
                             total ? std::to_string(*total) : "missing", report_.total));
  }
  if (root_hash.value_or("") != last_hash_) {
    report_wrong("chain.root_hash mismatch: it is not the entry_hash of the last record");
  }
}

ChainReport ChainVerifier::finish() {
  report_.verified = report_.errors.empty();
  if (report_.total > 0) report_.root_hash = last_hash_;
  return report_;
}

}  // namespace sallyport::trust
