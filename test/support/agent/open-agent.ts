/** The loop of an agent on a host of a test. */
import { type Agent, type AgentOptions, openAgent } from '../../../src/agent/run/agent.ts';
import { createReconcileTrigger } from '../../../src/agent/run/trigger.ts';
import { memoryLog } from '../memory-log.ts';

/** Of Machine n1, without what the test does not name. */
export async function openTestAgent(
  options: Pick<AgentOptions, 'api' | 'clock' | 'host'> & Partial<AgentOptions>,
): Promise<Agent> {
  return await openAgent({
    log: memoryLog(),
    random: () => 0,
    machine: 'n1',
    version: '0.0.1',
    clusterServer: 'https://10.0.0.1:6443',
    trigger: createReconcileTrigger(options.clock),
    ...options,
  });
}
