/* Runs a command, records every change that it makes to files in one folder (writes, flushes, new and
   removed names), and lets some of them fail. Unlike a preloaded library, it also sees calls that do
   not go through libc.

     tracer FOLDER LOG FAULTS COMMAND [ARGUMENT]...

   The exit code is that of the command. LOG is a sequence of records: see struct record. A call is in
   LOG before the thread that made it continues, so a client that has a response finds every call in
   LOG that was made before the response. FAULTS is a file with a struct faults, which may change at any
   time, or - for none. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <elf.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CREATE = 1, WRITE, TRUNCATE, SYNC, RENAME, LINK, UNLINK, MKDIR, RMDIR };

struct record {
  uint32_t op;
  uint32_t path_bytes;   /* of the path that follows */
  uint32_t target_bytes; /* of the second path: the new name in RENAME and LINK */
  uint32_t data_bytes;   /* of the data after both paths, only in WRITE */
  uint64_t inode;        /* of the file, or of the folder in SYNC */
  uint64_t offset;       /* WRITE: where; TRUNCATE: the new length; SYNC: the length of LOG at its begin */
};

/* The calls that change files. Those that do not exist on a processor are left out. */
static const int calls[] = {
#ifdef SYS_open
    SYS_open, SYS_creat, SYS_rename, SYS_link, SYS_unlink, SYS_mkdir, SYS_rmdir,
#endif
#ifdef SYS_renameat
    SYS_renameat,
#endif
    SYS_openat, SYS_renameat2, SYS_linkat, SYS_unlinkat, SYS_mkdirat, SYS_write, SYS_pwrite64,
    SYS_writev, SYS_pwritev, SYS_pwritev2, SYS_copy_file_range, SYS_sendfile, SYS_truncate,
    SYS_ftruncate, SYS_fallocate, SYS_fsync, SYS_fdatasync, SYS_io_uring_setup};

enum { FAIL = 1, SHORTEN, DELAY };
enum { WRITES = 1, FLUSHES = 2, TRUNCATIONS = 4 };

struct faults {
  uint32_t action;   /* 0 for none */
  uint32_t calls;    /* which calls: a sum of WRITES, FLUSHES and TRUNCATIONS */
  uint32_t every;    /* the first call, and then every Nth */
  uint32_t value;    /* the errno, or the delay in ms */
  uint32_t seen;     /* calls so far, counted by the tracer */
  uint32_t injected; /* faults so far, counted by the tracer */
};

static volatile struct faults *faults;
static const char *folder;
static size_t folder_length;
static int log_file;
static uint64_t log_length;

/* A thread that is inside a call. */
struct thread {
  pid_t id;
  int is_inside;
  struct __ptrace_syscall_info call;
  char path[PATH_MAX];
  char target[PATH_MAX];
  uint64_t inode;
  uint64_t log_length; /* when the call began */
  int existed;
  int is_failing;     /* with this errno */
  uint64_t resume_at; /* in ms, if the call is delayed */
};

static struct thread *threads;
static size_t threads_count;

static void die(const char *what) {
  perror(what);
  exit(125);
}

static struct thread *thread_of(pid_t id) {
  for (size_t at = 0; at < threads_count; at++)
    if (threads[at].id == id) return &threads[at];
  threads = realloc(threads, (threads_count + 1) * sizeof *threads);
  if (!threads) die("realloc");
  struct thread *added = &threads[threads_count++];
  memset(added, 0, sizeof *added);
  added->id = id;
  return added;
}

static void forget(pid_t id) {
  for (size_t at = 0; at < threads_count; at++) {
    if (threads[at].id != id) continue;
    threads[at] = threads[--threads_count];
    return;
  }
}

static void append(uint32_t op, const struct thread *thread, const void *data, size_t bytes,
                   uint64_t offset) {
  struct record record = {op, strlen(thread->path), strlen(thread->target), bytes, thread->inode,
                          offset};
  struct iovec parts[] = {{&record, sizeof record},
                          {(void *)thread->path, record.path_bytes},
                          {(void *)thread->target, record.target_bytes},
                          {(void *)data, bytes}};
  size_t length = sizeof record + record.path_bytes + record.target_bytes + bytes;
  if (writev(log_file, parts, 4) != (ssize_t)length) die("the log");
  log_length += length;
}

