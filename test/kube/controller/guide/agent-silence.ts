/** Marks Machines whose agent sends no heartbeat any more. */
import { MACHINES } from '../../../../src/api/generated/resources.ts';
import { NAMESPACE_AGENTS } from '../../../../src/api/names.ts';
import { type Controller, read } from '../../../../src/kube/controller/controller.ts';
import { contentChanged, generationChanged } from '../../../../src/kube/controller/predicates.ts';
import { LEASES } from '../../../../src/kube/leader/record.ts';
import { conditionOf, withCondition } from '../../../../src/kube/objects/conditions.ts';

const TYPE = 'AgentSilent';
const LIMIT_MS = 120_000;
const SILENT = { status: 'True', reason: 'NoHeartbeat', message: 'no heartbeat' } as const;
const ALIVE = { status: 'False', reason: 'Heartbeat', message: 'heartbeats arrive' } as const;

export const agentSilence: Controller = {
  name: 'agent-silence',
  fieldManager: 'kubenode-agent-silence',
  reads: [
    read(MACHINES, { changed: generationChanged }),
    read(LEASES, { keys: ({ metadata }) => [metadata.name], changed: contentChanged }),
  ],
  writes: ['Machine.status.conditions[AgentSilent]'],

  async reconcile(name, context) {
    const machine = context.view(MACHINES).get(name);
    const ageMs = context.ageMs(LEASES, `${NAMESPACE_AGENTS}/${name}`);
    if (!machine || ageMs === undefined) return {};
    const update = { type: TYPE, ...(ageMs < LIMIT_MS ? ALIVE : SILENT) };
    const now = context.clock.now();
    const present = machine.status?.conditions;
    const before = conditionOf(present, TYPE);
    const conditions = withCondition(present, update, now).filter(({ type }) => type === TYPE);
    await context.applyStatus(MACHINES, { metadata: { name }, status: { conditions } });
    if (update.status === 'True' && before?.status !== 'True') {
      context.event(machine, { type: 'Warning', reason: TYPE, action: 'Watch', note: update.message });
    }
    return { requeueAt: new Date(now.getTime() + LIMIT_MS - (ageMs % LIMIT_MS)) };
  },
};
