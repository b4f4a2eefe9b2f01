#include "trust/chain_file.h"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <vector>

#include "base/json_members.h"
#include "base/try.h"
#include "sallyport/json.h"

namespace sallyport::trust {

namespace {

// Cuts a stream into the texts of its values without reading ahead more than a buffer.
class Cutter {
 public:
  explicit Cutter(std::istream& in) : in_(in), buffer_(64 * 1024) {}

  // 0 at the end; blanks are skipped.
  char peek() {
    while (true) {
      if (next_ == end_ && !fill()) return '\0';
      const char c = buffer_[next_];
      if (c != ' ' && c != '\n' && c != '\r' && c != '\t') return c;
      ++next_;
    }
  }

  Result<void> take(char wanted) {
    if (peek() != wanted) return wrong(fmt::format("`{}` is missing", wanted));
    ++next_;
    return {};
  }

  // Takes one whole value as written. Its content is checked elsewhere.
  Result<void> value(std::string& out) {
    out.clear();
    const char first = peek();
    const bool nested = first == '{' || first == '[';
    bool in_string = false;
    bool escaped = false;
    std::size_t depth = 0;
    while (next_ < end_ || fill()) {
      const char c = buffer_[next_];
      if (!in_string && depth == 0 && !out.empty() && ends_here(c, nested, first)) return {};
      ++next_;
      out += c;
      if (out.size() > RecordText::kMaxBytes) return wrong("a value is over 1 MiB");
      if (in_string) {
        in_string = escaped || c != '"';
        escaped = !escaped && c == '\\';
      } else if (c == '"') {
        in_string = true;
      } else if (c == '{' || c == '[') {
        ++depth;
      } else if (c == '}' || c == ']') {
        if (depth == 0) return wrong("a bracket is missing");
        --depth;
      }
    }
    if (out.empty() || in_string || depth > 0) return wrong("it ends too early");
    return {};
  }

  Result<std::string> name() {
    if (peek() != '"') return wrong("a member name is missing");
    std::string text;
    SALLYPORT_CHECK_OK(value(text));
    SALLYPORT_TRY(const ParsedJson parsed, parse_json(text));
    SALLYPORT_CHECK_OK(take(':'));
    return std::string(parsed.value.get_string());
  }

  std::unexpected<Error> wrong(std::string_view what) const {
    return fail(ErrorCode::InvalidInput,
                fmt::format("not a chain of trust records: {} (byte {})", what, before_ + next_));
  }

 private:
  static bool ends_here(char c, bool nested, char first) {
    if (nested || first == '"') return true;
    return c == ',' || c == '}' || c == ']' || c == ' ' || c == '\n' || c == '\r' || c == '\t';
  }

  bool fill() {
    before_ += end_;
    next_ = 0;
    in_.read(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
    end_ = static_cast<std::size_t>(in_.gcount());
    return end_ > 0;
  }

  std::istream& in_;
  std::vector<char> buffer_;
  std::size_t next_ = 0;
  std::size_t end_ = 0;
  std::uint64_t before_ = 0;
};

Result<void> read_head(const std::string& text, ChainDocument& document) {
  SALLYPORT_TRY(const ParsedJson parsed, parse_json(text));
  const json::object* const chain = parsed.value.if_object();
  if (chain == nullptr) return fail(ErrorCode::InvalidInput, "`chain` is not an object", "chain");
  document.total = number_in(*chain, "total");
  if (const auto root = text_in(*chain, "root_hash")) document.root_hash = *root;
  if (const auto topic = text_in(*chain, "topic")) document.topic = *topic;
  const json::object* const producer = object_in(*chain, "producer");
  if (producer != nullptr) document.producer = text_in(*producer, "name").value_or("");
  return {};
}

}  // namespace

std::string chain_begin(const ChainHead& head) {
  json::object chain{
      {"topic", head.topic},
      {"total", head.total},
      {"root_hash", nullptr},
      {"verified", head.verified},
      {"generated_at", head.generated_at},
      {"producer", json::object{{"name", "sallyport"}, {"version", head.producer_version}}}};
  if (head.root_hash) chain["root_hash"] = *head.root_hash;
  return fmt::format(R"({{"schema":"{}","chain":{},"records":[)", kChainSchema,
                     canonical_json(chain));
}

Result<ChainDocument> read_chain(std::istream& in, const OnChain& on_chain) {
  Cutter cut(in);
  ChainDocument document;
  std::string text;
  bool schema = false;
  bool records = false;
  bool chain = false;
  SALLYPORT_CHECK_OK(cut.take('{'));
  for (bool more = cut.peek() != '}'; more;) {
    SALLYPORT_TRY(const std::string name, cut.name());
    if (name == "records") {
      if (std::exchange(records, true)) return cut.wrong("`records` occurs twice");
      SALLYPORT_CHECK_OK(cut.take('['));
      for (bool another = cut.peek() != ']'; another;) {
        SALLYPORT_CHECK_OK(cut.value(text));
        SALLYPORT_CHECK_OK(on_chain.record(text));
        another = cut.peek() == ',';
        if (another) SALLYPORT_CHECK_OK(cut.take(','));
      }
      SALLYPORT_CHECK_OK(cut.take(']'));
    } else {
      SALLYPORT_CHECK_OK(cut.value(text));
      if (name == "schema") schema = text == fmt::format("\"{}\"", kChainSchema);
      if (name == "chain") {
        if (std::exchange(chain, true)) return cut.wrong("`chain` occurs twice");
        SALLYPORT_CHECK_OK(read_head(text, document));
        if (on_chain.head) on_chain.head(document);
      }
    }
    more = cut.peek() == ',';
    if (more) SALLYPORT_CHECK_OK(cut.take(','));
  }
  SALLYPORT_CHECK_OK(cut.take('}'));
  if (cut.peek() != '\0') return cut.wrong("there is text after its end");
  if (!schema || !records || !chain) {
    return cut.wrong(
        fmt::format("`schema` must be `{}`, with `chain` and `records`", kChainSchema));
  }
  return document;
}

ChainReport verify_chain_file(std::istream& in, ChainVerifier::Rules rules) {
  rules.ours = true;
  ChainVerifier verifier(rules);
  const OnChain on_chain{
      .record = [&](std::string_view record) -> Result<void> {
        verifier.take(record);
        return {};
      },
      .head = [&](const ChainDocument& head) { verifier.set_ours(head.producer == "sallyport"); }};
  const Result<ChainDocument> document = read_chain(in, on_chain);
  if (!document) {
    verifier.report_wrong(document.error().message);
  } else {
    verifier.expect(document->total, document->root_hash);
  }
  ChainReport report = verifier.finish();
  if (document) report.topic = document->topic;
  return report;
}

}  // namespace sallyport::trust
