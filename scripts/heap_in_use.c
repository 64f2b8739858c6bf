// Preloaded into each process of a soak: tells ten times a second how many bytes of the heap are in use.
//
// The memory that the system counts does not tell a leak of a few KiB: what has been freed between blocks in use stays
// with the process, and a leak fills that first. The number is in $GOSSAMER_HEAP_IN_USE/PID, a line of text.
#define _GNU_SOURCE
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void* tell(void* file) {
  for (;; usleep(100000)) {
    const struct mallinfo2 heap = mallinfo2();
    char line[32]; // always as long, so that a reader never sees parts of two numbers
    const int size = snprintf(line, sizeof line, "%20zu\n", heap.uordblks + heap.hblkhd);
    if (pwrite((int)(intptr_t)file, line, (size_t)size, 0) != size)
      return NULL;
  }
}

__attribute__((constructor)) static void begin(void) {
  const char* folder = getenv("GOSSAMER_HEAP_IN_USE");
  char path[4096];
  if (folder == NULL || snprintf(path, sizeof path, "%s/%d", folder, (int)getpid()) >= (int)sizeof path)
    return;
  const int file = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
  if (file < 0)
    return;
  sigset_t all, before; // signals are for the threads of the program
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  if (pthread_create(&thread, NULL, tell, (void*)(intptr_t)file) == 0)
    pthread_detach(thread);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}
