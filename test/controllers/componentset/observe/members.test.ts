import { describe, expect, it } from 'vitest';
import type { MachineComponentEntry } from '../../../../src/api/generated/types.ts';
import type { MemberState } from '../../../../src/controllers/componentset/machine/member-state.ts';
import { createStateOf, type StateParts } from '../../../../src/controllers/componentset/observe/members.ts';
import type { RestartWatch } from '../../../../src/controllers/componentset/observe/restart-watch.ts';
import type { RolloutProgress } from '../../../../src/controllers/componentset/rollout/input.ts';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';
import { ago, condition, machine, NOW, node } from '../../../support/builders.ts';
import { fakeContext } from '../../../support/controller/fake-context.ts';
import { componentSet } from '../component-set.ts';
import { ownEntries } from '../managed-fields.ts';
import { BATCH, grant, NEW, progressOf } from '../rollout/rollout-input.ts';

function sick(): KubeObject {
  const conditions = [
    condition('Ready', 'True'),
    condition('DiskPressure', 'True', { lastTransitionTime: ago(1) }),
  ];
  return { ...node('m-1'), status: { conditions } };
}

function repairOf(name: string, creationTimestamp: string): KubeObject {
  const metadata = { name: 'j', creationTimestamp };
  return {
    apiVersion: 'kubenode.dev/v1alpha1',
    kind: 'RemedyOperationJob',
    metadata,
    spec: { machine: { name } },
  };
}

interface MemberParts
  extends Partial<Pick<StateParts, 'set' | 'progress' | 'desired' | 'grants' | 'restarts'>> {
  readonly isWell?: boolean;
  /** When a repair of it began. */
  readonly repairedAt?: string;
}

/** Whose Lease was renewed just now. */
function stateOfMember(
  assignment: NonNullable<MachineComponentEntry['assignment']>,
  { isWell = false, repairedAt, ...parts }: MemberParts = {},
): MemberState {
  const [content] = NEW.components;
  const components = content ? [{ ...content, assignment }] : [];
  const jobs = repairedAt === undefined ? [] : [repairOf('m-1', repairedAt)];
  const objects = { Node: [isWell ? node('m-1') : sick()], RemedyOperationJob: jobs };
  const { context } = fakeContext({ objects });
  const stateOf = createStateOf({
    set: componentSet('general'),
    progress: progressOf(),
    grants: {},
    ...parts,
    now: NOW,
    context: { ...context, ageMs: () => 0 },
  });
  const report = {
    name: 'app',
    desiredRef: 'app-2',
    currentRef: 'app-2',
    state: 'Committed',
    running: true,
    ready: true,
    since: ago(30),
  } as const;
  const status = { components: [{ ...report, digest: content?.digest ?? '' }] };
  return stateOf(
    machine('m-1', { metadata: { managedFields: [ownEntries('app')] }, spec: { components }, status }),
  );
}

function stepOf(assignment: NonNullable<MachineComponentEntry['assignment']>): string {
  return stateOfMember(assignment).step;
}

