/** Whether a commit may be promoted, the message when it may not, and the memory of both. */
import type { HeadReport } from '../../commits.ts';
import type { ContentVerdict } from '../../content-verdict.ts';
import type { AncestryVerdict } from '../../git/ancestry-guard.ts';

export type CommitAcceptance =
  | { readonly accepted: true; readonly because: string }
  | { readonly accepted: false; readonly verdict: HeadReport['verdict']; readonly message: string };

export function acceptAncestry(verdict: AncestryVerdict): CommitAcceptance {
  if (verdict.verdict === 'Accepted') return { accepted: true, because: verdict.because };
  return { accepted: false, verdict: 'NotDescendant', message: verdict.because };
}

export function acceptContent(verdict: ContentVerdict): CommitAcceptance {
  return verdict.accepted ? verdict : { ...verdict, verdict: 'Refused' };
}

interface ExplainedError {
  readonly message: string;
  readonly hint?: string | undefined;
}

export function acceptRenderError(error: ExplainedError): CommitAcceptance {
  return { accepted: false, verdict: 'RenderFailed', message: explain(error) };
}

/** Refuses a commit that cannot be fetched or read, whenever it is tried. */
export function refuseCommit(error: ExplainedError): CommitAcceptance {
  return { accepted: false, verdict: 'Refused', message: explain(error) };
}

function explain({ message, hint }: ExplainedError): string {
  return hint ? `${message}; ${hint}` : message;
}

/**
 * Remembers what was decided about the content of commits, longer than a process holds a Lease: a commit that was refused is not
 * rendered and judged again each time that a Lease is lost and acquired.
 */
export interface VerdictMemory {
  get(commit: string): CommitAcceptance | undefined;
  put(commit: string, acceptance: CommitAcceptance): void;
}

/** Heads follow one another: older ones are not asked for again. */
const MAX_COMMITS = 20;

/** Creates the memory of the verdicts on the commits of one repository and one folder in it. */
export function createVerdictMemory(): VerdictMemory {
  const known = new Map<string, CommitAcceptance>();
  return {
    get: (commit) => known.get(commit),
    put(commit, acceptance) {
      known.delete(commit);
      known.set(commit, acceptance);
      const [oldest] = known.keys();
      if (known.size > MAX_COMMITS && oldest !== undefined) known.delete(oldest);
    },
  };
}

/** The memory for a version of a repository. Another version may render the same commit to other objects, and starts a new one. */
export function createVersionedVerdicts(): (version: string) => VerdictMemory {
  let current: { readonly version: string; readonly memory: VerdictMemory } | undefined;
  return (version) => {
    if (current?.version !== version) current = { version, memory: createVerdictMemory() };
    return current.memory;
  };
}
