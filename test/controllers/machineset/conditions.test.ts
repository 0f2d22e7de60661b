import { describe, expect, it } from 'vitest';
import { ago, condition } from '../../support/builders.ts';
import { DENIAL, type SetCase, statusOf, template } from '../../support/machine-sets.ts';

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
      'MAC-32 reports that Replace is not supported',
      {
        machines: 'ready ready',
        parts: { spec: { updateStrategy: { type: 'Replace', maxUnavailable: 1 } } },
      },
      'Stalled, Stalled NotSupported',
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
  ])('%s', (_, input, want) => {
    expect(explain(input)).toBe(want);
  });
});
