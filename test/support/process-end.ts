/** What the files of a process share, and what ends it after the last of them. */
export const processEnd: {
  /** False in scripts and without test/support/preload.ts. Then nothing is shared. */
  isAwaited: boolean;
  readonly work: (() => Promise<void>)[];
} = { isAwaited: false, work: [] };
