// The members of the shapes that records are made of, declared once for both writers of
// base/json_writer.h. Each is defined in the source of its `to_json`.
#pragma once

#include "base/json_writer.h"
#include "core/plan/pipeline.h"
#include "sallyport/audit_record.h"
#include "sallyport/envelope.h"
#include "sallyport/event.h"
#include "sallyport/outcome.h"
#include "sallyport/preview.h"

namespace sallyport::core {

template <class Out>
void write_members(Out& out, const GuardRun& run);
template <class Out>
void write_members(Out& out, const Preview& preview);
template <class Out>
void write_members(Out& out, const ToolResult& result);
template <class Out>
void write_members(Out& out, const Outcome& outcome);
template <class Out>
void write_members(Out& out, const Envelope& envelope);
template <class Out>
void write_members(Out& out, const Release& release);
template <class Out>
void write_members(Out& out, const Event& event);

template <class Shape>
json::object object_of(const Shape& shape) {
  ObjectWriter out;
  write_members(out, shape);
  return std::move(out).take();
}

}  // namespace sallyport::core
