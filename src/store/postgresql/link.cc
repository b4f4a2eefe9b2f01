#include "store/postgresql/link.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <charconv>

#include "base/try.h"
#include "ledger/store.h"
#include "store/postgresql/sql_state.h"

namespace sallyport::store::postgresql {

using ledger::ledger_unavailable;
using Steady = std::chrono::steady_clock;

namespace {

constexpr int kBinary = 1;

template <class Number>
std::string big_endian(Number value) {
  std::string out(sizeof(Number), '\0');
  for (std::size_t i = sizeof(Number); i-- > 0; value >>= 8) out[i] = static_cast<char>(value);
  return out;
}

// One dimension, as the protocol has it: dimensions, has nulls, type, length, lower bound, items.
Param array_of(std::uint32_t type, const Values& items) {
  const bool has_nulls = std::ranges::any_of(items, [](const auto& item) { return !item; });
  std::string out = big_endian<std::uint32_t>(items.empty() ? 0 : 1) +
                    big_endian<std::uint32_t>(has_nulls ? 1 : 0) + big_endian(type);
  if (items.empty()) return out;
  out += big_endian(static_cast<std::uint32_t>(items.size())) + big_endian<std::uint32_t>(1);
  for (const std::optional<std::string>& item : items) {
    out += big_endian(item ? static_cast<std::uint32_t>(item->size()) : UINT32_MAX);
    if (item) out += *item;
  }
  return out;
}

// The first line is the message; later lines may quote rows.
std::string first_line(const char* text) {
  std::string_view line(text == nullptr ? "" : text);
  line = line.substr(0, line.find('\n'));
  return std::string(line.substr(0, 300));
}

bool is_this_machine(std::string_view host) {
  return host.empty() || host.starts_with('/') || host.starts_with('@') || host == "localhost" ||
         host == "127.0.0.1" || host == "::1";
}

}  // namespace

Param number(std::uint64_t value) {
  return big_endian(value);
}

Param small(int value) {
  return big_endian(static_cast<std::uint16_t>(value));
}

Param bytes(std::string_view text) {
  return std::string(text);
}

Param numbers(const std::vector<std::uint64_t>& values) {
  constexpr std::uint32_t kInt8 = 20;
  Values items;
  for (const std::uint64_t value : values) items.push_back(big_endian(value));
  return array_of(kInt8, items);
}

Param smalls(const std::vector<int>& values) {
  constexpr std::uint32_t kInt2 = 21;
  Values items;
  for (const int value : values) items.push_back(big_endian(static_cast<std::uint16_t>(value)));
  return array_of(kInt2, items);
}

Param byte_strings(const Values& values) {
  constexpr std::uint32_t kBytea = 17;
  return array_of(kBytea, values);
}

Param ids(const Values& values) {
  constexpr std::uint32_t kUuid = 2950;
  return array_of(kUuid, values);
}

std::int64_t Rows::number(int row, int column) const {
  const std::string_view raw = bytes(row, column);
  std::uint64_t value = !raw.empty() && (raw[0] & 0x80) != 0 ? UINT64_MAX : 0;
  for (const char c : raw) value = value << 8 | static_cast<std::uint8_t>(c);
  return static_cast<std::int64_t>(value);
}

std::string_view Rows::bytes(int row, int column) const {
  return {pq->PQgetvalue(result_.get(), row, column),
          static_cast<std::size_t>(pq->PQgetlength(result_.get(), row, column))};
}

int Rows::affected() const {
  const std::string_view text = pq->PQcmdTuples(result_.get());
  int count = 0;
  std::from_chars(text.data(), text.data() + text.size(), count);
  return count;
}

Link::~Link() = default;

Result<std::unique_ptr<Link>> Link::open(const Options& options) {
  SALLYPORT_CHECK_OK(load_libpq());
  const char* const keywords[] = {"dbname", "application_name", "client_encoding",
                                  "tcp_user_timeout", nullptr};
  const std::string give_up = std::to_string((options.patience + options.hold).count());
  const char* const values[] = {options.url.c_str(), options.application.c_str(), "UTF8",
                                give_up.c_str(), nullptr};
  std::unique_ptr<Link> link(new Link(options, pq->PQconnectStartParams(keywords, values, 1)));
  if (!link->link_) return ledger_unavailable("io", "there is no memory for a connection");
  if (pq->PQstatus(link->link_.get()) == CONNECTION_BAD) return link->lost("connecting");
  SALLYPORT_CHECK_OK(link->check_host());
  pq->PQsetNoticeReceiver(link->link_.get(), &on_notice, link.get());
  SALLYPORT_CHECK_OK(link->connect(Steady::now() + options.patience));
  SALLYPORT_CHECK_OK(link->set_up());
  return link;
}

std::string Link::option(const char* keyword) const {
  std::string found;
  PQconninfoOption* const options = pq->PQconninfo(link_.get());
  for (PQconninfoOption* each = options; each != nullptr && each->keyword != nullptr; ++each) {
    if (std::string_view(each->keyword) == keyword && each->val != nullptr) found = each->val;
  }
  pq->PQconninfoFree(options);
  return found;
}

// Called before anything is sent to the server (SC-9). The address may name several hosts.
Result<void> Link::check_host() const {
  if (option("sslmode") == "verify-full") return {};
  for (const std::string& named : {option("host"), option("hostaddr")}) {
    std::string_view rest = named;
    while (!rest.empty()) {
      const std::size_t comma = std::min(rest.find(','), rest.size());
      const std::string host(rest.substr(0, comma));
      rest.remove_prefix(std::min(comma + 1, rest.size()));
      if (is_this_machine(host) || options_.plain_hosts.contains(host)) continue;
      return fail(ErrorCode::InvalidInput,
                  fmt::format("the database is on `{}`: put sslmode=verify-full into the address, "
                              "or name the host under allow_plain_hosts",
                              host),
                  "ledger.store");
    }
  }
  return {};
}

std::string Link::remote_host() const {
  const char* const host = pq->PQhost(link_.get());
  return host == nullptr || is_this_machine(host) ? "" : host;
}

bool Link::is_verified() const {
  return option("sslmode") == "verify-full" && pq->PQsslInUse(link_.get()) != 0;
}

std::string Link::place() const {
  const char* const host = pq->PQhost(link_.get());
  return fmt::format("{} at {}:{}", option("dbname"), host == nullptr ? "" : host, option("port"));
}

Result<void> Link::connect(Deadline deadline) {
  PostgresPollingStatusType step = PGRES_POLLING_WRITING;
  while (step != PGRES_POLLING_OK) {
    if (step == PGRES_POLLING_FAILED) return lost("connecting");
    pollfd waits{pq->PQsocket(link_.get()),
                 static_cast<short>(step == PGRES_POLLING_READING ? POLLIN : POLLOUT), 0};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Steady::now());
    if (left.count() <= 0 || ::poll(&waits, 1, static_cast<int>(left.count())) == 0) {
      broken_ = true;
      return ledger_unavailable("io", "the database does not answer");
    }
    step = pq->PQconnectPoll(link_.get());
  }
  return {};
}

