#pragma once

#include "gossamer/actors/agreement/delegate.hpp"

namespace gossamer::actors::consensus {

// Whether a message can be meant for a run with these rules. Late ones are not wrong, and what they mean depends on the
// state of whoever hears them; wrong is what no delegate says.
//
// @param own what the hearer knows to be resolved
// @error errc::bad_packet naming what is wrong; errc::failed when another resolution has the number of `own`

void validate(const hold& m, const charter& rules, const resolution& own);
void validate(const holding& m, const charter& rules, const resolution& own);
void validate(const propose& m, const charter& rules, const resolution& own);
void validate(const accepted& m, const charter& rules, const resolution& own);
void validate(const proceed& m, const charter& rules, const resolution& own);
void validate(const refused& m, const charter& rules, const resolution& own);

} // namespace gossamer::actors::consensus
