#include "store/postgresql/postgresql_store.h"

#include <fmt/format.h>

#include <optional>
#include <thread>
#include <vector>

#include "base/loop_crew.h"
#include "base/mutex.h"
#include "base/try.h"
#include "store/postgresql/engine_check.h"
#include "store/postgresql/leases.h"
#include "store/postgresql/link.h"
#include "store/postgresql/reader_pool.h"
#include "store/postgresql/tables.h"
#include "store/postgresql/view.h"

namespace sallyport::store {

using ledger::ledger_unavailable;
using postgresql::Link;
using postgresql::ReaderPool;
using postgresql::View;
using Steady = std::chrono::steady_clock;

namespace {

constexpr auto kLongestLook = std::chrono::minutes(1);
constexpr auto kPatienceToHelp = std::chrono::milliseconds(500);
// How often a process checks for facts that were changed without the log.
constexpr auto kLookEvery = std::chrono::minutes(1);

std::unexpected<Error> too_many_waits() {
  return ledger_unavailable("busy", "too many calls wait for the database, which does not answer");
}

}  // namespace

struct PostgresqlStore::State {
  Options options;
  std::uint64_t log = 0;
  int newer_schema = 0;  // zero: ours
  std::string place;
  std::string unverified_host;
  std::string identity;  // of the database that was opened first; empty: unknown
  std::shared_ptr<const KeyedDigest> secret;  // of the seals; set before the first read

  Mutex writing;  // one write transaction at a time in this process
  std::unique_ptr<Link> writer SALLYPORT_GUARDED_BY(writing);
  // A commit without an answer.
  std::optional<View::Mark> doubt SALLYPORT_GUARDED_BY(writing);
  std::uint64_t earlier_trips SALLYPORT_GUARDED_BY(writing) = 0;  // of connections that are gone
  std::optional<Steady::time_point> looked SALLYPORT_GUARDED_BY(writing);

  ReaderPool readers;

  explicit State(Options opened) : options(std::move(opened)), readers(reader_options()) {}

  // A reader holds no lock that others wait for, so it may pause between two queries.
  Link::Options reader_options() const {
    Link::Options out = link_options();
    out.hold = kLongestLook;
    return out;
  }
  Link::Options writer_options() const {
    Link::Options out = link_options();
    out.repeats = true;
    return out;
  }
  Link::Options link_options() const {
    return {.url = options.log.url,
            .plain_hosts = options.log.plain_hosts,
            .patience = options.log.lock_wait + std::chrono::seconds(1),
            .lock_wait = options.log.lock_wait,
            .hold = options.log.hold};
  }

  Result<void> may_write() const {
    if (newer_schema > 0) {
      return ledger_unavailable(
          "read_only", fmt::format("{} was written by a newer release (schema {}, this one knows "
                                   "{}); use that release to write",
                                   place, newer_schema, postgresql::kSchemaVersion));
    }
    if (!options.read_only) return {};
    return ledger_unavailable("read_only", place + " was opened for reading");
  }

  Result<void> have_writer() SALLYPORT_REQUIRES(writing) {
    if (writer && writer->still_there()) return {};
    if (writer) earlier_trips += writer->round_trips();
    writer.reset();
    SALLYPORT_TRY(std::unique_ptr<Link> link, Link::open(writer_options()));
    SALLYPORT_TRY(const std::string found, postgresql::system_identifier(*link));
    if (found != identity) {
      return ledger_unavailable(
          "corrupt", fmt::format("{} is now another database: its system identifier is {}, that of "
                                 "before was {}",
                                 place, found, identity));
    }
    writer = std::move(link);
    return {};
  }

  // After a failure that the server reported, on a connection that still works.
  void roll_back() SALLYPORT_REQUIRES(writing) {
    if (!writer || writer->broken()) return;
    writer->put("ROLLBACK");
    (void)writer->flush();
  }

  // Flushes a pipeline that takes the lock of the log. A holder that stalls in the middle of a
  // pipeline is ended, and this connection keeps its place in the queue (SC-17).
  Result<std::vector<postgresql::Rows>> flush_locking() SALLYPORT_REQUIRES(writing) {
    const auto deadline = Steady::now() + link_options().patience;
    SALLYPORT_TRY(const bool answers, writer->answers_within(options.log.hold));
    if (!answers) {
      // Best effort: if it fails, the wait ends at its deadline.
      Link::Options brief = link_options();
      brief.patience = std::min(brief.patience, kPatienceToHelp);
      if (const auto other = Link::open(brief)) {
        (void)View::end_silent_holder(**other, log, options.log.hold);
      }
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Steady::now());
    return writer->flush(std::max(left, std::chrono::milliseconds(1)));
  }

