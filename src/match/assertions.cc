#include "match/program.h"

namespace sallyport::match {

namespace {

bool glued(Neighbour neighbour) {
  return neighbour == Neighbour::Word || neighbour == Neighbour::WordPart;
}

Answer yes_if(bool condition) {
  return condition ? Answer::Yes : Answer::No;
}

}  // namespace

Answer decide(Assertion assertion, Neighbour before) {
  switch (assertion) {
    case Assertion::TextStart:
      return yes_if(before == Neighbour::Edge);
    case Assertion::NotAfterWord:
      return yes_if(!glued(before));
    case Assertion::LineStart:
      // As in PCRE2: no line begins after a newline that ends the text.
      return before == Neighbour::Newline ? Answer::Later : yes_if(before == Neighbour::Edge);
    default:
      return Answer::Later;
  }
}

Answer decide(Assertion assertion, Neighbour before, Neighbour after) {
  const Answer early = decide(assertion, before);
  if (early != Answer::Later) return early;
  switch (assertion) {
    case Assertion::LineStart:
      return yes_if(after != Neighbour::Edge);
    case Assertion::TextEnd:
      return yes_if(after == Neighbour::Edge);
    case Assertion::FinalEnd:
      return after == Neighbour::Newline ? Answer::IfFinal : yes_if(after == Neighbour::Edge);
    case Assertion::LineEnd:
      return yes_if(after == Neighbour::Edge || after == Neighbour::Newline);
    case Assertion::WordEdge:
      return yes_if((before == Neighbour::Word) != (after == Neighbour::Word));
    case Assertion::NoWordEdge:
      return yes_if((before == Neighbour::Word) == (after == Neighbour::Word));
    default:
      return yes_if(!glued(after));
  }
}

}  // namespace sallyport::match
