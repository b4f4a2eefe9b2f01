#include "guards/redact/output_sanitizer.h"

#include <algorithm>
#include <boost/json.hpp>
#include <set>
#include <utility>

#include "base/encoding.h"
#include "base/try.h"
#include "guards/redact/envelope_edits.h"
#include "guards/redact/gathered_text.h"

namespace sallyport::guards {

namespace {

constexpr std::chrono::milliseconds kTimeLimit{1000};

std::string details_of(const HitCounts& counts) {
  std::string details;
  for (const auto& [name, count] : counts) {
    if (!details.empty()) details += ';';
    details.append(name).append("=").append(std::to_string(count));
  }
  return details;
}

// A large value is moved into its shape, not copied.
json::value shape_of(Envelope envelope) {
  json::value value = std::exchange(envelope.value, nullptr);
  json::value shape = envelope.to_json();
  if (envelope.kind == Envelope::Kind::Value) shape.as_object()["value"] = std::move(value);
  return shape;
}

// Scans one envelope once.
class Scan {
 public:
  Scan(const TextCleaner& cleaner, const Clock& clock)
      : cleaner_(cleaner), clock_(clock), end_(clock.steady() + kTimeLimit) {}

  Result<void> run(const Envelope& envelope) {
    SALLYPORT_TRY(text_, gather_text(envelope, cleaner_.settings()));
    note_service_accounts();
    std::set<std::uint32_t> suspects = find_suspects();
    suspects.insert(text_.suspects.begin(), text_.suspects.end());
    for (const std::uint32_t group : suspects) SALLYPORT_CHECK_OK(clean(group));
    return check_time();
  }

  const EnvelopeEdits& edits() const { return edits_; }
  const HitCounts& counts() const { return counts_; }

 private:
  void note_service_accounts() {
    constexpr Detector kDetector = Detector::GcpServiceAccount;
    for (const json::value* const account : text_.service_accounts) {
      ++counts_[cleaner_.settings().name_of(kDetector)];
      if (cleaner_.settings().strategy_of(kDetector) == Strategy::Keep) continue;
      edits_.values.emplace(account, nullptr);
    }
  }

  // Groups with a finding. All others need no second pass.
  std::set<std::uint32_t> find_suspects() const {
    std::set<std::uint32_t> suspects;
    if (must_read_areas_alone()) {
      for (const Area& area : text_.areas) {
        if (!cleaner_.find(text_.of(area)).empty()) suspects.insert(area.group);
      }
      return suspects;
    }
    for (const Hit& hit : cleaner_.find(text_.text)) {
      const auto behind = std::ranges::upper_bound(text_.areas, hit.begin, {}, &Area::begin);
      suspects.insert(std::prev(behind)->group);
    }
    return suspects;
  }

  // A private key without an end runs to the end of its text, and a pattern of the policy may match
  // line feeds.
  bool must_read_areas_alone() const {
    const SanitizerSettings& settings = cleaner_.settings();
    if (!settings.deny.empty()) return true;
    return settings.detectors.test(index_of(Detector::PrivateKeyPem)) &&
           text_.text.find("PRIVATE KEY") != std::string::npos;
  }

  Result<void> clean(std::uint32_t first) {
    // A match that lost against a longer one may overlap it in part, and a mark makes a new word
    // edge. So the text is scanned until it is clean.
    constexpr int kUsualTurns = 4;
    constexpr int kMostTurns = 32;
    TextCleaner::Group group = group_of(first);
    for (int turn = 0; turn < kMostTurns; ++turn) {
      SALLYPORT_CHECK_OK(check_time());
      if (!cleaner_.clean_once(group, counts_, turn >= kUsualTurns)) {
        note_edits(first, group);
        return {};
      }
    }
    return fail(ErrorCode::Exhausted, "content could not be cleaned");
  }

  TextCleaner::Group group_of(std::uint32_t first) const {
    TextCleaner::Group group;
    for (std::size_t i = first; i < text_.pieces.size() && text_.pieces[i].group == first; ++i) {
      const Piece& piece = text_.pieces[i];
      group.parts.push_back({.text = std::string(text_.of(piece)),
                             .truncated = piece.truncated,
                             .changed = piece.cut});
    }
    group.is_name = text_.pieces[first].kind == Piece::Kind::Name;
    const auto member = std::ranges::lower_bound(text_.secret_members, first, {},
                                                 &GatheredText::MemberValue::piece);
    if (member != text_.secret_members.end() && member->piece == first) {
      group.member = member->name;
    }
    return group;
  }

  void note_edits(std::uint32_t first, TextCleaner::Group& group) {
    for (std::size_t i = 0; i < group.parts.size(); ++i) {
      CleanedPart& part = group.parts[i];
      if (!part.changed) continue;
      const Piece& piece = text_.pieces[first + i];
      if (part.truncated) part.text += kTruncated;
      if (piece.encoded) {
        // Where the text as it stands was changed too, nothing of it is left.
        const bool both = edits_.values.contains(piece.place);
        edits_.values.insert_or_assign(piece.place, both ? "****" : base64(as_bytes(part.text)));
      } else if (piece.kind == Piece::Kind::Name) {
        edits_.names.emplace(piece.place, std::move(part.text));
      } else if (piece.kind == Piece::Kind::Text) {
        edits_.texts.emplace(piece.place, std::move(part.text));
      } else if (part.text.empty()) {
        edits_.values.emplace(piece.place, nullptr);
      } else {
        edits_.values.emplace(piece.place, part.text);
      }
    }
  }

  Result<void> check_time() const {
    if (clock_.steady() <= end_) return {};
    return fail(ErrorCode::Deadline, "content was not scanned within the time limit");
  }

  const TextCleaner& cleaner_;
  const Clock& clock_;
  SteadyTime end_;
  GatheredText text_;
  EnvelopeEdits edits_;
  HitCounts counts_;
};

}  // namespace

OutputSanitizer::OutputSanitizer(std::unique_ptr<const TextCleaner> cleaner, const Clock& clock)
    : cleaner_(std::move(cleaner)), clock_(clock) {
  traits_.name = "output-sanitizer";
  traits_.rewrites = true;
  traits_.limit = kTimeLimit;
  traits_.settings = cleaner_->settings().to_json();
}

Result<std::shared_ptr<const OutputSanitizer>> OutputSanitizer::build(
    SanitizerSettings settings, std::string fingerprint_key, const Clock& clock,
    const guardrails::PatternStore* store) {
  SALLYPORT_TRY(auto cleaner,
                TextCleaner::build(std::move(settings), std::move(fingerprint_key), store));
  return std::shared_ptr<const OutputSanitizer>(new OutputSanitizer(std::move(cleaner), clock));
}

Verdict OutputSanitizer::sanitize(const Envelope& result) const {
  Scan scan(*cleaner_, clock_);
  // A result that could not be read to its end is withheld (PI-66).
  if (const Result<void> ran = scan.run(result); !ran) return Verdict::deny(ran.error().message);
  Verdict verdict = scan.edits().empty() ? Verdict::allow()
                                         : Verdict::rewrite(shape_of(edited(result, scan.edits())));
  if (!scan.counts().empty()) verdict.evidence = details_of(scan.counts());
  return verdict;
}

Task<Verdict> OutputSanitizer::judge(const Envelope& result, const ResultContext&) const {
  co_return sanitize(result);
}

}  // namespace sallyport::guards
