#include "guards/detect/detectors.h"

#include <fmt/format.h>
#include <hs/hs.h>

#include <cstdlib>
#include <limits>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/digest.h"
#include "base/encoding.h"
#include "base/guarded.h"
#include "base/try.h"
#include "guards/detect/anchor_patterns.h"
#include "guards/detect/entropy_check.h"
#include "guards/detect/pattern_scratch.h"
#include "guards/detect/short_text.h"

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

namespace {

struct Patterns {
  std::vector<const char*> expressions;
  std::vector<unsigned> flags;
  std::vector<unsigned> ids;

  // The digest of the patterns, the library and the processor.
  std::string digest() const {
    hs_platform_info_t platform{};
    hs_populate_platform(&platform);
    std::string text = fmt::format("{}|{}|{}", hs_version(), platform.tune, platform.cpu_features);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      text += fmt::format("|{}:{}:{}", ids[i], flags[i], expressions[i]);
    }
    return hex(sha256(text));
  }
};

hs_database_t* kept_database(const guardrails::PatternStore& store, const std::string& digest) {
  const std::optional<std::string> bytes = store.load(digest);
  hs_database_t* database = nullptr;
  if (!bytes || hs_deserialize_database(bytes->data(), bytes->size(), &database) != HS_SUCCESS) {
    return nullptr;
  }
  return database;
}

void keep_database(const guardrails::PatternStore& store, const std::string& digest,
                   const hs_database_t* database) {
  char* bytes = nullptr;
  std::size_t size = 0;
  if (hs_serialize_database(database, &bytes, &size) != HS_SUCCESS) return;
  store.keep(digest, {bytes, size});
  std::free(bytes);
}

}  // namespace

Result<std::shared_ptr<const Detectors>> Detectors::build(const DetectorSet& wanted,
                                                          const guardrails::PatternStore* store) {
  if (wanted != default_detectors()) return compile(wanted, store);
  // Every engine has these, and a policy is read again and again: a process compiles them once.
  static Guarded<std::shared_ptr<const Detectors>> defaults;
  return defaults.with([&](auto& made) -> Result<std::shared_ptr<const Detectors>> {
    if (!made) {
      SALLYPORT_TRY(made, compile(wanted, store));
    }
    return made;
  });
}

Result<std::shared_ptr<const Detectors>> Detectors::compile(const DetectorSet& wanted,
                                                            const guardrails::PatternStore* store) {
  if (hs_valid_platform() != HS_SUCCESS) {
    return fail(ErrorCode::Unavailable, "the detectors need a processor with SSE4.2");
  }
  Patterns compiled;
  const auto patterns = anchor_patterns();
  for (unsigned id = 0; id < patterns.size(); ++id) {
    if (!wanted.test(index_of(patterns[id].detector))) continue;
    compiled.expressions.push_back(patterns[id].expression);
    compiled.flags.push_back(patterns[id].caseless ? HS_FLAG_CASELESS : 0);
    compiled.ids.push_back(id);
  }
  const auto made = [&](hs_database_t* database) {
    return std::shared_ptr<const Detectors>(new Detectors(Database(database), wanted));
  };
  if (compiled.ids.empty()) return made(nullptr);
  const std::string digest = store ? compiled.digest() : std::string();
  if (hs_database_t* const kept = store ? kept_database(*store, digest) : nullptr)
    return made(kept);
  hs_database_t* database = nullptr;
  hs_compile_error_t* error = nullptr;
  if (hs_compile_multi(compiled.expressions.data(), compiled.flags.data(), compiled.ids.data(),
                       static_cast<unsigned>(compiled.ids.size()), HS_MODE_BLOCK, nullptr,
                       &database, &error) != HS_SUCCESS) {
    std::string message = fmt::format("the detectors cannot be compiled: {}", error->message);
    hs_free_compile_error(error);
    return fail(ErrorCode::Internal, std::move(message));
  }
  if (store) keep_database(*store, digest, database);
  return made(database);
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
