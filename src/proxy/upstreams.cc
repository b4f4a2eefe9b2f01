#include "proxy/upstreams.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "base/try.h"
#include "core/plan/model_rules.h"

namespace sallyport::proxy {

namespace {

constexpr std::size_t kFailures = 5;
constexpr std::chrono::seconds kWithin{30};
constexpr std::chrono::seconds kOpen{15};
constexpr std::size_t kLongestKey = 8'192;

std::string trimmed(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) {
    text.pop_back();
  }
  return text;
}

Result<std::string> key_in(const std::filesystem::path& file) {
  struct stat state{};
  if (stat(file.c_str(), &state) != 0) {
    return fail(ErrorCode::Unavailable,
                fmt::format("key file `{}` cannot be read; check `key_file`", file.string()));
  }
  if ((state.st_mode & 077) != 0) {
    return fail(ErrorCode::Unavailable,
                fmt::format("key file `{}` is open to others; run `chmod 600 {}`", file.string(),
                            file.string()));
  }
  std::ifstream in(file, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  text = trimmed(std::move(text));
  if (!in || text.empty() || text.size() > kLongestKey) {
    return fail(ErrorCode::Unavailable, fmt::format("key file `{}` holds no key", file.string()));
  }
  return text;
}

Result<std::string> key_in_variable(const Variable& variable, const std::string& name) {
  const std::string text = trimmed(variable(name).value_or(""));
  if (!text.empty() && text.size() <= kLongestKey) return text;
  return fail(ErrorCode::Unavailable,
              fmt::format("variable `{}` holds no key; set it before `sallyport serve`", name));
}

}  // namespace

bool Circuit::is_open() const {
  return open_until_ && clock_.steady() < *open_until_;
}

std::expected<Circuit::Attempt, std::chrono::seconds> Circuit::allow() {
  if (!open_until_) return Attempt{};
  const auto left = *open_until_ - clock_.steady();
  if (left > left.zero()) {
    return std::unexpected(std::chrono::ceil<std::chrono::seconds>(left));
  }
  if (!test_.expired()) return std::unexpected(std::chrono::seconds(1));
  Attempt attempt{.test = std::make_shared<const bool>(true)};
  test_ = attempt.test;
  return attempt;
}

void Circuit::failed() {
  const SteadyTime now = clock_.steady();
  failures_.push_back(now);
  while (failures_.size() > kFailures) failures_.pop_front();
  const bool tested = !test_.expired();
  test_.reset();
  const bool many = failures_.size() == kFailures && now - failures_.front() <= kWithin;
  if (tested || many) open_until_ = now + kOpen;
}

void Circuit::begun() {
  open_until_.reset();
  test_.reset();
}

void Circuit::worked() {
  failures_.clear();
  open_until_.reset();
  test_.reset();
}

Result<std::shared_ptr<ModelUpstream>> ModelUpstream::open(boost::asio::any_io_executor executor,
                                                           UpstreamSettings settings,
                                                           const Clock& clock, Variable variable) {
  SALLYPORT_TRY(net::Url url, net::Url::parse(settings.url));
  net::HttpClient::Settings client{.url = url,
                                   .allow_plain = settings.allow_http,
                                   .follow_redirects = false,
                                   .ca_file = settings.ca_file.string()};
  client.limits.connections = 16'384;
  client.limits.idle_connections = 1'024;
  SALLYPORT_TRY(std::unique_ptr<net::HttpClient> opened,
                net::HttpClient::open(std::move(executor), std::move(client)));
  return std::shared_ptr<ModelUpstream>(new ModelUpstream(
      std::move(settings), std::move(url), std::move(opened), clock, std::move(variable)));
}

bool ModelUpstream::serves(const std::string& model) const {
  if (settings_.rename.contains(model)) return true;
  return std::ranges::any_of(settings_.models, [&](const std::string& wildcard) {
    return core::model_matches(wildcard, model);
  });
}

std::string ModelUpstream::renamed(const std::string& model) const {
  const auto found = settings_.rename.find(model);
  return found == settings_.rename.end() ? model : found->second;
}

Result<std::string> ModelUpstream::key() const {
  switch (settings_.key) {
    case UpstreamSettings::Key::Env:
      return key_in_variable(variable_, settings_.key_env);
    case UpstreamSettings::Key::File:
      return key_in(settings_.key_file);
    case UpstreamSettings::Key::None:
    case UpstreamSettings::Key::Client:
      break;
  }
  return std::string();
}

std::string ModelUpstream::target(std::string_view path, std::string_view query) const {
  std::string_view base = url_.target;
  base = base.substr(0, base.find('?'));
  while (base.ends_with('/')) base.remove_suffix(1);
  std::string target = fmt::format("{}{}", base, path);
  if (!query.empty()) target.append("?").append(query);
  return target;
}

Result<UpstreamList> open_upstreams(boost::asio::any_io_executor executor, const Settings& settings,
                                    const Clock& clock, const Variable& variable) {
  UpstreamList list;
  for (const UpstreamSettings& upstream_settings : settings.upstreams) {
    SALLYPORT_TRY(std::shared_ptr<ModelUpstream> upstream,
                  ModelUpstream::open(executor, upstream_settings, clock, variable));
    list.push_back(std::move(upstream));
  }
  return list;
}

}  // namespace sallyport::proxy
