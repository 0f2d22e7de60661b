import { describe, expect, it } from 'vitest';
import type { MemberReport, PlaneMember } from '../../../../../src/controllers/hosting/drivers/driver.ts';
import {
  countDifference,
  countInRotation,
  planApiServers,
} from '../../../../../src/controllers/hosting/plan/api-servers/count.ts';
import { planHosting } from '../../../../../src/controllers/hosting/plan/plan.ts';
import {
  decisionText,
  freeze,
  HOSTED,
  hostingInput,
  type InputParts,
  members,
  PROGRAMS,
  ROTATION,
  severalServers,
} from '../../../../support/hosting/objects.ts';
import { upgradeInput } from '../../../../support/hosting/upgrades.ts';

type But = Partial<Record<PlaneMember, Partial<MemberReport>>>;
const STOPPED = { state: 'Stopped' } as const;
const STARTING = { state: 'Starting' } as const;
const DIRECT = { 'kube-apiserver': { isDirect: true } };
/** The programs of a version that no member runs. */
const OTHER = { versions: [{ kubernetes: 'v1.36.4', etcd: 'v3.6.9' }] };
const NO_BALANCERS = { 'kubenode-balancer': STOPPED, 'kubenode-balancer-1': STOPPED };

/** Returns what is planned for a control plane with so many API servers whose spec wants so many. */
function planned([from, to]: readonly [number, number], but: But = {}, parts: InputParts = {}): string {
  const plane = {
    members: from === 1 && !('kubenode-balancer' in but) ? members(but) : severalServers(from, but),
  };
  const input = hostingInput({ ...parts, hosted: { ...parts.hosted, replicas: to }, plane });
  return decisionText(planApiServers(input, false) ?? {});
}

/** Returns the next step of a control plane that is to get a second API server, and has not the programs for it. */
function grows(plane: InputParts['plane']): string {
  const input = hostingInput({ hosted: { replicas: 2 }, plane: { programs: OTHER, ...plane } });
  return decisionText(planHosting(input));
}

