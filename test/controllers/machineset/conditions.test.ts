import { describe, expect, it } from 'vitest';
import { scalingDeadline } from '../../../src/controllers/machineset/conditions.ts';
import { ago, condition, NOW } from '../../support/builders.ts';
import {
  DENIAL,
  machineSet,
  members,
  NO_STORM,
  type SetCase,
  type SetParts,
  statusOf,
  template,
} from '../../support/machine-sets.ts';

/** The phase, and each condition that is not as it should be. */
function explain(input: SetCase): string {
  const { phase, conditions } = statusOf(input).status;
  const good = { StormGuardActive: 'False', Stalled: 'False' } as Record<string, string>;
  const bad = conditions.filter(({ type, status }) => status !== (good[type] ?? 'True'));
  return [phase, ...bad.map(({ type, reason }) => `${type} ${reason}`)].join(', ');
}

const LONG = {
  status: { conditions: [condition('MachinesReady', 'False', { lastTransitionTime: ago(1801) })] },
};

/** A set that has waited for this long for the machines of these words. */
const waited = (reason: string, seconds: number, name: string): SetParts => ({
  spec: { stormGuard: NO_STORM },
  status: { waiting: { reason, blocker: { kind: 'Machine', name }, since: ago(seconds) } },
});
const REPLACING = {
  spec: {
    template: template({ host: { type: 'systemd' } }),
    updateStrategy: { type: 'Replace', maxUnavailable: 1, maxSurge: 1 },
  },
} as const satisfies SetParts;
const DENIED = { replicas: 1, machines: 'ready ready', denials: [DENIAL] };
const HELD = { replicas: 0, machines: 'held' };
const OVER = { replicas: 2, machines: 'leaving leaving leaving leaving' };
/** The one that a set names of these machines. */
function firstOf(words: string): string {
  const names = members(machineSet(1), words).map(({ machine }) => machine.metadata.name);
  return names.toSorted()[0] ?? '';
}

