/** Reads from the Leases of agents whether their machines are alive. It remembers what it found first: only a change is a sign of life. */
import { MACHINES } from '../../api/generated/resources.ts';
import type { Machine } from '../../api/generated/types.ts';
import { agentLease } from '../../api/machine/agent-lease.ts';
import { SILENT_MS } from '../../api/machine/heartbeat.ts';
import type { ReconcileContext } from '../../kube/controller/reconcile-context.ts';
import { conditionStatus } from '../../kube/objects/conditions.ts';
import { createSilences } from './agent-silence.ts';
import type { Heartbeat } from './observe.ts';

export interface Heartbeats {
  of(machine: Machine, context: ReconcileContext): Heartbeat | undefined;
  forget(machine: string, context: ReconcileContext): void;
}

export function createHeartbeats(): Heartbeats {
  const first = new Map<string, string>();
  const silences = createSilences();
  return {
    of: (machine, context) => {
      const { name } = machine.metadata;
      const lease = agentLease(machine, context);
      const renewed = lease?.renewTime ?? '';
      const found = first.get(name) ?? renewed;
      first.set(name, found);
      if (!lease) return undefined;
      const { ageMs } = lease;
      return { ageMs, hasChanged: renewed !== found, unreportedMs: unreportedMs(machine, ageMs, context) };
    },
    forget: (name, { clock }) => {
      first.delete(name);
      silences.ended(name, clock.monotonicMs());
    },
  };

  function unreportedMs({ metadata, status }: Machine, ageMs: number, context: ReconcileContext): number {
    const nowMs = context.clock.monotonicMs();
    const wasReady = conditionStatus(status?.conditions, 'AgentReady') === 'True';
    if (ageMs > SILENT_MS && wasReady) {
      return silences.waitMs(metadata.name, nowMs, context.view(MACHINES).size);
    }
    silences.ended(metadata.name, nowMs);
    return 0;
  }
}
