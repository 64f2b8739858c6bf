#pragma once

#include "gossamer/actors/agreement/delegate.hpp"

namespace gossamer::actors::consensus {

// Checks that a delegate of a run with these rules can have sent a message. Late messages pass: their meaning depends
// on the state of the receiver.
//
// @param own the last resolution that the receiver knows
// @error errc::bad_packet naming what is wrong; errc::failed when another resolution has the number of `own`

void validate(const hold& m, const charter& rules, const resolution& own);
void validate(const holding& m, const charter& rules, const resolution& own);
void validate(const propose& m, const charter& rules, const resolution& own);
void validate(const accepted& m, const charter& rules, const resolution& own);
void validate(const proceed& m, const charter& rules, const resolution& own);
void validate(const refused& m, const charter& rules, const resolution& own);

} // namespace gossamer::actors::consensus
