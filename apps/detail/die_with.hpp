#pragma once

#include <csignal>
#include <sys/prctl.h>
#include <sys/types.h>
#include <unistd.h>

namespace gossamer::apps {

/// Has the system kill this process, which has just been forked, when its parent ends; ends it if that has happened.
inline void die_with(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent)
    _exit(0);
}

} // namespace gossamer::apps
