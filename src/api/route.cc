#include "api/route.h"

#include <algorithm>

namespace sallyport::api {

namespace {

using Names = std::map<std::string, std::string, std::less<>>;

std::vector<std::string_view> segments_of(std::string_view path) {
  std::vector<std::string_view> segments;
  while (!path.empty()) {
    const std::size_t slash = std::min(path.find('/'), path.size());
    segments.push_back(path.substr(0, slash));
    path.remove_prefix(std::min(path.size(), slash + 1));
  }
  return segments;
}

bool is_name(std::string_view segment) {
  return segment.starts_with('{');
}

// `{name...}` takes the rest of the path.
bool fits(std::string_view pattern, const std::vector<std::string_view>& path, Names& names,
          std::size_t& literals) {
  const std::vector<std::string_view> wanted = segments_of(pattern);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (i >= path.size() || path[i].empty()) return false;
    const std::string_view part = wanted[i];
    if (!is_name(part)) {
      if (part != path[i]) return false;
      ++literals;
      continue;
    }
    if (part.ends_with("...}")) {
      const char* const begin = path[i].data();
      const std::string_view last = path.back();
      names[std::string(part.substr(1, part.size() - 5))] =
          std::string(begin, last.data() + last.size());
      return true;
    }
    auto value = unescaped(path[i]);
    if (!value) return false;
    names[std::string(part.substr(1, part.size() - 2))] = std::move(*value);
  }
  return wanted.size() == path.size();
}

}  // namespace

// The pattern with the most literal segments wins: `approvals/stream` is not an id.
RouteTable::Match RouteTable::find(std::string_view method, std::string_view path) const {
  Match best;
  if (!path.starts_with(kRoot)) return best;
  path.remove_prefix(kRoot.size());
  if (path.starts_with('/')) path.remove_prefix(1);
  if (path.ends_with('/')) path.remove_suffix(1);
  const std::vector<std::string_view> segments = segments_of(path);
  const std::string_view as = method == "HEAD" ? "GET" : method;
  std::size_t most = 0;
  bool any = false;
  for (const Route& route : routes_) {
    Names names;
    std::size_t literals = 0;
    if (!fits(route.pattern, segments, names, literals)) continue;
    if (any && literals < most) continue;
    if (!any || literals > most) best = {};
    any = true;
    most = literals;
    best.allowed.push_back(route.method);
    if (route.method == "GET") best.allowed.emplace_back("HEAD");
    if (route.method != as) continue;
    best.route = &route;
    best.path = std::move(names);
  }
  return best;
}

}  // namespace sallyport::api
