#include "rules/case_view.h"

#include <algorithm>
#include <deque>

#include "rules/paths.h"

namespace sallyport::rules {

namespace {

constexpr int kMostFollowed = 40;  // like the kernel

std::string joined(const std::vector<std::string>& segments) {
  return PathForm{.segments = segments}.text();
}

void push_front(std::deque<std::string>& rest, std::string_view path) {
  std::vector<std::string> parts;
  while (!path.empty()) {
    const std::string_view part = path.substr(0, path.find('/'));
    path.remove_prefix(std::min(path.size(), part.size() + 1));
    if (!part.empty() && part != ".") parts.emplace_back(part);
  }
  rest.insert(rest.begin(), parts.begin(), parts.end());
}

}  // namespace

CaseView::CaseView(const std::vector<std::string>& files, std::map<std::string, std::string> links)
    : links_(std::move(links)) {
  const auto add = [&](const std::string& path) {
    std::vector<std::string> segments = PathForm::of(path).segments;
    while (!segments.empty()) {
      std::string name = std::move(segments.back());
      segments.pop_back();
      names_[joined(segments)].insert(std::move(name));
    }
  };
  for (const std::string& file : files) add(file);
  for (const auto& [path, target] : links_) add(path);
}

std::optional<std::vector<std::string>> CaseView::names(const std::string& folder,
                                                        std::size_t most) const {
  const std::optional<std::string> real = resolve(folder);
  const auto found = real ? names_.find(*real) : names_.end();
  if (found == names_.end() || found->second.size() > most) return std::nullopt;
  return std::vector<std::string>(found->second.begin(), found->second.end());
}

std::optional<std::string> CaseView::resolve(const std::string& path) const {
  std::vector<std::string> done;
  std::deque<std::string> rest;
  push_front(rest, path);
  int followed = 0;
  while (!rest.empty()) {
    std::string segment = std::move(rest.front());
    rest.pop_front();
    if (segment == "..") {
      if (!done.empty()) done.pop_back();
      continue;
    }
    done.push_back(std::move(segment));
    if (has_magic_link(done)) return std::nullopt;
    const auto link = links_.find(joined(done));
    if (link == links_.end()) continue;
    if (++followed > kMostFollowed) return std::nullopt;
    done.pop_back();
    if (link->second.starts_with('/')) done.clear();
    push_front(rest, link->second);
  }
  return joined(done);
}

}  // namespace sallyport::rules
