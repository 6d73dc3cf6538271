/** The files of a build of the console, as dist/console/manifest.json lists them. */
export interface ConsoleManifest {
  /** The script that the page loads first. It loads the others when they are needed. */
  readonly script: string;
  readonly style: string;
  /** All files. A name contains a hash of the content, so a file with a name never changes. */
  readonly files: readonly string[];
}
