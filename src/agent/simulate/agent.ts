/** Runs one simulated agent: the real loop, watches and reports, on a host in memory. */
import type { Client } from '../../kube/client/client.ts';
import type { Log } from '../../kube/process/log.ts';
import type { Clock } from '../../os/clock.ts';
import { type AgentObserver, openAgent } from '../run/agent.ts';
import { createAgentApi } from '../run/api.ts';
import { createReconcileTrigger } from '../run/trigger.ts';
import { createSimulatedHost } from './host.ts';

export interface SimulatedAgentOptions {
  readonly machine: string;
  /** A client with the certificate of this agent. */
  readonly client: Client;
  readonly version: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly random: () => number;
  readonly observer?: AgentObserver;
}

export async function runSimulatedAgent(options: SimulatedAgentOptions, signal: AbortSignal): Promise<void> {
  const { client, clock } = options;
  const trigger = createReconcileTrigger(clock);
  const api = createAgentApi({ ...options, onChange: () => trigger.notify() });
  const agent = await openAgent({
    ...options,
    host: createSimulatedHost(clock),
    api,
    trigger,
    clusterServer: client.server,
  });
  await Promise.all([api.run(signal), agent.run(signal)]);
  await agent[Symbol.asyncDispose]();
}
