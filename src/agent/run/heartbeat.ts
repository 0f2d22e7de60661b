/** The heartbeat of the agent: one write of its Lease at a time. */
import { HEARTBEAT_MS } from '../../api/machine/heartbeat.ts';
import type { Log } from '../../kube/process/log.ts';
import type { Clock } from '../../os/clock.ts';
import type { AgentApi, MachineIdentity } from './api.ts';

export interface LeaseWriter {
  /** Sends the heartbeat when it is due. Does not wait for the answer: the agent lives while the server is slow. */
  beat(machine: MachineIdentity): void;
  /** Whether this process has written the Lease. */
  hasBeenWritten(): boolean;
}

export interface HeartbeatOptions {
  readonly api: Pick<AgentApi, 'heartbeat'>;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly log: Log;
  /** A reconcile ends about that much before or after its time. */
  readonly slackMs: number;
}

export function createHeartbeat({ api, clock, log, slackMs }: HeartbeatOptions): LeaseWriter {
  let lastMs = Number.NEGATIVE_INFINITY;
  let isBeating = false;
  let isHeard = true;
  let hasBeenWritten = false;

  async function write(machine: MachineIdentity): Promise<void> {
    try {
      await api.heartbeat(machine);
      isHeard = true;
      hasBeenWritten = true;
    } catch (error) {
      // One line for each outage.
      if (isHeard) log.warn('heartbeat not written', { error });
      isHeard = false;
    }
    isBeating = false;
  }

  return {
    beat(machine) {
      const nowMs = clock.monotonicMs();
      if (isBeating || nowMs - lastMs < HEARTBEAT_MS - slackMs) return;
      isBeating = true;
      lastMs = nowMs;
      void write(machine);
    },
    hasBeenWritten: () => hasBeenWritten,
  };
}
