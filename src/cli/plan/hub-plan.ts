/** Plans commits for sync, by the code of `kubenode plan`: on the clusters of the hub, without writing to them. */

import { createCallWindow } from '../../defender/facts/call-window.ts';
import type { Client } from '../../kube/client/client.ts';
import { isKubeError } from '../../kube/client/errors.ts';
import type { CallReport } from '../../kube/client/request.ts';
import type { Log } from '../../kube/process/log.ts';
import type { Clock } from '../../os/clock.ts';
import { createPreview } from '../../sync/preview/preview.ts';
import type { PlanCommit } from '../../sync/pulls/head-plan.ts';
import { declaredPermitWarnings } from '../checks/rule-permits.ts';
import { endedTimeWarnings } from './ended-times.ts';
import { readPlanHub } from './hub.ts';
import { readLimits, unknownIdentities } from './limits.ts';
import { previewOnClustersOf, shownTargets, withFleetLimits } from './live.ts';

export interface HubPlanOptions {
  /** Connects to the hub as sync does. */
  readonly connect: (onCall: (report: CallReport) => void) => Promise<Client>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Returns a plan that rejects when the hub cannot be read. The objects of the commits are judged already. */
export function createPlanCommit({ connect, clock, log }: HubPlanOptions): PlanCommit {
  return async ({ pipeline, from, to, signal }) => {
    const calls = createCallWindow(clock);
    const client = await connect((report) => calls.add(report));
    try {
      const hub = await readPlanHub({ client, calls }, signal);
      const notes = [...endedTimeWarnings(to, clock.now()), ...declaredPermitWarnings(to.targets)];
      const warn = (warnings: readonly string[]): void => void notes.push(...warnings);
      const sides = { from, to, limits: readLimits({ from, to }, pipeline), pipeline };
      const explain = (error: unknown): string => {
        log.warn('pull request not planned on a cluster', { pipeline, commit: to.commit, error });
        return unreadText(error);
      };
      // What reads the clusters logs nothing that its error does not tell.
      const ports = { clock, signal, err: () => undefined, warn, explain };
      const targets = shownTargets(await previewOnClustersOf(hub, ports, sides));
      const planned = withFleetLimits(targets, sides, { hub, now: clock.now() });
      const refusals = unknownIdentities({ from, to }, pipeline);
      const compared = { from: from.commit, to: to.commit, ...planned, refusals };
      return { preview: createPreview(compared, to), notes };
    } finally {
      await client.close();
    }
  };
}

/** Returns what a git host shows of an error: its message may name addresses of the fleet and quote what its servers answered. */
export function unreadText(error: unknown): string {
  const text = isKubeError(error, 'Forbidden')
    ? 'kubenode-sync may not read or write there what the commit needs'
    : 'it cannot be read';
  return `${text}: see the log of kubenode sync`;
}
