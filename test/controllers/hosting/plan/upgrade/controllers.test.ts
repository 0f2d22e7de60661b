import { describe, expect, it } from 'vitest';
import type { Cluster } from '../../../../../src/api/generated/types.ts';
import { hostingConditions } from '../../../../../src/controllers/hosting/conditions.ts';
import type { PlaneReport } from '../../../../../src/controllers/hosting/drivers/driver.ts';
import type {
  ControllersElsewhere,
  HostingInput,
} from '../../../../../src/controllers/hosting/plan/input.ts';
import {
  controllersChange,
  controllersDifference,
  controllersDigest,
  controllersElsewhere,
  controllersHeld,
} from '../../../../../src/controllers/hosting/plan/upgrade/controllers.ts';
import { targetProblem } from '../../../../../src/controllers/hosting/plan/upgrade/target.ts';
import { planPlaneUpgrade } from '../../../../../src/controllers/hosting/plan/upgrade/upgrade.ts';
import {
  decisionText,
  freeze,
  HOSTED,
  hostedCluster,
  INSIDE,
  PROGRAMS,
  settledPlane,
  VERSION,
} from '../../../../support/hosting/objects.ts';
import { type UpgradeParts, upgradeInput } from '../../../../support/hosting/upgrades.ts';

const SETTLED = { ...settledPlane(), controllers: 'one' };
const PLANE: Partial<PlaneReport> = { settled: SETTLED, programs: { ...PROGRAMS, controllers: 'two' } };
const RAN = { run: { flags: {}, image: 'one' }, isOutdated: false };
const RUNS = { run: { flags: {}, image: 'two' }, isOutdated: false };
const UPGRADE = { from: VERSION, to: VERSION, controllers: 'two', digest: controllersDigest('two') };

/** A control plane that runs as declared, and whose driver has another image of our own controllers. */
function input(parts: UpgradeParts = {}): HostingInput {
  const { plane = {}, but = {} } = parts;
  return upgradeInput({
    settled: 'new',
    ...parts,
    plane: { ...PLANE, ...plane },
    but: { 'kubenode-controllers': RAN, ...but },
  });
}

function decision(parts: UpgradeParts = {}): string {
  const found = planPlaneUpgrade(input(parts));
  if (found?.act?.type !== 'RecordStep') return found ? decisionText(found) : 'none';
  const { step, controllers } = found.act.upgrade;
  return `${step} of ${controllers}`;
}