Result<void> Link::set_up() {
  if (pq->PQsetnonblocking(link_.get(), 1) != 0 || pq->PQenterPipelineMode(link_.get()) != 1) {
    return lost("pipeline");
  }
  for (const std::string& setting :
       {std::string("SET search_path = sallyport"), std::string("SET synchronous_commit = on"),
        std::string("SET default_transaction_isolation = 'read committed'"),
        fmt::format("SET plan_cache_mode = {}", options_.repeats ? "force_generic_plan" : "auto"),
        fmt::format("SET lock_timeout = {}", options_.lock_wait.count()),
        fmt::format("SET idle_in_transaction_session_timeout = {}", options_.hold.count())}) {
    pq->PQsendQueryParams(link_.get(), setting.c_str(), 0, nullptr, nullptr, nullptr, nullptr,
                          kBinary);
    sent_.push_back({nullptr, false});
  }
  SALLYPORT_CHECK_OK(flush(options_.patience));
  return {};
}

Result<void> Link::run(const std::string& sql) {
  // The extended protocol takes one statement at a time.
  pq->PQsetnonblocking(link_.get(), 0);
  if (pq->PQexitPipelineMode(link_.get()) != 1) return lost("pipeline");
  PGresult* const result = pq->PQexec(link_.get(), sql.c_str());
  Result<void> done;
  if (pq->PQresultStatus(result) != PGRES_COMMAND_OK &&
      pq->PQresultStatus(result) != PGRES_TUPLES_OK) {
    done = failure(result, sql);
  }
  pq->PQclear(result);
  if (pq->PQsetnonblocking(link_.get(), 1) != 0 || pq->PQenterPipelineMode(link_.get()) != 1) {
    return lost("pipeline");
  }
  return done;
}

void Link::put(const char* sql, std::vector<Param> params) {
  auto [name, is_new] = names_.try_emplace(sql);
  if (is_new) {
    name->second = fmt::format("s{}", names_.size());
    pq->PQsendPrepare(link_.get(), name->second.c_str(), sql, 0, nullptr);
    sent_.push_back({sql, true});
  }
  std::vector<const char*> values;
  std::vector<int> lengths;
  for (const Param& param : params) {
    values.push_back(param ? param->data() : nullptr);
    lengths.push_back(param ? static_cast<int>(param->size()) : 0);
  }
  const std::vector<int> formats(params.size(), kBinary);
  pq->PQsendQueryPrepared(link_.get(), name->second.c_str(), static_cast<int>(params.size()),
                          values.data(), lengths.data(), formats.data(), kBinary);
  sent_.push_back({sql, false});
}

Result<void> Link::wait(bool writes, Deadline deadline) {
  pollfd waits{pq->PQsocket(link_.get()), static_cast<short>(writes ? POLLIN | POLLOUT : POLLIN),
               0};
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Steady::now());
  if (left.count() <= 0 || ::poll(&waits, 1, static_cast<int>(left.count())) == 0) {
    broken_ = true;
    return ledger_unavailable("io", "the database does not answer");
  }
  if ((waits.revents & (POLLIN | POLLERR | POLLHUP)) != 0 && pq->PQconsumeInput(link_.get()) != 1) {
    return lost("reading");
  }
  return {};
}

