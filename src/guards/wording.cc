#include "guards/wording.h"

#include <fmt/format.h>
#include <hs/hs.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <new>
#include <stdexcept>
#include <utility>

#include "base/try.h"
#include "guards/detect/char_class.h"
#include "guards/detect/pattern_scratch.h"
#include "sallyport/json.h"

namespace sallyport::guards {

namespace {

std::string expression_of(const Wording& wording) {
  if (wording.is_pattern) return wording.text;
  std::string escaped;
  for (const char c : wording.text) {
    if (is(c, kAlnum | kBeyondAscii)) {
      escaped += c;
    } else {
      escaped += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  return escaped;
}

constexpr unsigned flags_of(WordingSet::Mode mode) {
  return mode == WordingSet::Mode::Whole ? HS_FLAG_UTF8 | HS_FLAG_SINGLEMATCH | HS_FLAG_ALLOWEMPTY
                                         : HS_FLAG_UTF8 | HS_FLAG_SOM_LEFTMOST;
}

Error refusal(const Wording& wording, hs_compile_error_t* error) {
  std::string_view why = error->message;
  // The rest of the message is advice to programmers.
  if (why.starts_with("Pattern matches empty buffer")) why = "it matches the empty text";
  Error refused{
      ErrorCode::InvalidInput,
      fmt::format("`{}`: `{:.80}` is not a pattern: {}", wording.place, wording.text, why),
      wording.place};
  hs_free_compile_error(error);
  return refused;
}

struct WordingSearch {
  std::vector<WordingSet::Match>& found;
  bool out_of_memory = false;
};

// Called from C, which no exception may cross.
int on_match(unsigned id, unsigned long long begin, unsigned long long end, unsigned,
             void* context) {
  WordingSearch& search = *static_cast<WordingSearch*>(context);
  // A pattern like `a+` is reported at each of its ends.
  if (!search.found.empty()) {
    WordingSet::Match& last = search.found.back();
    if (last.wording == id && last.begin == begin) {
      last.end = end;
      return 0;
    }
  }
  try {
    search.found.push_back({begin, end, id});
  } catch (const std::bad_alloc&) {
    search.out_of_memory = true;
    return 1;
  }
  return 0;
}

}  // namespace

Result<void> check_wording(const Wording& wording) {
  if (wording.text.empty() || !is_utf8(wording.text)) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("`{}` must be text that is not empty", wording.place), wording.place);
  }
  // Checks the pattern before anything is put around it, which would make `a)(b` valid.
  hs_expr_info_t* info = nullptr;
  hs_compile_error_t* error = nullptr;
  const std::string expression = expression_of(wording);
  if (hs_expression_info(expression.c_str(), HS_FLAG_UTF8 | HS_FLAG_ALLOWEMPTY, &info, &error) !=
      HS_SUCCESS) {
    return std::unexpected(refusal(wording, error));
  }
  std::free(info);
  return {};
}

void WordingSet::CloseDatabase::operator()(hs_database* database) const {
  hs_free_database(database);
}

WordingSet::WordingSet(Database database)
    : database_(std::move(database)), id_(next_database_id()) {}

Result<std::shared_ptr<const WordingSet>> WordingSet::build(const std::vector<Wording>& wordings,
                                                            Mode mode) {
  if (wordings.empty()) return std::shared_ptr<const WordingSet>(new WordingSet(nullptr));
  std::vector<std::string> expressions;
  std::vector<unsigned> ids;
  for (const Wording& wording : wordings) {
    SALLYPORT_CHECK_OK(check_wording(wording));
    std::string expression = expression_of(wording);
    if (mode == Mode::Whole) expression = "\\A(?:" + expression + ")\\z";
    expressions.push_back(std::move(expression));
    ids.push_back(static_cast<unsigned>(ids.size()));
  }
  std::vector<const char*> pointers;
  for (const std::string& expression : expressions) pointers.push_back(expression.c_str());
  const std::vector<unsigned> flags(wordings.size(), flags_of(mode));
  hs_database_t* database = nullptr;
  hs_compile_error_t* error = nullptr;
  if (hs_compile_multi(pointers.data(), flags.data(), ids.data(), static_cast<unsigned>(ids.size()),
                       HS_MODE_BLOCK, nullptr, &database, &error) != HS_SUCCESS) {
    const int which = std::max(error->expression, 0);  // below 0: of none of them
    return std::unexpected(refusal(wordings.at(static_cast<std::size_t>(which)), error));
  }
  return std::shared_ptr<const WordingSet>(new WordingSet(Database(database)));
}

std::vector<WordingSet::Match> WordingSet::find(std::string_view text) const {
  std::vector<Match> found;
  if (empty()) return found;
  if (text.size() > std::numeric_limits<unsigned>::max() || !is_utf8(text)) {
    throw std::runtime_error("only UTF-8 text under 4 GiB can be searched");
  }
  WordingSearch search{found};
  const hs_error_t outcome =
      hs_scan(database_.get(), text.data(), static_cast<unsigned>(text.size()), 0,
              scratch_for(database_.get(), id_), on_match, &search);
  if (search.out_of_memory) throw std::bad_alloc();
  if (outcome != HS_SUCCESS) {
    throw std::runtime_error(fmt::format("the pattern search failed with code {}", outcome));
  }
  return found;
}

}  // namespace sallyport::guards