static int is_watched(const char *path) {
  return strncmp(path, folder, folder_length) == 0 &&
         (path[folder_length] == '/' || path[folder_length] == '\0');
}

static void read_text(pid_t id, uint64_t address, char *text) {
  /* Page by page: the text may end right before a page that is not mapped. */
  size_t done = 0;
  while (done < PATH_MAX - 1) {
    size_t part = 4096 - (address + done) % 4096;
    if (part > PATH_MAX - 1 - done) part = PATH_MAX - 1 - done;
    struct iovec to = {text + done, part}, from = {(void *)(address + done), part};
    ssize_t got = process_vm_readv(id, &to, 1, &from, 1, 0);
    if (got <= 0) break;
    if (memchr(text + done, 0, got)) return;
    done += got;
  }
  text[done] = 0;
}

static int read_link(const char *link, char *path) {
  ssize_t length = readlink(link, path, PATH_MAX - 1);
  path[length < 0 ? 0 : length] = 0;
  return length >= 0;
}

/* The path of an open file. */
static void path_of(pid_t id, int fd, char *path) {
  char link[64];
  snprintf(link, sizeof link, "/proc/%d/fd/%d", id, fd);
  read_link(link, path);
}

/* The absolute path of a name that a call was given. */
static void resolve(pid_t id, int folder_fd, uint64_t address, char *path) {
  char name[PATH_MAX], base[PATH_MAX], link[64];
  read_text(id, address, name);
  if (name[0] == '/') {
    strcpy(path, name);
    return;
  }
  if (folder_fd == AT_FDCWD) {
    snprintf(link, sizeof link, "/proc/%d/cwd", id);
    read_link(link, base);
  } else path_of(id, folder_fd, base);
  const char *plain = strncmp(name, "./", 2) == 0 ? name + 2 : name;
  if (snprintf(path, PATH_MAX, "%s/%s", base, plain) >= PATH_MAX) path[0] = 0;
}

static uint64_t inode_at(const char *path) {
  struct stat found;
  return lstat(path, &found) == 0 ? found.st_ino : 0;
}

static uint64_t inode_of(pid_t id, int fd) {
  char link[64];
  struct stat found;
  snprintf(link, sizeof link, "/proc/%d/fd/%d", id, fd);
  return stat(link, &found) == 0 && (S_ISREG(found.st_mode) || S_ISDIR(found.st_mode))
             ? found.st_ino
             : 0;
}

/* The position of an open file. */
static uint64_t position_of(pid_t id, int fd) {
  char name[64], line[64];
  unsigned long long position = 0;
  snprintf(name, sizeof name, "/proc/%d/fdinfo/%d", id, fd);
  FILE *info = fopen(name, "r");
  if (info && fgets(line, sizeof line, info)) sscanf(line, "pos: %llu", &position);
  if (info) fclose(info);
  return position;
}

/* Records what a call has written by reading it back from the file. */
static void record_written(struct thread *thread, int fd, uint64_t offset, uint64_t bytes) {
  char link[64];
  snprintf(link, sizeof link, "/proc/%d/fd/%d", thread->id, fd);
  int copy = open(link, O_RDONLY | O_CLOEXEC);
  if (copy < 0) die("a file that was written");
  void *data = malloc(bytes);
  if (!data || pread(copy, data, bytes, offset) != (ssize_t)bytes) die("what was written");
  close(copy);
  append(WRITE, thread, data, bytes, offset);
  free(data);
}

