#include "ledger/proof/witness_policy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <span>

#include "base/try.h"

namespace sallyport::ledger {

namespace {

constexpr std::size_t kMostBytes = 64 * 1024;
constexpr std::size_t kMostLines = 64;  // of each kind
constexpr std::string_view kNone = "none";

using Words = std::vector<std::string_view>;

bool is_allowed(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte == '\t' || (byte >= 0x20 && byte != 0x7f);
}

Words words_of(std::string_view line) {
  constexpr std::string_view kBlanks = " \t";
  Words words;
  while (true) {
    const std::size_t begin = line.find_first_not_of(kBlanks);
    if (begin == std::string_view::npos) return words;
    line.remove_prefix(begin);
    const std::string_view word = line.substr(0, line.find_first_of(kBlanks));
    words.push_back(word);
    line.remove_prefix(word.size());
  }
}

// Reads line by line and keeps the definitions so far.
class PolicyText {
 public:
  explicit PolicyText(std::string_view source) : source_(source) {}

  Result<WitnessPolicy> read(std::string_view text) {
    if (text.size() > kMostBytes) return refuse("a policy is at most 64 KiB");
    while (!text.empty()) {
      ++number_;
      const std::size_t end = text.find('\n');
      if (end == std::string_view::npos) return refuse("the last LF is missing");
      SALLYPORT_CHECK_OK(read_line(text.substr(0, end)));
      text.remove_prefix(end + 1);
    }
    if (policy_.quorum.empty()) return refuse("there is no `quorum` line");
    return std::move(policy_);
  }

 private:
  std::unexpected<Error> refuse(std::string message) const {
    return fail(ErrorCode::InvalidInput, std::move(message),
                fmt::format("{}:{}", source_, number_));
  }

  Result<void> read_line(std::string_view line) {
    if (!std::ranges::all_of(line, is_allowed)) return refuse("a line holds a control character");
    const Words words = words_of(line);
    if (words.empty() || words.front().starts_with('#')) return {};
    if (words.front() == "log") return read_log(words);
    if (words.front() == "witness") return read_witness(words);
    if (words.front() == "group") return read_group(words);
    if (words.front() == "quorum") return read_quorum(words);
    return refuse(fmt::format("`{:.40}` is not log, witness, group or quorum", words.front()));
  }

  Result<VerifierKey> read_key(std::string_view text, KeyType type) const {
    Result<VerifierKey> key = VerifierKey::parse(text, type);
    if (!key) return refuse(key.error().message);
    return key;
  }

  template <class Lines>
  Result<void> check_room(const Lines& lines, std::string_view kind) const {
    if (lines.size() < kMostLines) return {};
    return refuse(fmt::format("more than {} lines `{}`", kMostLines, kind));
  }

  Result<void> read_log(const Words& words) {
    if (words.size() != 2 && words.size() != 3) return refuse("write `log VKEY [URL]`");
    SALLYPORT_CHECK_OK(check_room(policy_.logs, "log"));
    SALLYPORT_TRY(VerifierKey key, read_key(words[1], KeyType::Note));
    for (const WitnessPolicy::Log& log : policy_.logs) {
      if (log.key.public_key == key.public_key) return refuse("this log is there already");
    }
    policy_.logs.push_back({std::move(key), words.size() == 3 ? std::string(words[2]) : ""});
    return {};
  }

  Result<void> read_witness(const Words& words) {
    if (words.size() != 3 && words.size() != 4) return refuse("write `witness NAME VKEY [URL]`");
    SALLYPORT_CHECK_OK(check_room(policy_.witnesses, "witness"));
    SALLYPORT_CHECK_OK(define(words[1]));
    SALLYPORT_TRY(VerifierKey key, read_key(words[2], KeyType::Cosignature));
    for (const WitnessPolicy::Witness& witness : policy_.witnesses) {
      if (witness.key.public_key != key.public_key) continue;
      return refuse(fmt::format("the key of `{}` is that of `{}`", words[1], witness.name));
    }
    policy_.witnesses.push_back(
        {std::string(words[1]), std::move(key), words.size() == 4 ? std::string(words[3]) : ""});
    return {};
  }

