/* Records what the calls of the command change. */
enum { CREATE = 1, WRITE, TRUNCATE, SYNC, RENAME, LINK, UNLINK, MKDIR, RMDIR, FAILED_SYNC };

struct record {
  uint32_t op;
  uint32_t path_bytes;   /* of the path that follows */
  uint32_t target_bytes; /* of the second path: the new name in RENAME and LINK */
  uint32_t data_bytes;   /* of the data after both paths, only in WRITE */
  uint64_t inode;        /* of the file, or of the folder in SYNC */
  uint64_t offset;       /* WRITE: where; TRUNCATE: the new length; SYNC: length of LOG at its begin */
};

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
  const int64_t call = thread->call.entry.nr;
  if (result < 0 && (call == SYS_fsync || call == SYS_fdatasync))
    append(FAILED_SYNC, thread, NULL, 0, thread->log_length);
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
