export interface ChangelogSection {
  /** A version, or `Unreleased`. */
  readonly name: string;
  readonly date: string | null;
  /** Number of entries under each heading. Headings without entries are left out. */
  readonly entries: Readonly<Record<string, number>>;
}
export function parseChangelog(text: string): {
  /** The line that defines a major release. */
  readonly rule: string | null;
  readonly sections: readonly ChangelogSection[];
};
export function nextVersion(current: string, asked: string): string;
export function planRelease(facts: {
  readonly changelog: string;
  readonly current: string;
  readonly asked: string | undefined;
}): { readonly version: string; readonly prepared: boolean };
export function provenanceProblems(manifest: object): readonly string[];
export function canAttest(env: NodeJS.ProcessEnv): boolean;