describe('another image of our own controllers', () => {
  it.each<readonly [name: string, parts: UpgradeParts, expected: string]>([
    ['begins with the step that changes them', {}, 'Managers of two'],
    [
      'is none when they have it',
      { plane: { settled: { ...SETTLED, controllers: 'two' } }, but: { 'kubenode-controllers': RUNS } },
      'none',
    ],
    [
      'is none while the images cannot be read',
      { plane: { programs: { problem: 'x', isLoading: false } } },
      'none',
    ],
    ['is none where the driver does not change them', { plane: { programs: PROGRAMS } }, 'none'],
    [
      'waits for a change of the spec that is held',
      { hosted: { version: 'v1.36.9' }, plane: { differences: ['version'] } },
      'none',
    ],
    ['waits for every member', { but: { 'kube-scheduler': { state: 'Starting' } } }, 'none'],
    ['waits for the kinds of this version', { input: { inside: { ...INSIDE, isInstalled: false } } }, 'none'],
    ['is held by a freeze', { hosted: { upgrade: { ...HOSTED.upgrade, freezes: [freeze()] } } }, 'none'],
    [
      'is not tried again after it was taken back',
      { status: { rolledBack: { digest: controllersDigest('two'), message: 'it hangs' } } },
      'none',
    ],
    [
      'waits for another control plane whose controllers are being changed',
      { input: { elsewhere: { changing: ['b'], takenBack: [] } } },
      'none',
    ],
    [
      'does not begin where another control plane took it back',
      {
        input: {
          elsewhere: { changing: [], takenBack: [{ cluster: 'b', digest: controllersDigest('two') }] },
        },
      },
      'none',
    ],
    [
      'begins where another control plane took another image back',
      {
        input: { elsewhere: { changing: [], takenBack: [{ cluster: 'b', digest: controllersDigest('x') }] } },
      },
      'Managers of two',
    ],
    [
      'is found by what they run where its record was lost',
      { plane: { settled: { ...SETTLED, controllers: 'two' } } },
      'Managers of two',
    ],
  ])('%s', (_, parts, expected) => {
    expect(decision(parts)).toBe(expected);
  });

  it.each<readonly [name: string, parts: UpgradeParts, expected: string]>([
    ['changes them, and nothing else', {}, 'Change kubenode-controllers: it is to run two'],
    [
      'waits until they answer',
      { but: { 'kubenode-controllers': { ...RUNS, state: 'Starting' } } },
      'wait MemberStarting',
    ],
    ['goes on when they do', { but: { 'kubenode-controllers': RUNS } }, 'Soak of two'],
    [
      'is taken back when they end again and again',
      { but: { 'kubenode-controllers': { ...RUNS, state: 'Starting', problem: problem(3) } } },
      'RollingBack of two',
    ],
    [
      'is tried again while they ended twice',
      { but: { 'kubenode-controllers': { ...RUNS, state: 'Starting', problem: problem(2) } } },
      'stalled MemberCrashes',
    ],
    [
      'is taken back when the file names another image',
      { plane: { programs: { ...PROGRAMS, controllers: 'three' } } },
      'RollingBack of two',
    ],
    [
      'goes on when the spec is changed meanwhile',
      { hosted: { version: VERSION, apiServer: { extraArgs: { v: '4' } } } },
      'Change kubenode-controllers: it is to run two',
    ],
  ])('in its step: %s', (_, parts, expected) => {
    expect(decision({ step: 'Managers', upgrade: UPGRADE, ...parts })).toBe(expected);
  });

  it('goes back to the former image, and to nothing else', () => {
    const but = { 'kubenode-controllers': RUNS };
    expect(decision({ step: 'RollingBack', upgrade: UPGRADE, but })).toBe(
      'Change kubenode-controllers: it is to run one',
    );
    expect(decision({ step: 'RollingBack', upgrade: UPGRADE })).toBe(
      'FinishUpgrade: our controllers run their former image again',
    );
  });

  it('is settled after the soak, and over when it is', () => {
    const but = { 'kubenode-controllers': RUNS };
    expect(decision({ step: 'PointOfNoReturn', upgrade: UPGRADE, but })).toBe(
      'Settle: two is not taken back from here on',
    );
    const plane = { settled: { ...SETTLED, controllers: 'two' } };
    expect(decision({ step: 'PointOfNoReturn', upgrade: UPGRADE, but, plane })).toBe(
      `FinishUpgrade: every member runs ${VERSION} with the flags of the spec`,
    );
  });

  it('is named in the conditions as long as it is not carried out', () => {
    expect(controllersDifference(input())).toBe('kubenode-controllers run one, not two');
    const status = { rolledBack: { digest: controllersDigest('two'), message: 'it hangs' } };
    expect(targetProblem(input({ status }))?.message).toContain('the change to two was taken back: it hangs');
    expect(controllersChange(input(), settledPlane())).toBeUndefined();
  });
});

describe('the controllers of other control planes', () => {
  it('are read from the status of their Clusters, without the own one', () => {
    const failed = hostedCluster({
      name: 'c',
      status: { conditions: [], hosted: { rolledBack: { digest: 'x', message: 'it hangs' } } },
    });
    const all = [failed, changing('b'), changing('own'), hostedCluster({ name: 'd' })];
    expect(controllersElsewhere('own', all)).toEqual({
      changing: ['b'],
      takenBack: [{ cluster: 'c', digest: 'x' }],
    });
  });

  it('are named by the condition of the one that waits for them', () => {
    const text = (elsewhere: ControllersElsewhere): string => {
      const found = hostingConditions(input({ input: { elsewhere } }), undefined);
      const { reason, message } = found.find(({ type }) => type === 'ControlPlaneUpToDate') ?? {};
      return `${reason}: ${message}`;
    };
    expect(text({ changing: ['b'], takenBack: [] })).toMatch(/^ControllersChanging: .*, now in Cluster b$/);
    const takenBack = [{ cluster: 'c', digest: controllersDigest('two') }];
    expect(text({ changing: ['b'], takenBack })).toMatch(/^RolledBackElsewhere: Cluster c took two back; /);
    expect(controllersHeld(input())).toBeUndefined();
  });
});

function changing(name: string): Cluster {
  return hostedCluster({ name, status: { conditions: [], hosted: { upgrade: UPGRADE } } });
}

function problem(ends: number): NonNullable<HostingInput['plane']['members'][number]['problem']> {
  return { reason: 'MemberCrashes', message: 'it ends', blocker: { kind: 'Pod', name: 'x' }, ends };
}