describe('setConditions', () => {
  it.each<[name: string, input: SetCase, want: string]>([
    ['is Ready when all is as desired', { machines: 'ready ready' }, 'Ready'],
    ['is Ready with no machine, where none is desired', { replicas: 0, machines: '' }, 'Ready'],
    [
      'is not Ready before the machines exist',
      { machines: '' },
      'Scaling, ScaledAsWanted ScalingUp, MachinesReady MachinesNotReady',
    ],
    [
      'is not Ready while a machine starts',
      { machines: 'ready new' },
      'NotReady, MachinesReady MachinesNotReady',
    ],
    [
      'is Scaling while a machine is deleted',
      { machines: 'ready ready leaving' },
      'Scaling, ScaledAsWanted ScalingDown',
    ],
    ['is Scaling down', { replicas: 1, machines: 'ready ready' }, 'Scaling, ScaledAsWanted ScalingDown'],
    [
      'is not available before its time',
      { machines: 'ready recovered', parts: { spec: { minReadySeconds: 200 } } },
      'NotReady, MachinesReady MachinesNotReady',
    ],
    [
      'MAC-32 is Updating while a template is written',
      {
        machines: 'ready ready',
        parts: { spec: { template: template({ labels: {}, node: { taints: [] } }) } },
      },
      'Updating, UpToDate Updating',
    ],
    [
      'MAC-32 names what only other machines get',
      { machines: 'ready ready', parts: { spec: { template: template({ host: { type: 'systemd' } }) } } },
      'Updating, UpToDate ReplacementRequired',
    ],
    [
      'MAC-32 updates nothing in place with OnDelete',
      {
        machines: 'ready ready',
        parts: {
          spec: {
            template: template({ node: { taints: [] } }),
            updateStrategy: { type: 'OnDelete', maxUnavailable: 1 },
          },
        },
      },
      'Updating, UpToDate ReplacementRequired',
    ],
    [
      'MAC-32 is Updating while machines are replaced',
      { machines: 'ready ready', parts: REPLACING },
      'Updating, UpToDate Replacing',
    ],
    [
      'MAC-32 is Scaling while a replacement starts beside the others',
      { machines: 'ready ready', extra: 'new', parts: REPLACING },
      'Scaling, ScaledAsWanted Replacing, MachinesReady MachinesNotReady, UpToDate Replacing',
    ],
    [
      'MAC-32 stalls at the first replacement that does not start',
      { machines: 'ready ready', extra: 'late', parts: REPLACING },
      'Stalled, ScaledAsWanted ScalingDown, MachinesReady MachinesNotReady, UpToDate Replacing, Stalled StartupFailing',
    ],
    [
      'MAC-32 waits for held machines that are to be replaced',
      { machines: 'held held', parts: REPLACING },
      'Updating, UpToDate MachinesHeld',
    ],
    [
      'MAC-32 waits for the end of a pause to replace machines',
      { machines: 'ready ready', parts: { spec: { ...REPLACING.spec, paused: true } } },
      'Paused, UpToDate Paused, Progressing Paused',
    ],
    [
      'is Stalled with a field that nothing acts on',
      {
        machines: 'ready ready',
        parts: { spec: { updateStrategy: { type: 'InPlace', maxUnavailable: '10%' } } },
      },
      'Stalled, Stalled NotSupported',
    ],
    [
      'is Paused',
      { machines: 'ready', parts: { spec: { paused: true } } },
      'Paused, ScaledAsWanted Paused, MachinesReady MachinesNotReady, Progressing Paused',
    ],
    [
      'MAC-33 is Guarded in a storm',
      { machines: 'ready ill ill' },
      'Guarded, ScaledAsWanted StormGuardActive, MachinesReady MachinesNotReady, StormGuardActive TooManyUnavailable, Progressing StormGuardActive',
    ],
    [
      'MAC-31 names the denial that it waits for',
      { replicas: 1, machines: 'ready ready', denials: [DENIAL] },
      'Scaling, ScaledAsWanted GrantDenied, Progressing GrantDenied',
    ],
    [
      'stalls when machines do not start for long',
      { machines: 'ready late', parts: LONG },
      'Stalled, MachinesReady MachinesNotReady, Stalled StartupFailing',
    ],
    [
      'does not stall at the first failed start',
      { machines: 'ready late' },
      'NotReady, MachinesReady MachinesNotReady',
    ],
    [
      'does not stall while machines start in time',
      { machines: 'ready new', parts: LONG },
      'NotReady, MachinesReady MachinesNotReady',
    ],
    [
      'MAC-04 waits for a grant as long as for a drain',
      { ...DENIED, parts: waited('GrantDenied', 1799, 'general-x') },
      'Scaling, ScaledAsWanted GrantDenied, Progressing GrantDenied',
    ],
    [
      'MAC-04 stalls when a grant is denied for longer',
      { ...DENIED, parts: waited('GrantDenied', 1800, 'general-x') },
      'Stalled, ScaledAsWanted GrantDenied, Progressing GrantDenied, Stalled GrantDenied',
    ],
    [
      'MAC-04 begins to wait again with another machine',
      { ...DENIED, parts: waited('GrantDenied', 1800, 'general-y') },
      'Scaling, ScaledAsWanted GrantDenied, Progressing GrantDenied',
    ],
    [
      'MAC-04 waits for held machines as long as for a drain',
      { ...HELD, parts: waited('MachinesHeld', 1799, firstOf(HELD.machines)) },
      'Scaling, ScaledAsWanted MachinesHeld, Progressing MachinesHeld',
    ],
    [
      'MAC-04 stalls when machines are held for longer',
      { ...HELD, parts: waited('MachinesHeld', 1800, firstOf(HELD.machines)) },
      'Stalled, ScaledAsWanted MachinesHeld, Progressing MachinesHeld, Stalled MachinesHeld',
    ],
    [
      'MAC-04 waits for machines that are deleted as long as for a drain',
      { ...OVER, parts: waited('Overshoot', 1799, firstOf(OVER.machines)) },
      'Scaling, ScaledAsWanted Overshoot, MachinesReady MachinesNotReady, Progressing Overshoot',
    ],
    [
      'MAC-04 stalls when machines are being deleted for longer',
      { ...OVER, parts: waited('Overshoot', 1800, firstOf(OVER.machines)) },
      'Stalled, ScaledAsWanted Overshoot, MachinesReady MachinesNotReady, Progressing Overshoot, Stalled Overshoot',
    ],
  ])('%s', (_, input, want) => {
    expect(explain(input)).toBe(want);
  });

  it('names what the first machine without an agent waits for: a token, which no time brings', () => {
    const message = 'the host has no bootstrap token to join with. Run kubenode machine token new-1';
    const ready = condition('Ready', 'False', { reason: 'NoToken', message });
    const machineStatus = { conditions: [ready] };
    const { conditions } = statusOf({ replicas: 2, machines: 'new new', machineStatus }).status;
    expect(conditions.find(({ type }) => type === 'MachinesReady')?.message).toMatch(
      /^0 of 2 machines are available; \S+: NoToken: the host has no bootstrap token .+; also: \S+$/,
    );
  });

  it('MAC-04 tells since when it is blocked, and by what', () => {
    const { conditions } = statusOf({ ...DENIED, parts: waited('GrantDenied', 1800, 'general-x') }).status;
    expect(conditions.find(({ type }) => type === 'Stalled')?.message).toBe(
      `since ${ago(1800)}: KillSwitch: the kill switch is engaged`,
    );
  });
});

const DEADLINE_SET = machineSet(1, {
  spec: {
    template: template({
      deletion: { drain: 'Respect', drainTimeoutSeconds: 60, timeoutSeconds: 7200, cleanup: 'Restore' },
    }),
  },
});

describe('scalingDeadline', () => {
  it.each([
    ['GrantDenied', 60],
    ['MachinesHeld', 60],
    ['Overshoot', 60],
    ['Paused', undefined],
    ['StormGuardActive', 60],
  ])('MAC-04 of %s is %s s after its begin', (reason, seconds) => {
    const deadline = scalingDeadline(DEADLINE_SET, { reason, since: NOW.toISOString() });
    expect(deadline && (Number(deadline) - Number(NOW)) / 1000).toBe(seconds);
  });

  it('is undefined while nothing is waited for', () => {
    expect(scalingDeadline(DEADLINE_SET, undefined)).toBeUndefined();
  });
});
