/**
 * Finds commits that inventories in clusters name and that the newest accepted commit neither contains nor replaces. Hub and
 * repository were restored from a backup, then: a cluster that runs such a commit is not written (S39).
 */

import type { Log } from '../../../kube/process/log.ts';
import { messageOf } from '../../../os/errors.ts';
import type { AcceptedHead } from '../../accepted-heads.ts';
import type { GitTransport } from '../../git/transport.ts';
import { checkAppliedCommit } from './applied-commit.ts';

export interface UnacceptedCommitsOptions {
  readonly git: Pick<GitTransport, 'ancestry'>;
  readonly ref: string;
  readonly log: Log;
}

export interface InventoryQuestion {
  /** The newest accepted commit. */
  readonly newest: string;
  /** Commits of inventories. The hub has no Release of any of them. */
  readonly named: readonly string[];
  readonly accepted: readonly AcceptedHead[];
}

export interface UnacceptedCommits {
  /** Each with the reason. A commit that git cannot compare counts as unaccepted. */
  find(question: InventoryQuestion): Promise<ReadonlyMap<string, string>>;
}

export function createUnacceptedCommits({ git, ref, log }: UnacceptedCommitsOptions): UnacceptedCommits {
  /** The history of a commit never changes, so each answer is valid as long as the question is the same. */
  let known: { readonly key: string; readonly answers: Map<string, string | undefined> } | undefined;

  return {
    async find({ newest, named, accepted }) {
      const key = JSON.stringify([newest, accepted]);
      if (known?.key !== key) known = { key, answers: new Map() };
      const { answers } = known;
      const found = new Map<string, string>();
      for (const commit of named) {
        const because = answers.has(commit)
          ? answers.get(commit)
          : await compare(commit, { newest, accepted }, answers);
        if (because !== undefined) found.set(commit, because);
      }
      return found;
    },
  };

  async function compare(
    lastApplied: string,
    { newest, accepted }: Omit<InventoryQuestion, 'named'>,
    answers: Map<string, string | undefined>,
  ): Promise<string | undefined> {
    const question = { head: newest, lastApplied, isReleased: false, accepted };
    try {
      const { verdict, because } = await checkAppliedCommit({ git, ref }, question);
      const reason = verdict === 'Accepted' ? undefined : because;
      answers.set(lastApplied, reason);
      return reason;
    } catch (error) {
      log.warn('commit of an inventory not compared', { commit: lastApplied, newest, error });
      const why = messageOf(error);
      return `it is unknown whether ${newest} descends from the applied commit ${lastApplied}: ${why}`;
    }
  }
}