describe('createStateOf', () => {
  const revision = NEW.name;

  it('ROL-20 patrols the machines of the open batch, and no others', () => {
    expect(stepOf({ set: 'general', revision, batch: BATCH.index })).toBe('Unhealthy');
    expect(stepOf({ set: 'general', revision, batch: 0 })).toBe('Settled');
    expect(stepOf({ set: 'general', revision: 'r-x', batch: BATCH.index })).toBe('Settled');
  });

  it('ROL-20 finds what is new since a machine was updated, also where the revision was replaced meanwhile', () => {
    const inBatch = { set: 'general', revision, batch: BATCH.index };
    // The Node is sick since one second, and the update ended 30 seconds ago.
    const batch = { ...BATCH, startedAt: NOW };
    const replaced = { revision, result: 'Superseded', startedAt: ago(300) } as const;
    const stepAt = (history: RolloutProgress['history']): string =>
      stateOfMember(inBatch, { progress: progressOf({ batch, history }) }).step;
    expect(stepAt([])).toBe('Settled');
    expect(stepAt([replaced])).toBe('Unhealthy');
    expect(stepAt([{ ...replaced, startedAt: ago(0) }])).toBe('Settled');
  });

  it.each<[what: string, issuedSeconds: number, holder: object, step: string]>([
    ['before the update was permitted', 20, { revision }, 'Settled'],
    ['after the update was permitted', 60, { revision }, 'Unhealthy'],
    ['before another revision was permitted', 20, { revision: 'r-x' }, 'Unhealthy'],
    ['before another set was permitted', 20, { name: 'extra', revision }, 'Unhealthy'],
  ])(
    'ROL-20 fails no machine for a repair that its batch waited for: began %s',
    (_, seconds, holder, step) => {
      const held = grant({ state: 'Settled', issuedAt: ago(seconds) });
      const grants = { 'm-1': { ...held, holder: { ...held.holder, ...holder } } };
      const inBatch = { set: 'general', revision, batch: BATCH.index };
      expect(stateOfMember(inBatch, { isWell: true, repairedAt: ago(40), grants }).step).toBe(step);
    },
  );

  it('ROL-20 asks for restarts on the machines of the open batch, since their update ended', () => {
    const asked: unknown[] = [];
    const restarts: RestartWatch = {
      patrol: (...about) => {
        asked.push(about);
        return { result: 'Fail', because: 'restarts' };
      },
      forget: (set) => void asked.push(set),
    };
    const parts = { isWell: true, restarts };
    const inBatch = { set: 'general', revision, batch: BATCH.index };
    expect(stateOfMember(inBatch, parts)).toMatchObject({ step: 'Unhealthy', because: 'restarts' });
    expect(stateOfMember({ ...inBatch, batch: 0 }, parts).step).toBe('Settled');
    expect(asked).toMatchObject([
      ['m-1', new Date(ago(30)), { set: 'general', revision, index: BATCH.index }],
    ]);
    stateOfMember(inBatch, { ...parts, progress: { history: [] } });
    expect(asked.slice(1)).toEqual(['general']);
  });

  it('takes no property of every object for the grant of a machine of that name', () => {
    const { context } = fakeContext({ objects: { Node: [] } });
    const set = componentSet('general');
    const stateOf = createStateOf({ set, progress: progressOf(), grants: {}, now: NOW, context });
    const state = stateOf(machine('constructor', { metadata: { managedFields: [] } }));
    expect(state).toMatchObject({ name: 'constructor', holdsGrant: false });
    expect(state.grant).toBeUndefined();
  });

  const COMPLETED = { revision, result: 'Completed' } as const;
  const BAD = { revision: 'r-bad', result: 'RolledBack' } as const;
  const TOKEN = { set: componentSet('general', { spec: { retryToken: 'again' } }) };

  it.each<[what: string, parts: MemberParts, holdsGrant: boolean]>([
    ['that is rolled out', { desired: 'r-bad' }, false],
    [
      'whose rollout has not begun',
      { desired: 'r-bad', progress: { updateRevision: revision, history: [] } },
      false,
    ],
    ['that was rolled back', { desired: 'r-bad', progress: { history: [BAD, COMPLETED] } }, true],
    [
      'that was rolled back under another retry token',
      { ...TOKEN, desired: 'r-bad', progress: { history: [BAD, COMPLETED] } },
      false,
    ],
    [
      'that is stable',
      { desired: 'r-next', progress: { history: [{ ...BAD, result: 'Completed' }] } },
      false,
    ],
    [
      'that was superseded',
      { desired: 'r-next', progress: { updateRevision: 'r-next', history: [COMPLETED] } },
      true,
    ],
    ['while no revision can be resolved', { progress: { history: [BAD] } }, false],
  ])('ROL-10 settles a grant that was never written, for a revision %s', (_what, parts, holdsGrant) => {
    const holder = { kind: 'MachineComponentSet', name: 'general', revision: 'r-bad' } as const;
    const grants = { 'm-1': grant({ holder }) };
    expect(stateOfMember({ set: 'general', revision, batch: 0 }, { ...parts, grants })).toMatchObject({
      holdsGrant,
    });
  });
});
