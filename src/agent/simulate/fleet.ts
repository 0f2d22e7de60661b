/** Thousands of simulated agents in one process. They start one after the other, as machines of a fleet do. */
import { setMaxListeners } from 'node:events';
import type { Client } from '../../kube/client/client.ts';
import { optional } from '../../kube/objects/optional.ts';
import type { Log } from '../../kube/process/log.ts';
import type { Clock } from '../../os/clock.ts';
import type { AgentStatus } from '../status/report.ts';
import { runSimulatedAgent } from './agent.ts';

export interface SimulatedFleetOptions extends SimulatedAgentsOptions {
  readonly machines: readonly string[];
  /** How many agents start in a second. */
  readonly startsPerSecond: number;
}

export interface SimulatedAgentsOptions {
  /** A connection of its own for each agent, with its own certificate. */
  readonly connect: (machine: string) => Client;
  readonly version: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly random: () => number;
  /** Called after each reconcile of an agent. */
  readonly onReconciled?: (machine: string, status: AgentStatus) => void;
}

/** Runs until the signal. */
export async function simulateFleet(options: SimulatedFleetOptions, signal: AbortSignal): Promise<void> {
  const { machines, startsPerSecond, clock } = options;
  // Each agent listens once.
  setMaxListeners(0, signal);
  const delayMs = 1000 / startsPerSecond;
  await Promise.all(
    machines.map(async (machine, index) => {
      await clock.sleep(index * delayMs, signal).catch(() => undefined);
      // A signal of its own: each of its many listeners is compared with all others of the same signal.
      if (!signal.aborted) await runSimulated(machine, options, AbortSignal.any([signal]));
    }),
  );
}

/** Never rejects: the end of one agent is not the end of the others. */
export async function runSimulated(
  machine: string,
  options: SimulatedAgentsOptions,
  signal: AbortSignal,
): Promise<void> {
  const { connect, onReconciled, log } = options;
  const client = connect(machine);
  const observer = onReconciled && {
    acted: () => undefined,
    reconciled: (status: AgentStatus) => onReconciled(machine, status),
  };
  try {
    const { version, clock, random } = options;
    const parts = { machine, client, version, clock, random, log: log.with({ machine }) };
    await runSimulatedAgent({ ...parts, ...optional('observer', observer) }, signal);
  } catch (error) {
    log.error('simulated agent ended', { machine, error });
  } finally {
    await client.close();
  }
}
