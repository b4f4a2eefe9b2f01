// The functions of libpq that `Link` calls. libpq is loaded when a connection is opened, not when
// the program starts: it brings about twenty libraries, which cost each start milliseconds, and
// most programs keep their ledger in a file.
#pragma once

#include <libpq-fe.h>

#include "sallyport/result.h"

namespace sallyport::store::postgresql {

#define SALLYPORT_LIBPQ_FUNCTIONS(EACH) \
  EACH(PQbackendPID)                    \
  EACH(PQclear)                         \
  EACH(PQcmdStatus)                     \
  EACH(PQcmdTuples)                     \
  EACH(PQconnectPoll)                   \
  EACH(PQconnectStartParams)            \
  EACH(PQconninfo)                      \
  EACH(PQconninfoFree)                  \
  EACH(PQconsumeInput)                  \
  EACH(PQenterPipelineMode)             \
  EACH(PQerrorMessage)                  \
  EACH(PQexec)                          \
  EACH(PQexitPipelineMode)              \
  EACH(PQfinish)                        \
  EACH(PQflush)                         \
  EACH(PQgetResult)                     \
  EACH(PQgetisnull)                     \
  EACH(PQgetlength)                     \
  EACH(PQgetvalue)                      \
  EACH(PQhost)                          \
  EACH(PQisBusy)                        \
  EACH(PQntuples)                       \
  EACH(PQpipelineSync)                  \
  EACH(PQresultErrorField)              \
  EACH(PQresultStatus)                  \
  EACH(PQsendPrepare)                   \
  EACH(PQsendQueryParams)               \
  EACH(PQsendQueryPrepared)             \
  EACH(PQsetNoticeReceiver)             \
  EACH(PQsetnonblocking)                \
  EACH(PQsocket)                        \
  EACH(PQsslInUse)                      \
  EACH(PQstatus)

struct Libpq {
#define SALLYPORT_POINTER(name) decltype(&::name) name = nullptr;
  SALLYPORT_LIBPQ_FUNCTIONS(SALLYPORT_POINTER)
#undef SALLYPORT_POINTER
};

// Null until `load_libpq` has succeeded. It stays loaded until the process ends.
extern const Libpq* pq;

// Loads libpq, once for all threads.
Result<void> load_libpq();

}  // namespace sallyport::store::postgresql
