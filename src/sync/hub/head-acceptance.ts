/** Judges the head of a repository: its place in history, its render, what is in it. */
import type { Log } from '../../kube/process/log.ts';
import { checkAncestry } from '../git/ancestry-guard.ts';
import type { GitTransport } from '../git/transport.ts';
import type { ObjectChecks } from '../judge/object-checks.ts';
import { isRenderError } from '../render/errors.ts';
import { acceptAncestry, acceptContent, acceptRenderError, type CommitAcceptance } from './acceptance.ts';
import type { RenderStore } from './render-store.ts';

export interface HeadAcceptanceOptions {
  readonly git: GitTransport;
  readonly ref: string;
  readonly renders: RenderStore;
  readonly checks: ObjectChecks;
  /** Commits that were accepted before and are in force: a head has to have all of them in its history. */
  readonly lastApplied: () => readonly string[];
  /** The newest commit that has a Release: accepted by a process before this one. */
  readonly newestReleasedCommit: () => string | undefined;
  /** `spec.source.acceptHead`, as it stands now. */
  readonly acceptHead: () => string | undefined;
  readonly log: Log;
}

export interface HeadAcceptance {
  /** Rejects when nobody can say now: the question stays open. */
  judge(head: string): Promise<void>;
  verdictOn(head: string): CommitAcceptance | undefined;
  /** The newest accepted one. */
  accepted(): string | undefined;
}

export function createHeadAcceptance(options: HeadAcceptanceOptions): HeadAcceptance {
  const { git, ref, renders, checks, log } = options;
  let last:
    | { readonly key: string; readonly head: string; readonly acceptance: CommitAcceptance }
    | undefined;
  let accepted: string | undefined;

  return {
    judge,
    verdictOn: (head) => (last?.head === head ? last.acceptance : undefined),
    accepted: () => accepted,
  };

  function newest(): string | undefined {
    return accepted ?? options.newestReleasedCommit();
  }

  /** A verdict stands for as long as the question is the same. */
  async function judge(head: string): Promise<void> {
    const latest = newest();
    const before = [...new Set([...(latest ? [latest] : []), ...options.lastApplied()])];
    const acceptHead = options.acceptHead();
    const key = JSON.stringify([head, acceptHead, before]);
    if (last?.key === key) return;
    const acceptance = await acceptanceOf(head, before, acceptHead);
    last = { key, head, acceptance };
    if (!acceptance.accepted) {
      log.warn('head not accepted', {
        commit: head,
        verdict: acceptance.verdict,
        because: acceptance.message,
      });
      return;
    }
    if (latest !== head) log.info('head accepted', { commit: head, because: acceptance.because });
    accepted = head;
  }

  async function acceptanceOf(
    head: string,
    before: readonly string[],
    acceptHead: string | undefined,
  ): Promise<CommitAcceptance> {
    for (const lastApplied of before) {
      const ancestry = await git.ancestry({ ancestor: lastApplied, head, ref });
      const acceptance = acceptAncestry(
        checkAncestry({ lastApplied, head, ancestry, ...(acceptHead ? { acceptHead } : {}) }),
      );
      if (!acceptance.accepted) return acceptance;
    }
    try {
      return await acceptContent(await renders.get(head), checks);
    } catch (error) {
      if (isRenderError(error)) return acceptRenderError(error);
      throw error;
    }
  }
}
