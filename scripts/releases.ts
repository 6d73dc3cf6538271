// The releases that --beside accepts by their number.

/** The commit of each release. A release adds its line with the first commit after it. */
const commits: Record<string, string> = {
  "0.1.0": "430e3c68b3efc130a41374a98a30284af99c41bd",
  "0.2.0": "0db39cb7ede07f458497a56c6bbde85d517096b5",
  "0.3.0": "a10fa737f38868e5d38471279453f4dd93982447",
  "0.4.0": "9f6265d77159a713b664bc559cf769f31ff0717c",
  "0.5.0": "de4717d94c42f122b6046ee93bc9b6616d8aec9a",
  "0.6.0": "fa79c69f7c3eb913931a67c6d43501c2b520e7d5",
  "0.7.0": "27e1233941caea50d3efbea79a7ff41c7aee9872",
  "0.8.0": "8ee38efb60e27dda12db2be794f1b1a595fd9250",
  "0.8.1": "fbca420b4318cdbc34faa8bd012d731c7232903c",
  "0.9.0": "bf0dc9620619bf7967f3bbe0e11ad416715dd1f2",
  "0.10.0": "53db2262fbd4bff5063576c44baa2affbaceef19",
  "0.11.0": "ac51f69d4f07aff02156abb2a7eda9f46cce2285",
  "0.12.0": "52b39c3312eb22beeee426542ba43b3a9cbda852",
  "0.13.0": "2ef28f67a73a97616bedde89d3d4d125a10701ee",
  "0.14.0": "28935fa7ad42dea72ea91a6fa2e348b3bd411a52",
  "0.15.0": "171dbdc28c44b1bd664f41cfce7331061d6c81a4",
  "0.16.0": "71b361dcf0e25be6151074c4caf9a566f5c9951b",
  "0.17.0": "1f3b208a77b2652ede2489f1770ffd10985c536d",
};

export const releases: readonly string[] = Object.keys(commits);

/** Whether a text is meant as a version. Anything else is a directory. */
export function looksLikeVersion(text: string): boolean {
  return /^\d+\.\d+\.\d+$/.test(text);
}

export function commitOf(release: string): string {
  const commit = commits[release];
  if (commit === undefined) {
    throw new Error(`There is no release ${release}. Use ${releases.join(", ")}.`);
  }
  return commit;
}