/* Returns whether the call has to be looked at again when it ends. */
static int begin(struct thread *thread) {
  const uint64_t *args = (const uint64_t *)thread->call.entry.args;
  const pid_t id = thread->id;
  thread->path[0] = thread->target[0] = 0;
  thread->log_length = log_length;
  thread->inode = 0;
  switch (thread->call.entry.nr) {
#ifdef SYS_open
    case SYS_open:
      if (!(args[1] & (O_CREAT | O_TRUNC))) return 0;
      resolve(id, AT_FDCWD, args[0], thread->path);
      break;
    case SYS_creat:
    case SYS_mkdir:
    case SYS_rmdir:
    case SYS_unlink:
      resolve(id, AT_FDCWD, args[0], thread->path);
      break;
    case SYS_rename:
    case SYS_link:
      resolve(id, AT_FDCWD, args[0], thread->path);
      resolve(id, AT_FDCWD, args[1], thread->target);
      break;
#endif
    case SYS_openat:
      if (!(args[2] & (O_CREAT | O_TRUNC))) return 0;
      resolve(id, args[0], args[1], thread->path);
      break;
    case SYS_truncate:
      resolve(id, AT_FDCWD, args[0], thread->path);
      break;
    case SYS_unlinkat:
    case SYS_mkdirat:
      resolve(id, args[0], args[1], thread->path);
      break;
#ifdef SYS_renameat
    case SYS_renameat:
#endif
    case SYS_renameat2:
    case SYS_linkat:
      resolve(id, args[0], args[1], thread->path);
      resolve(id, args[2], args[3], thread->target);
      break;
    case SYS_io_uring_setup:
      return 1;
    case SYS_copy_file_range:
      path_of(id, args[2], thread->path);
      thread->inode = inode_of(id, args[2]);
      return is_watched(thread->path) && thread->inode != 0;
    default:
      path_of(id, args[0], thread->path);
      thread->inode = inode_of(id, args[0]);
      return is_watched(thread->path) && thread->inode != 0;
  }
  thread->inode = inode_at(thread->path);
  thread->existed = thread->inode != 0;
  return is_watched(thread->path) || is_watched(thread->target);
}

static void end(struct thread *thread, int64_t result) {
  const uint64_t *args = (const uint64_t *)thread->call.entry.args;
  const pid_t id = thread->id;
  if (result < 0) return;
  switch (thread->call.entry.nr) {
#ifdef SYS_open
    case SYS_open:
    case SYS_creat:
#endif
    case SYS_openat: {
      uint64_t flags = thread->call.entry.nr == SYS_openat ? args[2] : args[1];
#ifdef SYS_creat
      if (thread->call.entry.nr == SYS_creat) flags = O_TRUNC;
#endif
      thread->inode = inode_of(id, result);
      if (thread->inode == 0) return;
      /* The link in /proc also shows where a symbolic link led. */
      path_of(id, result, thread->path);
      if (!thread->existed) append(CREATE, thread, NULL, 0, 0);
      else if (flags & O_TRUNC) append(TRUNCATE, thread, NULL, 0, 0);
      return;
    }
#ifdef SYS_mkdir
    case SYS_mkdir:
#endif
    case SYS_mkdirat:
      thread->inode = inode_at(thread->path);
      append(MKDIR, thread, NULL, 0, 0);
      return;
#ifdef SYS_rmdir
    case SYS_rmdir:
      append(RMDIR, thread, NULL, 0, 0);
      return;
    case SYS_unlink:
#endif
    case SYS_unlinkat: {
      int is_folder = thread->call.entry.nr == SYS_unlinkat && (args[2] & AT_REMOVEDIR);
      append(is_folder ? RMDIR : UNLINK, thread, NULL, 0, 0);
      return;
    }
#ifdef SYS_rename
    case SYS_rename:
#endif
#ifdef SYS_renameat
    case SYS_renameat:
#endif
    case SYS_renameat2:
      append(RENAME, thread, NULL, 0, 0);
      return;
#ifdef SYS_link
    case SYS_link:
#endif
    case SYS_linkat:
      thread->inode = inode_at(thread->target);
      append(LINK, thread, NULL, 0, 0);
      return;
    case SYS_truncate:
    case SYS_ftruncate:
      append(TRUNCATE, thread, NULL, 0, args[1]);
      return;
    case SYS_fallocate: {
      struct stat found;
      char link[64];
      snprintf(link, sizeof link, "/proc/%d/fd/%d", id, (int)args[0]);
      if (stat(link, &found) == 0) append(TRUNCATE, thread, NULL, 0, found.st_size);
      return;
    }
    case SYS_fsync:
    case SYS_fdatasync:
      append(SYNC, thread, NULL, 0, thread->log_length);
      return;
    case SYS_pwrite64:
    case SYS_pwritev:
    case SYS_pwritev2:
      if (result > 0) record_written(thread, args[0], args[3], result);
      return;
    case SYS_copy_file_range:
      if (args[3]) {
        fprintf(stderr, "tracer: copy_file_range at a position is not supported\n");
        exit(125);
      }
      if (result > 0) record_written(thread, args[2], position_of(id, args[2]) - result, result);
      return;
    case SYS_write:
    case SYS_writev:
    case SYS_sendfile:
      if (result > 0) record_written(thread, args[0], position_of(id, args[0]) - result, result);
      return;
    case SYS_io_uring_setup:
      fprintf(stderr, "tracer: the command uses io_uring, whose writes are not seen\n");
      return;
  }
}

