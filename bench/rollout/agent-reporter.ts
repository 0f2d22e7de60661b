/** Reports of a simulated machine as an agent writes them: the same conditions, and the same rules for what waits for a later report. */
import { createReportPace } from '../../src/agent/status/report-pace.ts';
import { MACHINES } from '../../src/api/generated/resources.ts';
import type { Condition, Machine, MachineStatus } from '../../src/api/generated/types.ts';
import { hasGrants } from '../../src/api/machine/entry-report.ts';
import { MANAGER_AGENT } from '../../src/api/names.ts';
import type { Client } from '../../src/kube/client/client.ts';
import { withCondition } from '../../src/kube/objects/conditions.ts';
import type { Clock } from '../../src/os/clock.ts';
import type { SimulatedMachine } from '../../test/controllers/componentset/simulation/simulated-machine.ts';

export interface AgentReporter {
  /** Writes the report when it is due, and tells whether it was written. */
  publish(agent: SimulatedMachine): Promise<boolean>;
}

export function createAgentReporter(client: Client, clock: Clock): AgentReporter {
  const pace = createReportPace(clock);
  let conditions: readonly Condition[] = [];
  return {
    async publish(agent) {
      const machine = agent.machine();
      conditions = conditionsOf(machine, conditions, clock.now());
      const status = statusOf(machine, conditions);
      if (!pace.isDue(status, hasGrants(machine.spec))) return false;
      // Before the answer: the next tick of this agent must not write it again.
      pace.wrote(status);
      const { apiVersion, kind, metadata } = machine;
      const intent = { apiVersion, kind, metadata: { name: metadata.name }, status };
      await client.apply(MACHINES, intent, {
        fieldManager: MANAGER_AGENT,
        subresource: 'status',
        force: true,
      });
      return true;
    },
  };
}

function statusOf(
  { status }: Machine,
  conditions: readonly Condition[],
): Pick<MachineStatus, 'agent' | 'components' | 'conditions'> {
  return { agent: status?.agent ?? {}, components: status?.components ?? [], conditions };
}

function conditionsOf(
  { metadata, status }: Machine,
  before: readonly Condition[],
  now: Date,
): readonly Condition[] {
  const isAtEnd = (status?.components ?? []).every(({ state }) => state === 'Committed');
  const found = isAtEnd
    ? ({ status: 'True', reason: 'AsWanted', message: '' } as const)
    : ({ status: 'False', reason: 'ComponentsBehind', message: 'app is not at its entry' } as const);
  const observedGeneration = metadata.generation ?? 0;
  return ['ComponentsReady', 'UpToDate'].reduce(
    (all, type) => withCondition(all, { type, ...found, observedGeneration }, now),
    before,
  );
}
