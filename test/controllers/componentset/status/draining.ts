/** A machine that is drained for an update, read from its objects as the agent and the machine controller write them. */
import type { Wait } from '../../../../src/api/generated/types.ts';
import {
  type MemberState,
  memberState,
} from '../../../../src/controllers/componentset/machine/member-state.ts';
import { drainReport } from '../../../support/agent/drain-report.ts';
import { ago, machine, NOW, node } from '../../../support/builders.ts';
import { ownEntries } from '../managed-fields.ts';
import { grant, NEW } from '../rollout/rollout-input.ts';

export const BUDGET_WAIT: Wait = {
  reason: 'PodDisruptionBudget',
  blocker: { kind: 'PodDisruptionBudget', name: 'web', namespace: 'shop' },
  since: ago(60),
  message: '1 pods left: 1 wait for PodDisruptionBudget shop/web',
};

/** In batch 1 of NEW, since that many seconds. */
export function draining(name: string, waiting: Wait | undefined, seconds = 60): MemberState {
  const [entry] = NEW.components;
  if (!entry) throw new Error('the revision has no component');
  const assignment = { set: 'general', revision: NEW.name, batch: 1 };
  const its = { holder: { kind: 'MachineComponentSet', name: 'general', revision: NEW.name } } as const;
  return memberState(
    {
      machine: machine(name, {
        metadata: { managedFields: [ownEntries(entry.name)] },
        spec: { components: [{ ...entry, assignment }] },
        status: {
          agent: { observedGeneration: 1 },
          components: [drainReport(entry)],
          drain: { grant: 'g-1', state: 'Draining', since: ago(seconds) },
          ...(waiting ? { waiting } : {}),
        },
      }),
      node: node(name),
      heardAt: NOW,
      grant: grant({ ...its, issuedAt: ago(seconds) }),
    },
    {
      set: 'general',
      components: new Set([entry.name]),
      timeoutSeconds: 900,
      openBatch: { revision: NEW.name, index: 1, startedAt: new Date(ago(600)) },
      now: NOW,
    },
  );
}