static uint64_t now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000ull + now.tv_nsec / 1000000;
}

/* The kind of call for struct faults, or 0. */
static uint32_t kind_of(int64_t call) {
  switch (call) {
    case SYS_write:
    case SYS_writev:
    case SYS_pwrite64:
    case SYS_pwritev:
    case SYS_pwritev2: return WRITES;
    case SYS_fsync:
    case SYS_fdatasync: return FLUSHES;
    case SYS_ftruncate:
    case SYS_truncate: return TRUNCATIONS;
  }
  return 0;
}

#if defined(__x86_64__)
static void skip_call(pid_t id) {
  ptrace(PTRACE_POKEUSER, id, offsetof(struct user_regs_struct, orig_rax), -1L);
}
static void set_result(pid_t id, int64_t result) {
  ptrace(PTRACE_POKEUSER, id, offsetof(struct user_regs_struct, rax), result);
}
static void set_third(pid_t id, uint64_t value) {
  ptrace(PTRACE_POKEUSER, id, offsetof(struct user_regs_struct, rdx), value);
}
#elif defined(__aarch64__)
static void set_register(pid_t id, int number, uint64_t value) {
  struct user_regs_struct registers;
  struct iovec all = {&registers, sizeof registers};
  ptrace(PTRACE_GETREGSET, id, NT_PRSTATUS, &all);
  registers.regs[number] = value;
  ptrace(PTRACE_SETREGSET, id, NT_PRSTATUS, &all);
}
static void skip_call(pid_t id) {
  int none = -1;
  struct iovec call = {&none, sizeof none};
  ptrace(PTRACE_SETREGSET, id, NT_ARM_SYSTEM_CALL, &call);
}
static void set_result(pid_t id, int64_t result) { set_register(id, 0, result); }
static void set_third(pid_t id, uint64_t value) { set_register(id, 2, value); }
#else
#error "Only x86-64 and ARM64 are supported."
#endif

/* Lets a call that is about to begin fail, if its turn has come. */
static void inject(struct thread *thread) {
  const int64_t call = thread->call.entry.nr;
  thread->is_failing = 0;
  if (!faults || !faults->action || !(kind_of(call) & faults->calls)) return;
  if (strstr(thread->path, "-shm") || faults->seen++ % faults->every) return;
  if (faults->action == SHORTEN) {
    const int is_plain = call == SYS_write || call == SYS_pwrite64;
    if (!is_plain || thread->call.entry.args[2] < 2) return;
    thread->call.entry.args[2] /= 2;
    set_third(thread->id, thread->call.entry.args[2]);
  } else if (faults->action == DELAY) {
    thread->resume_at = now_ms() + faults->value;
  } else {
    thread->is_failing = faults->value;
    skip_call(thread->id);
  }
  faults->injected++;
}

/* Stops the process at the calls of the list, and only there. */
static void filter_calls(void) {
  size_t count = sizeof calls / sizeof *calls;
  struct sock_filter *filter = calloc(count + 3, sizeof *filter);
  filter[0] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                                           offsetof(struct seccomp_data, nr));
  for (size_t at = 0; at < count; at++)
    filter[at + 1] =
        (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[at], count - at, 0);
  filter[count + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  filter[count + 2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE);
  struct sock_fprog program = {count + 3, filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) die("no_new_privs");
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) die("seccomp");
}

