/** How many reconciles heartbeats trigger: through the read that all controllers share, as a watch delivers them. In memory. */
import { readAgentLeases } from '../../src/api/machine/agent-lease.ts';
import { HEARTBEAT_MS } from '../../src/api/machine/heartbeat.ts';
import { NAMESPACE_AGENTS } from '../../src/api/names.ts';
import { createStore } from '../../src/kube/cache/store.ts';
import type { View } from '../../src/kube/cache/view.ts';
import { createControllerViews } from '../../src/kube/controller/views.ts';
import { formatMicroTime, LEASES } from '../../src/kube/leader/record.ts';
import { createSystemClock } from '../../src/os/system-clock.ts';
import { memoryLog } from '../../test/support/memory-log.ts';

export interface HeartbeatLoad {
  readonly agentHeartbeats: number;
  readonly triggeredByHeartbeats: number;
  /** One for each agent: its first heartbeat after a silence is news. */
  readonly triggeredAfterSilence: number;
}

const ROUNDS = 6;
const SILENCE_MS = 60_000;

export function measureHeartbeats(agents: number): HeartbeatLoad {
  const log = memoryLog();
  const store = createStore({ log });
  const reflector = { synced: () => Promise.resolve() };
  const view = { resource: LEASES, store, reflector } as unknown as View;
  let triggered = 0;
  const views = createControllerViews({
    controller: { name: 'bench', reads: [readAgentLeases(({ metadata }) => [metadata.name])] },
    views: { [LEASES.kind]: view },
    clock: createSystemClock(),
    log,
    changed: () => {
      triggered += 1;
    },
  });
  const start = Date.UTC(2030, 0, 1);
  beatAll(start);
  const triggeredBy = (...moments: readonly number[]): number => {
    triggered = 0;
    for (const moment of moments) beatAll(moment);
    return triggered;
  };
  const beats = Array.from({ length: ROUNDS }, (_, round) => start + (round + 1) * HEARTBEAT_MS);
  const triggeredByHeartbeats = triggeredBy(...beats);
  const triggeredAfterSilence = triggeredBy((beats.at(-1) ?? start) + SILENCE_MS);
  views.close();
  return { agentHeartbeats: agents * ROUNDS, triggeredByHeartbeats, triggeredAfterSilence };

  function beatAll(atMs: number): void {
    const renewTime = formatMicroTime(new Date(atMs));
    for (let index = 0; index < agents; index += 1) {
      const name = `m-${index}`;
      const metadata = { name, namespace: NAMESPACE_AGENTS, uid: name, resourceVersion: String(atMs) };
      store.put({ apiVersion: 'coordination.k8s.io/v1', kind: LEASES.kind, metadata, spec: { renewTime } });
    }
  }
}
