#include "guards/detectors.h"

#include <fmt/format.h>
#include <hs/hs.h>

#include <limits>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

#include "guards/anchor_patterns.h"
#include "guards/entropy_check.h"
#include "guards/pattern_scratch.h"
#include "guards/short_text.h"

namespace sallyport::guards {

namespace {

struct Search {
  Candidates& found;
  const DetectorSet& only;
  bool out_of_memory = false;
};

// Called from C, which no exception may cross.
int on_anchor(unsigned id, unsigned long long, unsigned long long end, unsigned, void* context) {
  Search& search = *static_cast<Search*>(context);
  const AnchorPattern& pattern = anchor_patterns()[id];
  if (!search.only.test(index_of(pattern.detector))) return 0;
  try {
    pattern.check(search.found, Anchor{end - pattern.width, end});
  } catch (const std::bad_alloc&) {
    search.out_of_memory = true;
    return 1;
  }
  return 0;
}

}  // namespace

void Detectors::CloseDatabase::operator()(hs_database* database) const {
  hs_free_database(database);
}

Detectors::Detectors(Database database, const DetectorSet& wanted)
    : database_(std::move(database)), wanted_(wanted), id_(next_database_id()) {}

Result<std::shared_ptr<const Detectors>> Detectors::build(const DetectorSet& wanted) {
  if (hs_valid_platform() != HS_SUCCESS) {
    return fail(ErrorCode::Unavailable, "the detectors need a processor with SSE4.2");
  }
  std::vector<const char*> expressions;
  std::vector<unsigned> flags;
  std::vector<unsigned> ids;
  const auto patterns = anchor_patterns();
  for (unsigned id = 0; id < patterns.size(); ++id) {
    if (!wanted.test(index_of(patterns[id].detector))) continue;
    expressions.push_back(patterns[id].expression);
    flags.push_back(patterns[id].caseless ? HS_FLAG_CASELESS : 0);
    ids.push_back(id);
  }
  if (ids.empty()) return std::shared_ptr<const Detectors>(new Detectors(nullptr, wanted));
  hs_database_t* database = nullptr;
  hs_compile_error_t* error = nullptr;
  if (hs_compile_multi(expressions.data(), flags.data(), ids.data(),
                       static_cast<unsigned>(ids.size()), HS_MODE_BLOCK, nullptr, &database,
                       &error) != HS_SUCCESS) {
    std::string message = fmt::format("the detectors cannot be compiled: {}", error->message);
    hs_free_compile_error(error);
    return fail(ErrorCode::Internal, std::move(message));
  }
  return std::shared_ptr<const Detectors>(new Detectors(Database(database), wanted));
}

std::vector<Hit> Detectors::scan(std::string_view text, const DetectorSet& only) const {
  if (!may_match(text, only)) return {};
  Candidates found(text);
  if (database_) search(found, only);
  if ((wanted_ & only).test(index_of(Detector::HighEntropy))) check_high_entropy(found);
  return std::move(found).settle();
}

void Detectors::search(Candidates& found, const DetectorSet& only) const {
  const std::string_view text = found.text();
  if (text.size() > std::numeric_limits<unsigned>::max()) {
    throw std::runtime_error("a text of 4 GiB or more cannot be scanned");
  }
  Search search{found, only};
  const hs_error_t outcome =
      hs_scan(database_.get(), text.data(), static_cast<unsigned>(text.size()), 0,
              scratch_for(database_.get(), id_), on_anchor, &search);
  if (search.out_of_memory) throw std::bad_alloc();
  if (outcome != HS_SUCCESS) {
    throw std::runtime_error(fmt::format("the pattern search failed with code {}", outcome));
  }
}

}  // namespace sallyport::guards
