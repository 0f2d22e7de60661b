/** Keeps the list of open pull requests, and asks the git host for it again after a while, and soon after a webhook. */
import type { Clock } from '../../os/clock.ts';
import type { PullHost, PullList, PullListQuestion } from './host.ts';
import type { PullRequest } from './hosts/adapter.ts';

export interface OpenPullsQuestion extends PullListQuestion {
  readonly host: Pick<PullHost, 'list'>;
  /** Differs when another list is asked for. */
  readonly address: string;
  /** When the last webhook was received. */
  readonly webhook: string | undefined;
}

export interface OpenPulls {
  /** Returns the list, which is asked for if it is due. */
  read(question: OpenPullsQuestion): Promise<readonly PullRequest[]>;
  /** Returns how long until the list is due. */
  waitMs(webhook: string | undefined): number;
  forget(): void;
}

/** A conditional request is not counted by the limits of GitHub. A plan takes longer than this saves. */
const LIST_MS = 30_000;
const WOKEN_MS = 2000;

export function createOpenPulls({ clock }: { readonly clock: Pick<Clock, 'monotonicMs'> }): OpenPulls {
  let known: (PullList & { readonly address: string }) | undefined;
  let listed: { readonly atMs: number; readonly webhook: string | undefined } | undefined;
  return { read, waitMs, forget };

  async function read(question: OpenPullsQuestion): Promise<readonly PullRequest[]> {
    const before = known?.address === question.address ? known : undefined;
    if (before && waitMs(question.webhook) > 0) return before.pulls;
    const atMs = clock.monotonicMs();
    const list = await question.host.list(question, before);
    known = { ...list, address: question.address };
    listed = { atMs, webhook: question.webhook };
    return known.pulls;
  }

  function waitMs(webhook: string | undefined): number {
    if (!known || !listed) return 0;
    const limitMs = listed.webhook === webhook ? LIST_MS : WOKEN_MS;
    return Math.max(0, listed.atMs + limitMs - clock.monotonicMs());
  }

  function forget(): void {
    known = undefined;
    listed = undefined;
  }
}
