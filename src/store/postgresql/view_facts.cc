#include <map>

#include "base/try.h"
#include "store/postgresql/view.h"

namespace sallyport::store::postgresql {

Result<std::optional<std::string>> View::fact(std::string_view space, std::string_view key) {
  const Key name(space, key);
  if (const auto found = facts_.find(name); found != facts_.end()) return found->second;
  if (const auto found = known_facts_.find(name); found != known_facts_.end()) return found->second;
  SALLYPORT_TRY(const postgresql::Rows rows,
                ask("SELECT value FROM facts WHERE log = $1::int8 AND space = $2::bytea AND key = "
                    "$3::bytea",
                    {number(log_), bytes(space), bytes(key)}));
  std::optional<std::string> value;
  if (rows.size() > 0) value = std::string(rows.bytes(0, 0));
  known_facts_[name] = value;
  return value;
}

Result<std::vector<core::Fact>> View::facts(std::string_view space) {
  SALLYPORT_TRY(const postgresql::Rows rows,
                ask("SELECT key, value FROM facts WHERE log = $1::int8 AND space = $2::bytea "
                    "ORDER BY key",
                    {number(log_), bytes(space)}));
  std::map<std::string, std::string> found;
  for (int row = 0; row < rows.size(); ++row) {
    found.emplace(rows.bytes(row, 0), rows.bytes(row, 1));
  }
  for (const auto& [name, value] : facts_) {
    if (name.first != space) continue;
    found.erase(name.second);
    if (value) found.emplace(name.second, *value);
  }
  std::vector<core::Fact> out;
  for (auto& [key, value] : found) out.push_back({std::string(space), key, std::move(value)});
  return out;
}

void View::put_wanted(const std::vector<core::FactKey>& facts) {
  Values spaces;
  Values keys;
  for (const core::FactKey& key : facts) {
    spaces.emplace_back(key.space);
    keys.emplace_back(key.key);
  }
  link_.put(
      "SELECT f.space, f.key, f.value FROM unnest($2::bytea[], $3::bytea[]) w(space, key) JOIN "
      "facts f ON f.log = $1::int8 AND f.space = w.space AND f.key = w.key",
      {number(log_), byte_strings(spaces), byte_strings(keys)});
}

void View::take_wanted(const std::vector<core::FactKey>& facts, const postgresql::Rows& rows) {
  for (const core::FactKey& key : facts) known_facts_[{key.space, key.key}] = std::nullopt;
  for (int row = 0; row < rows.size(); ++row) {
    known_facts_[{std::string(rows.bytes(row, 0)), std::string(rows.bytes(row, 1))}] =
        std::string(rows.bytes(row, 2));
  }
}

}  // namespace sallyport::store::postgresql
