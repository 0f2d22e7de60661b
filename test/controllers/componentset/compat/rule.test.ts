import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ComponentCompat, MachineComponentReport } from '../../../../src/api/generated/types.ts';
import {
  type ComparedMember,
  comparesServers,
  createCompatRule,
  type FindCompat,
} from '../../../../src/controllers/componentset/compat/rule.ts';
import { planRollout } from '../../../../src/controllers/componentset/plan.ts';
import { revisionOf } from '../../../../src/controllers/componentset/revision/resolve.ts';
import { waitKinds } from '../../../../src/controllers/componentset/status/wait-kind.ts';
import type { ServerVersions } from '../../../../src/rollout/kubelet-skew.ts';
import { component, node } from '../../../support/builders.ts';
import {
  appRevision,
  COMPLETED,
  inputOf,
  member,
  NEW,
  OLD,
  observedInput,
  progressOf,
  type StateParts,
} from '../rollout/rollout-input.ts';

const SERVERS: ServerVersions = { state: 'Known', versions: ['v1.36.3'] };
const SILENT: ServerVersions = { state: 'Unknown', because: '10.0.0.2:6443 does not answer' };
const RANGE = { kubernetes: { min: '1.31', max: '1.34' } };

type Compat = Partial<ComponentCompat>;

/** Of app-2 only. */
function finds(compat: Compat): FindCompat {
  return (ref) => (ref === 'app-2' ? { compat: { upgradeFrom: [], ...compat } } : {});
}

interface Host extends StateParts {
  readonly kernel?: string;
  /** The version that the agent reports; None: it reports nothing. */
  readonly runs?: string;
}

function host({ kernel, runs = '1', ...parts }: Host = {}): ComparedMember & ReturnType<typeof member> {
  const state = member('m-1', parts);
  const report: Partial<MachineComponentReport> = runs === 'Nothing' ? {} : { currentRef: `app-${runs}` };
  const components = runs === 'None' ? [] : [{ name: 'app', ...report } as MachineComponentReport];
  const status = { conditions: [], ...state.machine.status, components };
  const info = {
    ...node('m-1'),
    status: { nodeInfo: kernel === undefined ? {} : { kernelVersion: kernel } },
  };
  return { ...state, machine: { ...state.machine, status }, node: info };
}

function reasonOf(compat: Compat, parts: Host = {}, servers = SERVERS): string | undefined {
  const found = createCompatRule(servers, finds(compat))(host(parts), NEW);
  return found && `${found.reason}: ${found.because}`;
}

