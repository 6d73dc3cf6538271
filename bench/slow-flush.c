/* Delays every flush to disk by SLOW_FLUSH_US microseconds. Preloaded into a server, it simulates
   the same slower disk for every contestant. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

static void delay(void) {
  const char *text = getenv("SLOW_FLUSH_US");
  long microseconds = text ? atol(text) : 0;
  struct timespec left = {microseconds / 1000000, (microseconds % 1000000) * 1000};
  while (nanosleep(&left, &left) != 0) {
  }
}

static int flush(const char *name, int fd) {
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
  delay();
  return real(fd);
}

int fsync(int fd) { return flush("fsync", fd); }
int fdatasync(int fd) { return flush("fdatasync", fd); }
