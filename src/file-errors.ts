const reasons: Readonly<Record<string, string>> = {
  ENOENT: "no such file or folder",
  EACCES: "permission denied",
  EPERM: "not permitted",
  EISDIR: "it is a directory",
  ENOTDIR: "a part of the path is not a folder",
  EROFS: "the file system is read-only",
  ENOSPC: "no space left on the device",
  EDQUOT: "the disk quota is used up",
  EFBIG: "the file would be too large",
  ELOOP: "the links in the path lead in a circle",
  EMFILE: "too many open files",
  EEXIST: "it exists already",
  EIO: "the disk reports an error",
  EPIPE: "the reader closed it",
};

/** Whether the operating system refused to open, read or write a file. */
export function isFileError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && typeof (error as NodeJS.ErrnoException).syscall === "string";
}

/** Why a file cannot be used, for the operator. The caller names the file. */
export function reasonOf(error: unknown): string {
  const { code = "", message } = error as NodeJS.ErrnoException;
  return reasons[code] ?? (error instanceof Error ? message : String(error));
}

/** Same as `reasonOf`, for a file that was to be created: what is missing is its folder. */
export function creationReasonOf(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  return code === "ENOENT" ? "no such folder" : reasonOf(error);
}
