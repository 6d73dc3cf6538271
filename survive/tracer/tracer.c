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

#include "records.h"
#include "faults.h"

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
    end(thread, thread->is_failing ? -thread->is_failing : info.exit.rval);
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