  // True: the commit happened, and every required standby has it, because the commit made now comes
  // after it in the write-ahead log.
  Result<bool> look_for(const View::Mark& mark) SALLYPORT_REQUIRES(writing) {
    SALLYPORT_CHECK_OK(have_writer());
    writer->put("BEGIN");
    View::put_lock(*writer, log);
    SALLYPORT_CHECK_OK(flush_locking());
    SALLYPORT_TRY(const bool found, View::holds(*writer, log, mark));
    View::put_nothing(*writer, log);
    writer->put("COMMIT");
    writer->take_warning();
    SALLYPORT_TRY(const std::vector<postgresql::Rows> answers, writer->flush());
    if (answers.back().done() != "COMMIT" || writer->take_warning()) {
      writer.reset();
      return ledger_unavailable("in_doubt", "a standby may lack what was committed");
    }
    return found;
  }

  // INVARIANT: while a commit is in doubt nothing else is written (SC-20).
  Result<bool> settle_doubt() SALLYPORT_REQUIRES(writing) {
    const auto deadline = Steady::now() + options.log.lock_wait;
    while (true) {
      Result<bool> found = look_for(*doubt);
      if (found) {
        doubt.reset();
        return found;
      }
      roll_back();
      if (Steady::now() >= deadline) {
        return ledger_unavailable("in_doubt", "it is not known whether the last commit happened: " +
                                                  found.error().message);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  }

  Result<void> commit(View& view) SALLYPORT_REQUIRES(writing) {
    const View::Mark mark = view.mark();
    // A transaction that leaves nothing is still written and synced, because a probe needs that.
    if (!view.put_all()) View::put_nothing(*writer, log);
    writer->put("COMMIT");
    writer->take_warning();
    Result<std::vector<postgresql::Rows>> done = writer->flush();
    if (done && done->back().done() == "COMMIT" && !writer->take_warning()) return {};
    // The server reported a refusal, so the transaction is undone.
    if (!done && !writer->broken()) {
      roll_back();
      return std::unexpected(done.error());
    }
    writer.reset();
    doubt = mark;
    SALLYPORT_TRY(const bool happened, settle_doubt());
    if (happened) return {};
    return ledger_unavailable("io", "the connection broke before the commit; nothing was written");
  }

  Result<void> transact(const Work& work, const Manner& manner) SALLYPORT_REQUIRES(writing) {
    if (doubt) SALLYPORT_CHECK_OK(settle_doubt());
    SALLYPORT_CHECK_OK(have_writer());
    View view(*writer, log, secret.get());
    const Wants wants = manner.wants ? manner.wants() : Wants{.known = INT64_MAX};
    view.put_begin(wants);
    const Result<std::vector<postgresql::Rows>> begun = flush_locking();
    if (begun) view.take_begin(wants, *begun);
    Result<void> done = begun ? work(view) : std::unexpected(begun.error());
    if (done) return commit(view);
    roll_back();
    return done;
  }

  Result<void> prepare() SALLYPORT_REQUIRES(writing) {
    SALLYPORT_TRY(writer, Link::open(writer_options()));
    place = fmt::format("the log `{}` of the database {}", options.log.name, writer->place());
    if (!writer->is_verified()) unverified_host = writer->remote_host();
    SALLYPORT_TRY(identity, postgresql::system_identifier(*writer));
    SALLYPORT_TRY(int version, postgresql::schema_version(*writer));
    if (!options.read_only) {
      SALLYPORT_TRY(const std::unique_ptr<Link> second, Link::open(link_options()));
      SALLYPORT_CHECK_OK(postgresql::check_engine(*writer, *second, options.log.replicas));
      if (version == 0) {
        SALLYPORT_CHECK_OK(postgresql::make_tables(*writer));
        version = postgresql::kSchemaVersion;
      }
    }
    if (version == 0) return fail(ErrorCode::NotFound, "the database holds no ledger yet", place);
    if (version > postgresql::kSchemaVersion) newer_schema = version;
    const bool makes = !options.read_only && newer_schema == 0;
    SALLYPORT_TRY(log, postgresql::number_of_log(*writer, options.log.name, makes));
    return {};
  }
};

PostgresqlStore::PostgresqlStore(std::unique_ptr<State> state) : state_(std::move(state)) {}
PostgresqlStore::~PostgresqlStore() = default;

Result<std::unique_ptr<PostgresqlStore>> PostgresqlStore::open(Options options) {
  auto state = std::make_unique<State>(std::move(options));
  state->writing.assert_held();  // no other thread knows it yet
  SALLYPORT_CHECK_OK(state->prepare());
  return std::unique_ptr<PostgresqlStore>(new PostgresqlStore(std::move(state)));
}

Result<void> PostgresqlStore::write(const Work& work, Manner manner) {
  const Aside aside;
  if (!aside.may_wait()) return too_many_waits();
  if (manner.waits_for_writers) {
    state_->writing.lock();
  } else if (!state_->writing.try_lock()) {
    return ledger_unavailable("busy", "another thread is writing");
  }
  const MutexLock lock(state_->writing, std::adopt_lock);
  SALLYPORT_CHECK_OK(state_->may_write());
  return state_->transact(work, manner);
}

Result<void> PostgresqlStore::read(const Look& look) {
  return read(look, {});
}

Result<void> PostgresqlStore::read(const Look& look, const std::vector<core::FactKey>& facts) {
  const Aside aside;
  if (!aside.may_wait()) return too_many_waits();
  SALLYPORT_TRY(const ReaderPool::Reader reader, state_->readers.take());
  View view(*reader, state_->log, state_->secret.get());
  Result<void> done = facts.empty() ? Result<void>{} : view.begin_reading(facts);
  if (done) done = look(view);
  if (reader->broken()) {
    if (!done) state_->readers.note_failure(done.error());
    return done;
  }
  reader->put("ROLLBACK");
  (void)reader->send();  // the next reader finds the answer, or the connection broken
  return done;
}

Result<void> PostgresqlStore::add_block_index(const ledger::BlockIndex& index,
                                              std::string_view seal) {
  SALLYPORT_CHECK_OK(state_->may_write());
  const Aside aside;
  if (!aside.may_wait()) return too_many_waits();
  SALLYPORT_TRY(const ReaderPool::Reader link, state_->readers.take());
  View::put_block(*link, state_->log, index, seal);
  SALLYPORT_CHECK_OK(link->flush());
  return {};
}

Result<bool> PostgresqlStore::changed_elsewhere() {
  if (state_->options.read_only) return false;
  const MutexLock lock(state_->writing);
  const auto now = Steady::now();
  if (state_->looked && now - *state_->looked < kLookEvery) return false;
  state_->looked = now;
  return true;
}

void PostgresqlStore::check_seals_with(std::shared_ptr<const KeyedDigest> secret) {
  state_->secret = std::move(secret);
}

// A trigger or rule of another program would change what we write.
Result<void> PostgresqlStore::check_files() {
  SALLYPORT_TRY(const ReaderPool::Reader reader, state_->readers.take());
  SALLYPORT_TRY(
      const postgresql::Rows rows,
      reader->ask(
          "SELECT t.tgname FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid JOIN "
          "pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'sallyport' UNION ALL "
          "SELECT rulename FROM pg_rules WHERE schemaname = 'sallyport'"));
  if (rows.size() == 0) return {};
  return ledger_unavailable(
      "corrupt", fmt::format("`{}` in {} is not of this program; find out who made it, and remove "
                             "it",
                             rows.bytes(0, 0), state_->place));
}

bool PostgresqlStore::is_newer() const {
  return state_->newer_schema > 0;
}

std::string PostgresqlStore::name() const {
  return state_->place;
}

std::string PostgresqlStore::identity() const {
  return state_->identity;
}

std::string PostgresqlStore::unverified_host() const {
  return state_->unverified_host;
}

Result<std::string> PostgresqlStore::condition() {
  SALLYPORT_TRY(const ReaderPool::Reader reader, state_->readers.take());
  SALLYPORT_TRY(const std::unique_ptr<Link> second, Link::open(state_->reader_options()));
  SALLYPORT_CHECK_OK(postgresql::check_engine(*reader, *second, state_->options.log.replicas));
  SALLYPORT_TRY(
      const postgresql::Rows rows,
      reader->ask("SELECT current_setting('server_version'), (SELECT count(*) FROM beats WHERE log "
                  "= $1::int8), has_table_privilege('commits', 'DELETE') OR "
                  "has_table_privilege('entries', 'DELETE')",
                  {postgresql::number(state_->log)}));
  if (rows.number(0, 2) != 0) {
    return fail(ErrorCode::Conflict,
                fmt::format("the role of this gateway may delete rows of {}; make the tables with "
                            "`sallyport ledger tables` under a role of their own",
                            state_->place));
  }
  return fmt::format("{}, PostgreSQL {}, {} gateways{}", state_->place, rows.bytes(0, 0),
                     rows.number(0, 1),
                     reader->remote_host().empty() ? ""
                     : reader->is_verified()       ? ", verified TLS"
                                                   : ", without verified TLS");
}

std::uint64_t PostgresqlStore::round_trips() const {
  const MutexLock lock(state_->writing);
  return state_->earlier_trips + (state_->writer ? state_->writer->round_trips() : 0);
}

Result<std::unique_ptr<ledger::Membership>> PostgresqlStore::join(const ledger::Joining& joining) {
  SALLYPORT_CHECK_OK(state_->may_write());
  Link::Options options = state_->link_options();
  static const SystemClock own;
  const Clock* const given = state_->options.clock;
  return postgresql::Leases::join(std::move(options), state_->log, state_->options.log, joining,
                                  given == nullptr ? own : *given);
}

}  // namespace sallyport::store