static void handle_call(pid_t id) {
  struct thread *thread = thread_of(id);
  struct __ptrace_syscall_info info;
  if (ptrace(PTRACE_GET_SYSCALL_INFO, id, sizeof info, &info) < 0) return;
  if (info.op == PTRACE_SYSCALL_INFO_SECCOMP) {
    memcpy(&thread->call, &info, sizeof info);
    /* Both kinds of entry begin with the same fields. */
    thread->call.entry.nr = info.seccomp.nr;
    memcpy(thread->call.entry.args, info.seccomp.args, sizeof info.seccomp.args);
    thread->is_inside = begin(thread);
    if (thread->is_inside) inject(thread);
  } else if (info.op == PTRACE_SYSCALL_INFO_EXIT && thread->is_inside) {
    thread->is_inside = 0;
    if (thread->is_failing) set_result(id, -thread->is_failing);
    else end(thread, info.exit.rval);
  }
}

/* Continues delayed calls whose time has come. Returns whether others are left. */
static int resume_delayed(void) {
  int are_left = 0;
  for (size_t at = 0; at < threads_count; at++) {
    if (!threads[at].resume_at) continue;
    if (now_ms() < threads[at].resume_at) are_left = 1;
    else {
      threads[at].resume_at = 0;
      ptrace(PTRACE_SYSCALL, threads[at].id, 0, 0);
    }
  }
  return are_left;
}

static int exit_code_of(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static pid_t command;

/* Interrupts the wait for the command. */
static void wake(int signal) { (void)signal; }

/* The command decides how it ends. */
static void pass_on(int signal) { kill(command, signal); }

int main(int argc, char **argv) {
  if (argc < 5) {
    fprintf(stderr, "usage: tracer FOLDER LOG FAULTS COMMAND [ARGUMENT]...\n");
    return 125;
  }
  folder = argv[1];
  folder_length = strlen(folder);
  log_file = open(argv[2], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (log_file < 0) die(argv[2]);
  log_length = lseek(log_file, 0, SEEK_END);
  if (strcmp(argv[3], "-") != 0) {
    int file = open(argv[3], O_RDWR | O_CLOEXEC);
    void *mapped = file < 0 ? MAP_FAILED
                            : mmap(NULL, sizeof *faults, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (mapped == MAP_FAILED) die(argv[3]);
    faults = mapped;
  }
  command = fork();
  if (command == 0) {
    ptrace(PTRACE_TRACEME, 0, 0, 0);
    raise(SIGSTOP);
    filter_calls();
    execvp(argv[4], argv + 4);
    die(argv[4]);
  }
  signal(SIGTERM, pass_on);
  signal(SIGINT, pass_on);
  sigaction(SIGALRM, &(struct sigaction){.sa_handler = wake}, NULL);
  int status, code = 125;
  if (waitpid(command, &status, 0) != command || !WIFSTOPPED(status)) die("the command");
  long options = PTRACE_O_TRACESECCOMP | PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE |
                 PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_EXITKILL;
  if (ptrace(PTRACE_SETOPTIONS, command, 0, options)) die("ptrace");
  ptrace(PTRACE_CONT, command, 0, 0);
  for (;;) {
    if (resume_delayed()) ualarm(5000, 0);
    pid_t id = waitpid(-1, &status, __WALL);
    if (id < 0) {
      if (errno == EINTR) continue;
      return code;
    }
    if (WIFEXITED(status) || WIFSIGNALED(status)) {
      if (id == command) code = exit_code_of(status);
      forget(id);
      continue;
    }
    int stop = WSTOPSIG(status), event = status >> 16, passed = 0;
    if (stop == (SIGTRAP | 0x80) || event == PTRACE_EVENT_SECCOMP) handle_call(id);
    else if (event == 0 && stop != SIGTRAP && stop != SIGSTOP) passed = stop;
    struct thread *thread = thread_of(id);
    if (thread->resume_at) continue;
    ptrace(thread->is_inside ? PTRACE_SYSCALL : PTRACE_CONT, id, 0, passed);
  }
}
