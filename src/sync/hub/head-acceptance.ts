/** Accepts or refuses the head of a repository by its ancestry, its render and its objects. */
import type { Log } from '../../kube/process/log.ts';
import { checkAncestry } from '../git/ancestry-guard.ts';
import { isRefusal } from '../git/errors.ts';
import type { GitTransport } from '../git/transport.ts';
import type { ObjectChecks } from '../judge/object-checks.ts';
import { isRenderError } from '../render/errors.ts';
import {
  acceptAncestry,
  acceptContent,
  acceptRenderError,
  type CommitAcceptance,
  refuseCommit,
} from './commit-checks.ts';
import type { RenderStore } from './render-store.ts';

export interface HeadAcceptanceOptions {
  readonly git: GitTransport;
  readonly ref: string;
  readonly renders: RenderStore;
  readonly checks: ObjectChecks;
  /** Accepted commits that are applied to clusters: a head has to descend from all of them. */
  readonly appliedCommits: () => readonly string[];
  /** The newest commit with a Release: it was accepted by a former process. */
  readonly newestReleasedCommit: () => string | undefined;
  /** The current `spec.source.acceptHead`. */
  readonly acceptHead: () => string | undefined;
  readonly log: Log;
}

export interface HeadAcceptance {
  /** Rejects when the result is unknown, e.g. when git is unreachable: the next poll checks again. */
  check(head: string, signal: AbortSignal): Promise<void>;
  /** The result of the last check, when it was for this head. */
  resultFor(head: string): CommitAcceptance | undefined;
  newestAccepted(): string | undefined;
}

export function createHeadAcceptance(options: HeadAcceptanceOptions): HeadAcceptance {
  const { git, ref, renders, checks, log } = options;
  let last:
    | { readonly key: string; readonly head: string; readonly acceptance: CommitAcceptance }
    | undefined;
  let accepted: string | undefined;

  return {
    check,
    resultFor: (head) => (last?.head === head ? last.acceptance : undefined),
    newestAccepted: () => accepted,
  };

  /** Keeps the result while the inputs are unchanged. */
  async function check(head: string, signal: AbortSignal): Promise<void> {
    const newest = accepted ?? options.newestReleasedCommit();
    const before = [...new Set([...(newest ? [newest] : []), ...options.appliedCommits()])];
    const acceptHead = options.acceptHead();
    const key = JSON.stringify([head, acceptHead, before]);
    if (last?.key === key) return;
    const acceptance = await acceptanceOf(head, { before, acceptHead, signal });
    signal.throwIfAborted();
    last = { key, head, acceptance };
    if (!acceptance.accepted) {
      // Promotion continues with what a former process accepted: after a takeover, too, drift is corrected and holds are released.
      accepted ??= newest;
      log.warn('head not accepted', {
        commit: head,
        verdict: acceptance.verdict,
        because: acceptance.message,
      });
      return;
    }
    if (newest !== head) log.info('head accepted', { commit: head, because: acceptance.because });
    accepted = head;
  }

  async function acceptanceOf(head: string, context: CheckContext): Promise<CommitAcceptance> {
    try {
      const refusal = await ancestryRefusal(head, context);
      return refusal ?? (await acceptContent(await renders.get(head, context.signal), checks));
    } catch (error) {
      if (isRenderError(error)) return acceptRenderError(error);
      if (isRefusal(error)) return refuseCommit(error);
      throw error;
    }
  }

  async function ancestryRefusal(
    head: string,
    { before, acceptHead, signal }: CheckContext,
  ): Promise<CommitAcceptance | undefined> {
    for (const lastApplied of before) {
      const ancestry = await git.ancestry({ ancestor: lastApplied, head, ref }, signal);
      const acceptance = acceptAncestry(
        checkAncestry({ lastApplied, head, ancestry, ...(acceptHead ? { acceptHead } : {}) }),
      );
      if (!acceptance.accepted) return acceptance;
    }
    return undefined;
  }
}

interface CheckContext {
  readonly before: readonly string[];
  readonly acceptHead: string | undefined;
  readonly signal: AbortSignal;
}
