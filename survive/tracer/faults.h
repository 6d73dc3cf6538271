/* Lets calls of the command fail. */
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
