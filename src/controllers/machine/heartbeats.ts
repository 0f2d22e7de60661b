/** What the Leases of agents tell about machines that join. It remembers what it found first: only a change is a sign of life. */
import { agentLease } from '../../api/machine/agent-lease.ts';
import type { ReconcileContext } from '../../kube/controller/reconcile-context.ts';
import type { Heartbeat } from './observation.ts';

export interface Heartbeats {
  of(machine: string, context: ReconcileContext): Heartbeat | undefined;
  forget(machine: string): void;
}

export function createHeartbeats(): Heartbeats {
  const first = new Map<string, string>();
  return {
    of: (machine, context) => {
      const lease = agentLease(machine, context);
      const renewed = lease?.renewTime ?? '';
      const found = first.get(machine) ?? renewed;
      first.set(machine, found);
      return lease && { ageMs: lease.ageMs, hasChanged: renewed !== found };
    },
    forget: (machine) => void first.delete(machine),
  };
}