  Result<void> read_group(const Words& words) {
    if (words.size() < 4) return refuse("write `group NAME all|any|K NAME...`");
    SALLYPORT_CHECK_OK(check_room(policy_.groups, "group"));
    const std::size_t count = words.size() - 3;
    WitnessPolicy::Group group{.name = std::string(words[1])};
    SALLYPORT_TRY(group.threshold, threshold_from(words[2], count));
    for (const std::string_view word : std::span(words).subspan(3)) {
      const std::string member(word);
      if (!defined_.contains(member)) {
        return refuse(fmt::format("`{:.80}` is not defined on a line before", member));
      }
      if (!grouped_.insert(member).second) {
        return refuse(fmt::format("`{:.80}` is a member already", member));
      }
      group.members.push_back(member);
    }
    SALLYPORT_CHECK_OK(define(words[1]));
    policy_.groups.push_back(std::move(group));
    return {};
  }

  Result<std::size_t> threshold_from(std::string_view word, std::size_t count) const {
    if (word == "any") return 1;
    if (word == "all") return count;
    std::size_t threshold = 0;
    const auto read = std::from_chars(word.data(), word.data() + word.size(), threshold);
    if (read.ec != std::errc{} || std::to_string(threshold) != word || threshold == 0 ||
        threshold > count) {
      return refuse(fmt::format("`{:.40}` is not all, any or a number from 1 to {}", word, count));
    }
    return threshold;
  }

  Result<void> read_quorum(const Words& words) {
    if (words.size() != 2) return refuse("write `quorum NAME`");
    if (!policy_.quorum.empty()) return refuse("there is a `quorum` line already");
    if (words[1] != kNone && !defined_.contains(std::string(words[1]))) {
      return refuse(fmt::format("`{:.80}` is not defined on a line before", words[1]));
    }
    policy_.quorum = words[1];
    return {};
  }

  // Witnesses and groups share their names.
  Result<void> define(std::string_view name) {
    if (name == kNone) return refuse("`none` is a name of the format itself");
    if (!defined_.insert(std::string(name)).second) {
      return refuse(fmt::format("`{:.80}` is defined already", name));
    }
    return {};
  }

  std::string_view source_;
  std::size_t number_ = 0;
  std::set<std::string> defined_;
  std::set<std::string> grouped_;
  WitnessPolicy policy_;
};

}  // namespace

Result<WitnessPolicy> WitnessPolicy::parse(std::string_view text, std::string_view source) {
  return PolicyText(source).read(text);
}

bool WitnessPolicy::is_met_by(const std::set<std::string>& cosigners) const {
  if (quorum == kNone) return true;
  std::set<std::string> met = cosigners;
  // Members are defined before their groups, so one pass is enough.
  for (const Group& group : groups) {
    const auto count = std::ranges::count_if(
        group.members, [&](const std::string& member) { return met.contains(member); });
    if (static_cast<std::size_t>(count) >= group.threshold) met.insert(group.name);
  }
  return met.contains(quorum);
}

Result<std::set<std::string>> cosigners_of(const Note& note, const WitnessPolicy& policy) {
  std::set<std::string> cosigners;
  for (const WitnessPolicy::Witness& witness : policy.witnesses) {
    switch (verify_note(note, witness.key)) {
      case NoteTrust::NoSuchKey:
        break;
      case NoteTrust::BadSignature:
        return fail(ErrorCode::InvalidInput,
                    fmt::format("the cosignature by `{}` does not verify", witness.name));
      case NoteTrust::Signed:
        cosigners.insert(witness.name);
    }
  }
  return cosigners;
}

Result<std::set<std::string>> require_quorum(const Note& note, const WitnessPolicy& policy) {
  SALLYPORT_TRY(std::set<std::string> cosigners, cosigners_of(note, policy));
  if (policy.is_met_by(cosigners)) return cosigners;
  std::vector<std::string> missing;
  for (const WitnessPolicy::Witness& witness : policy.witnesses) {
    if (!cosigners.contains(witness.name)) missing.push_back(witness.name);
  }
  return fail(ErrorCode::InvalidInput,
              fmt::format("no quorum `{}`: {} of {} witnesses cosigned, missing {}", policy.quorum,
                          cosigners.size(), policy.witnesses.size(), fmt::join(missing, ", ")));
}

}  // namespace sallyport::ledger
