/** Whether a set really is in a storm: by its hosts, and not by any condition. */
import type { Machine } from '../../../api/generated/types.ts';
import { isEstablished } from '../../../api/machine/node-state.ts';
import { NODES } from '../../../kube/objects/core-kinds.ts';
import type { InstanceHosts } from '../instance-hosts.ts';

export interface StormWatch {
  /** Once in each step. */
  observe(live: readonly Machine[]): void;
  /** Undefined: there is none. */
  sinceMs(): number | undefined;
}

/** Until an agent counts as silent, with the time between its heartbeats. */
const SILENT_MS = 75_000;
/** As in the spec of the simulated set. */
const MAX_UNHEALTHY = 0.4;
const MAX_UNHEALTHY_IN_ZONE = 0.5;

export function createStormWatch({
  api,
  hosts,
  nowMs,
}: Pick<InstanceHosts, 'api' | 'hosts' | 'nowMs'>): StormWatch {
  const silentFrom = new Map<string, number>();
  let since: number | undefined;
  return {
    sinceMs: () => since,
    observe: (live) => {
      for (const machine of live) listen(machine);
      since = isStorm(live) ? (since ?? nowMs()) : undefined;
    },
  };

  function listen({ metadata: { name, uid = '' } }: Machine): void {
    const host = hosts.get(name);
    const answers = host?.uid === uid && nowMs() >= Math.max(host.silentUntilMs, host.notReadyUntilMs);
    if (answers) silentFrom.delete(uid);
    else if (!silentFrom.has(uid)) silentFrom.set(uid, nowMs());
  }

  function isStorm(live: readonly Machine[]): boolean {
    const zones = Map.groupBy(
      live.filter(({ spec }) => spec.zone !== undefined),
      ({ spec }) => spec.zone,
    );
    return (
      isOver(live, MAX_UNHEALTHY) || [...zones.values()].some((each) => isOver(each, MAX_UNHEALTHY_IN_ZONE))
    );
  }

  function isOver(machines: readonly Machine[], share: number): boolean {
    return machines.filter(isIll).length > Math.max(1, Math.floor(machines.length * share));
  }

  function isIll(machine: Machine): boolean {
    const { name, uid = '' } = machine.metadata;
    const from = silentFrom.get(uid);
    const isSilent = from !== undefined && nowMs() - from > SILENT_MS;
    return isSilent && isEstablished(machine, api.get(NODES, name));
  }
}
