// One connection to PostgreSQL in pipeline mode, and its prepared statements. Statements are put
// into the pipeline and sent together; no wait is without a deadline. Belongs to one thread at a
// time.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sallyport/result.h"
#include "store/postgresql/libpq.h"

namespace sallyport::store::postgresql {

using Deadline = std::chrono::steady_clock::time_point;
using Values = std::vector<std::optional<std::string>>;

// A parameter in PostgreSQL's binary form; nothing is NULL.
using Param = std::optional<std::string>;
Param number(std::uint64_t value);   // int8
Param small(int value);              // int2
Param bytes(std::string_view text);  // bytea, text or uuid
Param numbers(const std::vector<std::uint64_t>& values);
Param smalls(const std::vector<int>& values);
Param byte_strings(const Values& values);  // bytea[]
Param ids(const Values& values);           // uuid[]

// The rows of one statement.
class Rows {
 public:
  explicit Rows(PGresult* result) : result_(result) {}
  int size() const { return pq->PQntuples(result_.get()); }
  std::int64_t number(int row, int column) const;  // of int2, int4, int8 and boolean
  std::string_view bytes(int row, int column) const;
  bool is_null(int row, int column) const {
    return pq->PQgetisnull(result_.get(), row, column) != 0;
  }
  std::string_view done() const { return pq->PQcmdStatus(result_.get()); }  // such as `COMMIT`
  int affected() const;

 private:
  struct Clear {
    void operator()(PGresult* result) const { pq->PQclear(result); }
  };
  std::unique_ptr<PGresult, Clear> result_;
};

class Link {
 public:
  struct Options {
    std::string url;
    std::set<std::string> plain_hosts{};
    std::chrono::milliseconds patience{5000};  // for an answer
    std::chrono::milliseconds lock_wait{5000};
    std::chrono::milliseconds hold{2000};
    // Plans each statement once. Only for statements whose best plan is the same for all values.
    bool repeats = false;
    std::string application = "sallyport";
  };

  static Result<std::unique_ptr<Link>> open(const Options& options);
  ~Link();
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  // Puts a statement into the pipeline. The same pointer gives the same prepared statement.
  void put(const char* sql, std::vector<Param> params = {});
  // Sends the pipeline and does not wait for the answers. The next `flush` reads these answers
  // first and drops them; if one of them is an error, the connection is broken.
  Result<void> send();
  // Sends the pipeline and waits for all answers. Returns the first error, after everything that
  // belongs to it was read.
  Result<std::vector<Rows>> flush(std::chrono::milliseconds patience);
  Result<std::vector<Rows>> flush() { return flush(options_.patience); }
  // Sends the pipeline, for a later `flush`. False: no answer began to arrive within this time.
  Result<bool> answers_within(std::chrono::milliseconds time);
  Result<Rows> ask(const char* sql, std::vector<Param> params = {});
  // Several statements at once, without parameters.
  Result<void> run(const std::string& sql);

  // True: the link cannot be used any more; the last statements may or may not have been executed.
  bool broken() const { return broken_ || pq->PQstatus(link_.get()) != CONNECTION_OK; }
  // False: the server has closed the link while it was idle. Input is taken twice: the first time
  // may only find what the server sent before it closed.
  bool still_there() { return takes_input() && takes_input() && !broken(); }
  // True if the server warned since the last call, for example that a standby may lack a commit.
  bool take_warning() { return std::exchange(warned_, false); }
  std::uint64_t round_trips() const { return round_trips_; }
  int backend() const { return pq->PQbackendPID(link_.get()); }
  // The address without user and password, and the host if it is not this machine.
  std::string place() const;
  std::string remote_host() const;
  bool is_verified() const;  // TLS, and the host's name was checked

 private:
  struct Sent {
    const char* sql;
    bool prepares;
  };
  struct Finish {
    void operator()(PGconn* link) const { pq->PQfinish(link); }
  };
  explicit Link(Options options, PGconn* link) : options_(std::move(options)), link_(link) {}
  Result<void> connect(Deadline deadline);
  Result<void> check_host() const;
  Result<void> set_up();
  Result<void> wait(bool writes, Deadline deadline);
  Result<PGresult*> next_result(Deadline deadline);
  Result<void> send_all(Deadline deadline);
  Result<void> end_pipeline(Deadline deadline);
  Result<std::vector<Rows>> take_answers(const std::deque<Sent>& sent, Deadline deadline);
  std::unexpected<Error> failure(const PGresult* result, std::string_view doing);
  std::unexpected<Error> lost(std::string_view why);
  std::string option(const char* keyword) const;
  bool takes_input() { return pq->PQconsumeInput(link_.get()) == 1; }
  static void on_notice(void* self, const PGresult* notice);

  Options options_;
  std::unique_ptr<PGconn, Finish> link_;
  std::deque<Sent> sent_;
  std::deque<Sent> sent_before_;              // by `send`, with answers that are not read yet
  std::map<const char*, std::string> names_;  // of statements that were prepared, or are being
  std::uint64_t round_trips_ = 0;
  bool on_the_way_ = false;  // the pipeline has been sent already
  bool broken_ = false;
  bool warned_ = false;
};

}  // namespace sallyport::store::postgresql
