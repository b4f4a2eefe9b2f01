// Finds secrets, personal data and internal addresses in text (PI-52, PI-54).
//
//   auto detectors = Detectors::build();                     // tens of milliseconds, once
//   for (const Hit& hit : (*detectors)->scan("mail a@b.org"))
//     name_of(hit.detector);                                 // "email", bytes [5, 12)
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "guardrails/check/pattern_store.h"
#include "guards/detect/candidates.h"
#include "guards/detect/detector_table.h"
#include "sallyport/result.h"

struct hs_database;

namespace sallyport::guards {

// Immutable once built, and shared. Any thread may call every method at any time.
class Detectors final {
 public:
  // `Unavailable`: the processor lacks SSE4.2. `Internal`: the pattern library refused a pattern.
  // `store` caches the compiled patterns.
  static Result<std::shared_ptr<const Detectors>> build(
      const DetectorSet& wanted = default_detectors(),
      const guardrails::PatternStore* store = nullptr);

  // Reads the text once, in linear time, and returns matches in order and without overlap: the
  // longest wins, then the first in the table. Accepts any bytes. Throws `std::bad_alloc`, or
  // `std::runtime_error` if the text could not be read to its end and may not be clean. Never finds
  // `gcp_service_account`, which is a JSON shape.
  std::vector<Hit> scan(std::string_view text) const { return scan(text, wanted_); }

  // The same with only the detectors in `only`. Matches of others neither appear nor win.
  std::vector<Hit> scan(std::string_view text, const DetectorSet& only) const;

 private:
  struct CloseDatabase {
    void operator()(hs_database* database) const;
  };
  using Database = std::unique_ptr<hs_database, CloseDatabase>;

  Detectors(Database database, const DetectorSet& wanted);

  static Result<std::shared_ptr<const Detectors>> compile(const DetectorSet& wanted,
                                                          const guardrails::PatternStore* store);
  void search(Candidates& found, const DetectorSet& only) const;

  Database database_;
  DetectorSet wanted_;
  std::uint64_t id_;  // of this database in this process; threads find their scratch by it
};

}  // namespace sallyport::guards
