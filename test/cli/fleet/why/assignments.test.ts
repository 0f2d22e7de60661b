import { describe, expect, it } from 'vitest';
import type {
  Machine,
  MachineComponentReport,
  MachineComponentSet,
} from '../../../../src/api/generated/types.ts';
import { DRAIN_PENDING } from '../../../../src/api/machine/drain-wait.ts';
import { explainAssignments } from '../../../../src/cli/fleet/why/assignments.ts';
import {
  type ComponentVersion,
  resolveRevision,
} from '../../../../src/controllers/componentset/revision/resolve.ts';
import { componentSet } from '../../../controllers/componentset/component-set.ts';
import { entriesOwnedBy, ownEntries } from '../../../controllers/componentset/managed-fields.ts';
import { drainReport } from '../../../support/agent/drain-report.ts';
import { ago, condition, DESIRED, machine, NOW, node, PREVIOUS } from '../../../support/builders.ts';

const VERSION: ComponentVersion = { spec: { component: 'kubelet', parameters: [] }, digest: DESIRED.digest };
const COMPONENTS = [
  { name: 'kubelet', componentRef: DESIRED.componentRef, state: 'Present', parameters: {} },
] as const;
const resolved = resolveRevision(COMPONENTS, () => VERSION);
const REVISION = 'revision' in resolved ? resolved.revision.name : '';

type Status = NonNullable<MachineComponentSet['status']>;

function set(status: Partial<Status> = {}, name = 'base'): MachineComponentSet {
  return componentSet(name, {
    spec: { components: COMPONENTS },
    status: { conditions: [], updateRevision: REVISION, batch: { index: 1 }, ...status },
  });
}

interface Parts {
  readonly version?: typeof DESIRED;
  readonly report?: Partial<MachineComponentReport>;
  readonly agent?: 'True' | 'Unknown';
  readonly manager?: string;
  readonly spec?: Partial<Machine['spec']>;
  readonly grant?: boolean;
}

/** Assigned the version before, or the desired one, and committed to it. */
function member(parts: Parts = {}): Machine {
  const { version = PREVIOUS, report, agent = 'True', manager, spec } = parts;
  const owned = manager === undefined ? ownEntries('kubelet') : entriesOwnedBy(manager, ['kubelet']);
  return machine('m-1', {
    metadata: { managedFields: [owned] },
    spec: { components: [entryOf(version, parts)], ...spec },
    status: {
      agent: { observedGeneration: 1 },
      conditions: [condition('AgentReady', agent, { lastTransitionTime: ago(120) })],
      components: [
        {
          name: 'kubelet',
          desiredRef: version.componentRef,
          currentRef: version.componentRef,
          digest: version.digest,
          state: 'Committed',
          running: true,
          ready: true,
          ...report,
        },
      ],
    },
  });
}

function entryOf(version: typeof DESIRED, { manager, grant }: Parts): Machine['spec']['components'][number] {
  const revision = version === DESIRED ? REVISION : 'r-00000001';
  const permission = { id: 'g-1', fence: 1, entryDigest: 'x', notAfter: ago(-300) };
  return {
    ...version,
    state: 'Present',
    parameters: {},
    ...(manager === undefined && { assignment: { set: 'base', revision, batch: 1 } }),
    ...(grant && { grant: permission }),
  };
}

function explain(found: Machine, sets: readonly MachineComponentSet[] = [set()], grant?: object) {
  return explainAssignments({
    machine: found,
    node: node('m-1'),
    grant: grant as never,
    sets,
    find: () => VERSION,
    classOf: () => 'Restart',
    now: NOW,
  });
}

const waiting = (reason: string): Partial<Status> => ({
  waiting: { reason, since: ago(30), message: `because of ${reason}` },
});

describe('explainAssignments', () => {
  it.each<[string, Machine, Partial<Status>]>([
    ['Queued', member(), {}],
    ['GrantDenied', member(), waiting('GrantDenied')],
    ['GateOpen', member(), waiting('GateOpen')],
    ['Soaking', member(), waiting('Soaking')],
    ['Paused', member(), waiting('Paused')],
    ['Held', member({ spec: { hold: { reason: 'disks', scope: 'Disruptive' } } }), {}],
    ['Pinned', member({ manager: 'ann' }), {}],
    ['AgentSilent', member({ agent: 'Unknown' }), {}],
    [
      DRAIN_PENDING,
      member({
        version: DESIRED,
        report: { ...drainReport(DESIRED), digest: PREVIOUS.digest },
        grant: true,
      }),
      {},
    ],
    ['Failed', member({ version: DESIRED, report: { state: 'Failed' } }), {}],
    ['RolledBack', member({ version: DESIRED, report: { state: 'RolledBack' } }), {}],
  ])('ROL-61 gives exactly one reason for a machine: %s', (reason, found, status) => {
    const reasons = explain(found, [set(status)]);
    expect(reasons.map((each) => each.reason)).toEqual([reason]);
    expect(reasons[0]?.because).not.toBe('');
    expect(reasons[0]?.unblock).not.toBe('');
  });

  it('names the batch in work as rollout show does, counted from 1', () => {
    expect(explain(member(), [set()])[0]?.because).toBe('not in batch 2, which is in work');
  });

  it('dates a reason of the whole set', () => {
    expect(explain(member(), [set(waiting('Paused'))])[0]).toEqual({
      set: 'base',
      revision: REVISION,
      versions: 'kubelet 1.34.2',
      reason: 'Paused',
      because: 'because of Paused',
      since: ago(30),
      unblock: 'kubenode rollout resume base',
    });
  });

  it('has nothing to unblock on a machine that settled', () => {
    const [settled] = explain(member({ version: DESIRED }));
    expect([settled?.reason, settled?.unblock]).toEqual(['Settled', '']);
  });

  it('names the other act on a busy machine', () => {
    const holder = { kind: 'RemedyOperationJob', name: 'reboot-m-1' };
    const [busy] = explain(member(), [set()], { action: 'Reboot', state: 'Started', holder });
    expect([busy?.reason, busy?.because]).toEqual(['MachineBusy', expect.stringContaining('reboot-m-1')]);
  });

  it('names both sets of a conflict', () => {
    const reasons = explain(member(), [set(), set({}, 'other')]);
    expect(reasons.map(({ reason }) => reason)).toEqual(['SetConflict', 'SetConflict']);
    expect(reasons[0]?.because).toContain('sets base and other');
  });

  it('leaves a machine that left its set as it is', () => {
    const other = { matchLabels: { pool: 'other' }, all: false };
    const elsewhere = { ...set(), spec: { ...set().spec, machineSelector: other } };
    expect(explain(member(), [elsewhere])[0]?.reason).toBe('Left');
    expect(explain(member(), [{ ...elsewhere, metadata: { name: 'unrelated' } }])).toEqual([]);
  });

  it('names what a version needs that the machine does not have', () => {
    const because = 'm-1: kubelet-1.36.3 needs kernel 6.1 or newer, and the machine runs 5.15';
    const blocker = { kind: 'Machine', name: 'm-1' };
    const [found] = explainAssignments({
      machine: member(),
      node: node('m-1'),
      grant: undefined,
      sets: [set()],
      find: () => VERSION,
      classOf: () => 'Restart',
      compatOf: () => ({ reason: 'ComponentIncompatible', because, blocker }),
      now: NOW,
    });
    expect(found).toMatchObject({ reason: 'ComponentIncompatible', because });
    expect(found?.unblock).toMatch(/^do what the message names/);
  });
});