Result<void> Link::send_all(Deadline deadline) {
  while (true) {
    const int left = pq->PQflush(link_.get());
    if (left == 0) return {};
    if (left < 0) return lost("sending");
    SALLYPORT_CHECK_OK(wait(true, deadline));
  }
}

Result<PGresult*> Link::next_result(Deadline deadline) {
  while (pq->PQisBusy(link_.get()) != 0) SALLYPORT_CHECK_OK(wait(false, deadline));
  return pq->PQgetResult(link_.get());
}

Result<void> Link::end_pipeline(Deadline deadline) {
  if (broken() || pq->PQpipelineSync(link_.get()) != 1) return lost("sending");
  ++round_trips_;
  return send_all(deadline);
}

Result<bool> Link::answers_within(std::chrono::milliseconds time) {
  on_the_way_ = true;
  SALLYPORT_CHECK_OK(end_pipeline(Steady::now() + options_.patience));
  pollfd waits{pq->PQsocket(link_.get()), POLLIN, 0};
  return ::poll(&waits, 1, static_cast<int>(time.count())) != 0;
}

Result<void> Link::send() {
  if (!sent_before_.empty()) {
    SALLYPORT_CHECK_OK(flush());
    return {};
  }
  SALLYPORT_CHECK_OK(end_pipeline(Steady::now() + options_.patience));
  sent_before_ = std::exchange(sent_, {});
  return {};
}

Result<std::vector<Rows>> Link::flush(std::chrono::milliseconds patience) {
  const Deadline deadline = Steady::now() + patience;
  const std::deque<Sent> before = std::exchange(sent_before_, {});
  const std::deque<Sent> sent = std::exchange(sent_, {});
  if (!std::exchange(on_the_way_, false)) SALLYPORT_CHECK_OK(end_pipeline(deadline));
  if (!before.empty()) {
    const auto dropped = take_answers(before, deadline);
    if (!dropped) {
      broken_ = true;
      return std::unexpected(dropped.error());
    }
  }
  return take_answers(sent, deadline);
}

Result<std::vector<Rows>> Link::take_answers(const std::deque<Sent>& sent, Deadline deadline) {
  std::vector<Rows> answers;
  std::optional<Error> first;
  for (const Sent& each : sent) {
    SALLYPORT_TRY(PGresult* const result, next_result(deadline));
    if (result == nullptr) return lost("reading");
    const ExecStatusType status = pq->PQresultStatus(result);
    const bool good = status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
    if (!good && each.prepares) names_.erase(each.sql);
    if (!good && !first && status != PGRES_PIPELINE_ABORTED) {
      first = failure(result, each.sql == nullptr ? "set" : each.sql).error();
    }
    if (good && !each.prepares) {
      answers.emplace_back(result);
    } else {
      pq->PQclear(result);
    }
    // The end of this statement's results.
    SALLYPORT_TRY(PGresult* const end, next_result(deadline));
    if (end != nullptr) pq->PQclear(end);
    if (pq->PQstatus(link_.get()) != CONNECTION_OK)
      return first ? std::unexpected(*first) : lost("it");
  }
  SALLYPORT_TRY(PGresult* const synced, next_result(deadline));
  const bool in_step = pq->PQresultStatus(synced) == PGRES_PIPELINE_SYNC;
  pq->PQclear(synced);
  if (!in_step) return first ? std::unexpected(*first) : lost("reading");
  if (first) return std::unexpected(*first);
  return answers;
}

Result<Rows> Link::ask(const char* sql, std::vector<Param> params) {
  put(sql, std::move(params));
  SALLYPORT_TRY(std::vector<Rows> answers, flush());
  return std::move(answers.back());
}

std::unexpected<Error> Link::failure(const PGresult* result, std::string_view doing) {
  const char* const state = pq->PQresultErrorField(result, PG_DIAG_SQLSTATE);
  const char* const severity = pq->PQresultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);
  const char* const text = pq->PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
  if (severity == nullptr || std::string_view(severity) != "ERROR") broken_ = true;
  if (state == nullptr) return lost(doing);
  return ledger_unavailable(
      cause_of(state), fmt::format("{} ({}) at `{:.60}` in the database", first_line(text), state,
                                   doing.substr(0, doing.find('\n'))));
}

std::unexpected<Error> Link::lost(std::string_view why) {
  broken_ = true;
  const std::string message = first_line(pq->PQerrorMessage(link_.get()));
  return ledger_unavailable(
      "io", fmt::format("the connection to the database is lost at {}: {}", why, message));
}

void Link::on_notice(void* self, const PGresult* notice) {
  const char* const severity = pq->PQresultErrorField(notice, PG_DIAG_SEVERITY_NONLOCALIZED);
  if (severity != nullptr && std::string_view(severity) == "WARNING") {
    static_cast<Link*>(self)->warned_ = true;
  }
}

}  // namespace sallyport::store::postgresql
