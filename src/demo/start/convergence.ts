/** Tells when all of a fleet is as git declares it, and how long that took. */
import type { Machine } from '../../api/generated/types.ts';
import { conditionStatus } from '../../kube/objects/conditions.ts';
import { textAt } from '../../kube/objects/json.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import type { HubStatus } from '../../views/status/hub-status.ts';
import { shortCommit } from '../../views/text/age.ts';

export interface ConvergenceOptions {
  readonly nowMs: () => number;
  /** How many machines the clusters have, and how many of them are Ready. Rejects while a cluster does not answer. */
  readonly countMachines: () => Promise<ReadyMachines>;
}

export interface ReadyMachines {
  readonly ready: number;
  readonly total: number;
}

/** Times are of one computer: those of the agents, and `since`. */
export function readyMachines(
  machines: readonly Machine[],
  leases: readonly KubeObject[],
  since: Date,
): ReadyMachines {
  const heard = new Set(
    leases
      .filter((lease) => Date.parse(textAt(lease, 'spec', 'renewTime') ?? '') >= since.getTime())
      .map(({ metadata }) => metadata.name),
  );
  const ready = machines.filter(
    ({ metadata, status }) =>
      heard.has(metadata.name) && conditionStatus(status?.conditions, 'Ready') === 'True',
  );
  return { ready: ready.length, total: machines.length };
}

export interface Convergence {
  /** Undefined until every cluster runs the head and every machine is Ready. Then the same text until that changes. */
  lineOf(status: HubStatus): Promise<string | undefined>;
}

export function createConvergence({ nowMs, countMachines }: ConvergenceOptions): Convergence {
  let [sinceMs, text] = [nowMs(), undefined as string | undefined];
  return {
    async lineOf(status) {
      if (!isProven(status)) {
        if (text !== undefined) [sinceMs, text] = [nowMs(), undefined];
        return undefined;
      }
      text ??= await convergedText(status);
      return text;
    },
  };

  async function convergedText({ pipelines }: HubStatus): Promise<string | undefined> {
    const { ready, total } = await countMachines().catch(() => ({ ready: 0, total: 0 }));
    if (total === 0 || ready < total) return undefined;
    const seconds = Math.round((nowMs() - sinceMs) / 1000);
    const head = shortCommit(pipelines[0]?.head ?? '');
    return `  converged: ${total} machines Ready at ${head} in ${seconds} s`;
  }
}

function isProven({ pipelines, clusters, unsynced }: HubStatus): boolean {
  if (unsynced.length > 0 || clusters.length === 0) return false;
  const heads = new Set(pipelines.map(({ head }) => head));
  return (
    pipelines.every(({ phase }) => phase === 'UpToDate') &&
    clusters.every(({ state, commit }) => state === 'Proven' && heads.has(commit))
  );
}