describe('createCompatRule', () => {
  it.each<[what: string, found: () => string | undefined, expected: string | undefined]>([
    ['passes what declares nothing', () => reasonOf({}), undefined],
    ['passes a server within the range', () => reasonOf({ kubernetes: { min: '1.36' } }), undefined],
    ['passes an empty range', () => reasonOf({ kubernetes: {} }, {}, SILENT), undefined],
    [
      'holds for a server that is too new',
      () => reasonOf(RANGE),
      'ComponentIncompatible: m-1: app-2 needs Kubernetes 1.31 to 1.34, and an API server runs v1.36.3. Choose a newer version',
    ],
    [
      'holds for a server that is too old',
      () => reasonOf({ kubernetes: { min: '1.37' } }),
      'ComponentIncompatible: m-1: app-2 needs Kubernetes 1.37 or newer, and an API server runs v1.36.3. Upgrade the API server first',
    ],
    [
      'holds for an unknown server',
      () => reasonOf(RANGE, {}, SILENT),
      'CompatibilityUnknown: m-1: app-2 needs Kubernetes 1.31 to 1.34, and the versions of the API servers are unknown: 10.0.0.2:6443 does not answer',
    ],
    [
      'holds for a server that cannot be compared',
      () => reasonOf(RANGE, {}, { state: 'Known', versions: ['main'] }),
      'CompatibilityUnknown: m-1: app-2 needs Kubernetes 1.31 to 1.34, and that cannot be compared with main',
    ],
    [
      'passes a kernel that is new enough',
      () => reasonOf({ kernelMin: '6.1' }, { kernel: '6.1.0-18-amd64' }),
      undefined,
    ],
    [
      'holds for an older kernel',
      () => reasonOf({ kernelMin: '6.1' }, { kernel: '5.15.0-1051-aws' }),
      'ComponentIncompatible: m-1: app-2 needs kernel 6.1 or newer, and the machine runs 5.15.0-1051-aws. Upgrade its kernel first',
    ],
    [
      'holds for a kernel that is not reported',
      () => reasonOf({ kernelMin: '6.1' }),
      'CompatibilityUnknown: m-1: app-2 needs kernel 6.1 or newer, and no kernel is reported',
    ],
    [
      'holds for a kernel without numbers',
      () => reasonOf({ kernelMin: '6.1' }, { kernel: 'mainline' }),
      'CompatibilityUnknown: m-1: app-2 needs kernel 6.1 or newer, and that cannot be compared with mainline',
    ],
    ['passes a listed version', () => reasonOf({ upgradeFrom: ['0.9', '1'] }), undefined],
    [
      'passes a patch of a listed version',
      () => reasonOf({ upgradeFrom: ['1.30'] }, { runs: '1.30.4' }),
      undefined,
    ],
    [
      'holds for a version that is not listed, nor a patch of one',
      () => reasonOf({ upgradeFrom: ['1.3', '1.4'] }, { runs: '1.30.4' }),
      'ComponentIncompatible: m-1: app-2 can be installed over 1.3, 1.4, and the machine runs 1.30.4. Roll one of these out first',
    ],
    [
      'passes a first installation',
      () => reasonOf({ upgradeFrom: ['1.3'] }, { runs: 'None', at: 'None' }),
      undefined,
    ],
    [
      'passes one that failed before anything was installed',
      () => reasonOf({ upgradeFrom: ['1.3'] }, { runs: 'Nothing' }),
      undefined,
    ],
    [
      'passes a version that runs already',
      () => reasonOf({ upgradeFrom: ['1.3'] }, { runs: '2' }),
      undefined,
    ],
    [
      'holds for an agent that reports nothing',
      () => reasonOf({ upgradeFrom: ['1.3'] }, { runs: 'None' }),
      'CompatibilityUnknown: m-1: app-2 can be installed over 1.3, and its agent does not report what runs',
    ],
    ['leaves a pin to the person', () => reasonOf(RANGE, { pinned: ['app'] }), undefined],
    ['leaves a machine that has the version', () => reasonOf(RANGE, { at: NEW }), undefined],
  ])('%s', (_, found, expected) => {
    expect(found()).toBe(expected);
  });

  it('compares nothing for a removal', () => {
    const removed = revisionOf([{ ...component('app', '2'), state: 'Absent', parameters: {} }]);
    expect(createCompatRule(SILENT, finds(RANGE))(host(), removed)).toBeUndefined();
  });

  it('never lets a machine pass by knowing less', () => {
    const compat = fc.record({
      kubernetes: fc.constantFrom({ min: '1.31' }, { max: '1.36' }, { min: '1.31', max: '1.34' }),
      kernelMin: fc.constantFrom('5', '6.1', '6.9'),
      upgradeFrom: fc.subarray(['1', '0.9']),
    });
    const forgotten = fc.constantFrom('servers', 'kernel', 'report');
    expect(() =>
      fc.assert(
        fc.property(compat, forgotten, (limits, what) => {
          const known = reasonOf(limits, { kernel: '6.1.0' });
          const kernel = what === 'kernel' ? {} : { kernel: '6.1.0' };
          const runs = what === 'report' ? ({ runs: 'None' } as const) : {};
          const less = reasonOf(limits, { ...kernel, ...runs }, what === 'servers' ? SILENT : SERVERS);
          return known === undefined || less !== undefined;
        }),
      ),
    ).not.toThrow();
  });
});