describe('the number of API servers', () => {
  it.each<[name: string, counts: readonly [number, number], but: But, expected: string]>([
    ['is that of the spec', [2, 2], {}, 'nothing'],
    ['grows from the only one', [1, 2], {}, 'SetApiServers 2: the spec differs: replicas is 1, not 2'],
    ['grows by two', [1, 3], {}, 'SetApiServers 3: the spec differs: replicas is 1, not 3'],
    ['grows when a member does not answer', [2, 3], { 'kube-scheduler': STOPPED }, 'nothing'],
    ['gets smaller', [3, 1], {}, 'Stop kube-apiserver-2: the spec differs: replicas is 3, not 1'],
    [
      'gets smaller after its last one was stopped',
      [3, 1],
      { 'kube-apiserver-2': STOPPED, 'kube-apiserver': STOPPED },
      'SetApiServers 2: the spec differs: replicas is 3, not 1',
    ],
    ['gets smaller while another one is down', [3, 2], { 'kube-apiserver': STOPPED }, 'nothing'],
    [
      'gets smaller by one that never answered',
      [2, 1],
      { 'kube-apiserver-1': STARTING },
      'Stop kube-apiserver-1: the spec differs: replicas is 2, not 1',
    ],
    [
      'gets back to one after two new ones that never answered',
      [3, 1],
      { 'kube-apiserver-1': STARTING, 'kube-apiserver-2': STARTING },
      'Stop kube-apiserver-2: the spec differs: replicas is 3, not 1',
    ],
    [
      'gets back to two after two new ones that never answered',
      [3, 2],
      { 'kube-apiserver-1': STARTING, 'kube-apiserver-2': STARTING },
      'Stop kube-apiserver-2: the spec differs: replicas is 3, not 2',
    ],
    [
      'gets back to one after one of two new ones never answered',
      [3, 1],
      { 'kube-apiserver-1': STARTING },
      'Stop kube-apiserver-2: the spec differs: replicas is 3, not 1',
    ],
    [
      'gets smaller while a former last one serves, and another one is down',
      [3, 2],
      { 'kube-apiserver-1': STARTING, 'kube-apiserver-2': { ...STARTING, isServed: true } },
      'nothing',
    ],
    [
      'gets smaller while none that stays answers',
      [3, 1],
      { 'kube-apiserver': STARTING, 'kube-apiserver-1': STARTING, 'kube-apiserver-2': STARTING },
      'nothing',
    ],
    [
      'grows, and the second one starts',
      [2, 2],
      { ...DIRECT, ...NO_BALANCERS, 'kube-apiserver-1': STARTING },
      'nothing',
    ],
    [
      'grows, and the second one answers',
      [2, 2],
      { ...DIRECT, ...NO_BALANCERS },
      'Stop kube-apiserver: the balancers before several API servers need its port',
    ],
    ['grows, and etcd is down', [2, 2], { ...DIRECT, ...NO_BALANCERS, etcd: STARTING }, 'nothing'],
  ])('HOS-13 plans the next step when the number %s', (_, counts, but, expected) => {
    expect(planned(counts, but)).toBe(expected);
  });

  it('HOS-13 changes the number with each driver, and not during an upgrade', () => {
    const upgrade = { from: 'v1.35.4', to: 'v1.36.3', step: 'Etcd' };
    expect(planned([1, 2], {}, { status: { conditions: [], hosted: { upgrade } } })).toBe('nothing');
    const two = hostingInput({ hosted: { driver: 'workload', replicas: 2 } });
    expect(decisionText(planHosting(two))).toBe('SetApiServers 2: the spec differs: replicas is 1, not 2');
  });

  it('HOS-13 adds no API server without the programs that it is started with, and reports which', () => {
    expect(grows({})).toBe('stalled VersionNotAvailable');
    expect(grows({ programs: { problem: 'they are built', isLoading: true } })).toBe('wait ProgramsMissing');
    const ended = members({ 'kubenode-controllers': { ...STOPPED, starts: [] } });
    expect(grows({ members: ended })).toBe('Start kubenode-controllers: it is not running');
  });

  it('HOS-13 upgrades to a version with programs before it adds an API server to one without', () => {
    const programs = { versions: PROGRAMS.versions.slice(1) };
    const input = upgradeInput({ hosted: { replicas: 2 }, plane: { programs } });
    expect(decisionText(planHosting(input))).toMatch(/^RecordStep: the spec differs: version/);
    expect(decisionText(planHosting(upgradeInput({ hosted: { replicas: 2 } })))).toMatch(/^SetApiServers 2/);
  });

  it('HOS-13 takes an API server back that was added without programs, and never started', () => {
    const but = { 'kube-apiserver-1': { ...STOPPED, starts: [] } };
    const plane = { programs: OTHER, members: severalServers(2, but) };
    const plan = (replicas: number): string =>
      decisionText(planHosting(hostingInput({ hosted: { replicas }, plane })));
    expect(plan(2)).toBe('stalled VersionNotAvailable');
    expect(plan(1)).toBe('SetApiServers 1: the spec differs: replicas is 2, not 1');
  });

  it('HOS-13 begins a change of the number outside of freezes only, and tells until when it is held', () => {
    const hosted = { replicas: 2, upgrade: { ...HOSTED.upgrade, freezes: [freeze()] } };
    const held = hostingInput({ hosted });
    expect(planApiServers(held, true)).toBeUndefined();
    const { wait } = planHosting(held);
    expect(wait).toMatchObject({ reason: 'Freeze' });
    expect(wait?.message).toContain('replicas is 1, not 2');
  });

  it.each([
    ['prepared', 'IssueNew'],
    ['taken back', 'TrustOld'],
  ] as const)('HOS-22 stays as it is while a rotation is %s, and names the rotation', (_, phase) => {
    const rotation = { ...ROTATION, phase };
    const input = hostingInput({ hosted: { replicas: 2 }, plane: { rotation } });
    expect(countInRotation(input)).toMatchObject({
      reason: 'RotationInWork',
      message:
        'replicas is 1, not 2: the number of API servers is changed when the rotation 2026 of the authorities is over; complete it, or remove spec.hosted.pki.caRotation to take it back',
      isStalled: false,
    });
    expect(decisionText(planHosting(input))).not.toMatch(/^SetApiServers/);
    const over = { rotation: { ...rotation, phase: 'Completed' as const } };
    expect(countInRotation(hostingInput({ hosted: { replicas: 2 }, plane: over }))).toBeUndefined();
    expect(countInRotation(hostingInput({ plane: { rotation } }))).toBeUndefined();
  });

  it.each([
    ['Stopped', 'SetApiServers 2: the spec differs: replicas is 3, not 2'],
    ['Starting', 'Stop kube-apiserver-2: the spec differs: replicas is 3, not 2'],
    ['Ready', 'nothing'],
  ] as const)('HOS-22 gets smaller during a rotation by one API server that is %s', (state, expected) => {
    const rotation = { ...ROTATION, phase: 'IssueNew' as const };
    const but = { 'kube-apiserver-2': { state, starts: [] } };
    const input = hostingInput({
      hosted: { replicas: 2 },
      plane: { members: severalServers(3, but), rotation },
    });
    expect(decisionText(planApiServers(input, false) ?? {})).toBe(expected);
    expect(planApiServers(input, true)).toBeUndefined();
    expect(countInRotation(input)?.reason).toBe(state === 'Ready' ? 'RotationInWork' : undefined);
  });

  it('HOS-22 gets no API server during a rotation in which one does not answer, and names the rotation', () => {
    const plane = { members: severalServers(2, { 'kube-apiserver-1': STARTING }), rotation: ROTATION };
    const input = hostingInput({ hosted: { replicas: 3 }, plane });
    expect(planApiServers(input, false)).toBeUndefined();
    expect(countInRotation(input)?.reason).toBe('RotationInWork');
  });

  it('HOS-03 stops no API server while the kill switch is engaged', () => {
    expect(planned([2, 1], {}, { input: { halt: 'alice: incident' } })).toBe('wait KillSwitch');
  });

  it('has no difference before the control plane is prepared', () => {
    const input = hostingInput({ hosted: { replicas: 2 }, plane: { isPrepared: false } });
    expect(countDifference(input)).toBeUndefined();
  });
});