describe('comparesServers', () => {
  it('asks the API servers only for a component that declares a range', () => {
    expect(comparesServers(NEW, finds(RANGE))).toBe(true);
    expect(comparesServers(NEW, finds({ kernelMin: '6.1' }))).toBe(false);
    expect(comparesServers(OLD, finds(RANGE))).toBe(false);
  });
});

function named(name: string, parts: Host): ReturnType<typeof member> {
  const state = host(parts);
  const machine = { ...state.machine, metadata: { ...state.machine.metadata, name } };
  return { ...state, name, uid: `uid-${name}`, machine };
}

describe('planRollout with compatibility', () => {
  const compatOf = createCompatRule(SERVERS, finds({ kernelMin: '6.1' }));
  const fresh = { updateRevision: NEW.name, history: [COMPLETED] };
  const rollout = { batches: [9], maxUnavailable: 9 };
  const old = named('old', { kernel: '5.15' });
  const recent = named('recent', { kernel: '6.6' });

  it('starts the machines that fit, holds the other one with both values, and does not complete without it', () => {
    const input = inputOf({ members: [old, recent], progress: fresh, rollout, compatOf });
    const plan = planRollout(input);
    expect(plan.actions.flatMap((action) => (action.type === 'Assign' ? [action.member.name] : []))).toEqual([
      'recent',
    ]);
    expect(plan.waiting.get('old')).toMatchObject({
      reason: 'ComponentIncompatible',
      blocker: { kind: 'Machine', name: 'old' },
    });
    expect(waitKinds({ input, plan, denials: [], conflicts: [], runs: [] }).get('old')).toBe('Blocked');
    const done = named('recent', { kernel: '6.6', at: NEW, batch: 0 });
    const batch = { index: 0, size: 1, total: 2, startedAt: new Date(0), soakUntil: new Date(1) };
    const after = planRollout(
      inputOf({ members: [old, done], progress: progressOf({ batch }), rollout, compatOf }),
    );
    expect(after.limit).toMatchObject({ reason: 'ComponentIncompatible', slots: 0 });
  });

  it('lets a machine in work finish that does not fit any more, and renews its grant', () => {
    const working = named('old', { kernel: '5.15', at: NEW, batch: 0, step: 'InWork', holdsGrant: true });
    const { waiting, limit } = planRollout(
      inputOf({ members: [working], progress: progressOf(), rollout, compatOf }),
    );
    expect([waiting.get('old')?.reason, limit.reason]).not.toContain('ComponentIncompatible');
  });

  it('lets machines go back to a version that does not fit: it ran there before', () => {
    const back = createCompatRule(SERVERS, () => ({ compat: { upgradeFrom: ['7'], kernelMin: '9' } }));
    const failed = { at: NEW, batch: 0, step: 'Failed', reason: 'RolledBack', kernel: '5.15' } as const;
    const bad = { revision: NEW.name, result: 'RolledBack' } as const;
    const members = [named('old', failed)];
    const input = { members, progress: progressOf({ history: [bad, COMPLETED] }), rollout, compatOf: back };
    expect(planRollout(inputOf(input)).actions.map(({ type }) => type)).toContain('Assign');
    const history = [{ revision: NEW.name, result: 'Superseded' }, COMPLETED] as const;
    const revert = inputOf({
      ...input,
      progress: { updateRevision: OLD.name, history },
      desired: { revision: OLD, yanked: [] },
    });
    expect(planRollout(revert).actions.map(({ type }) => type)).toContain('Assign');
  });

  it('holds a new machine that does not fit, and not the others', () => {
    const joining = named('old', { kernel: '5.15', at: 'None', runs: 'None', isEstablished: false });
    const done = {
      updateRevision: NEW.name,
      history: [{ revision: NEW.name, result: 'Completed' }, COMPLETED],
    } as const;
    const plan = planRollout(
      observedInput({ members: [joining], progress: done, stable: NEW, rollout, compatOf }),
    );
    expect(plan.waiting.get('old')?.reason).toBe('ComponentIncompatible');
    expect(plan.actions).toEqual([]);
    expect(appRevision('2').name).toBe(NEW.name);
  });
});
