import { describe, expect, it } from 'vitest';
import { ago, condition, NOW } from '../../support/builders.ts';
import {
  DENIAL,
  machineSet,
  members,
  NO_STORM,
  type SetCase,
  statusOf,
  template,
} from '../../support/machine-sets.ts';

describe('machineSetStatus', () => {
  it('counts machines', () => {
    const { status } = statusOf({
      replicas: 6,
      machines: 'ready recovered new late leaving',
      parts: { spec: { minReadySeconds: 200 } },
    });
    expect(status).toMatchObject({
      observedGeneration: 1,
      replicas: 5,
      readyReplicas: 2,
      availableReplicas: 1,
      upToDateReplicas: 4,
      failedReplicas: 1,
      selector: 'kubenode.dev/machineset=general',
    });
  });

  it('MAC-32 shows the action before it, and the fields that differ', () => {
    const spec = { template: template({ node: { taints: [] }, host: { type: 'systemd' } }) };
    const { status } = statusOf({ replicas: 3, machines: 'ready ready', parts: { spec } });
    expect(status.plannedAction).toMatchObject({
      type: 'Create',
      machines: 1,
      names: [expect.stringMatching(/^general-/)],
      fields: ['host.type', 'node.labels'],
      because: '2 of 3 machines exist',
    });
  });

  it('MAC-04 keeps since when it waits for the same object', () => {
    const since = ago(100);
    const waiting = { reason: 'GrantDenied', blocker: { kind: 'Machine', name: 'general-x' }, since };
    const before = { parts: { status: { waiting } } };
    const input = { replicas: 1, machines: 'ready ready', denials: [DENIAL, DENIAL] };
    expect(statusOf({ ...input, ...before }).status.waiting).toEqual({
      ...waiting,
      message: 'KillSwitch: the kill switch is engaged (and 1 more)',
    });
    expect(statusOf(input).status.waiting?.since).toBe(NOW.toISOString());
    expect(statusOf({ machines: 'ready ready', ...before }).status.waiting).toBeUndefined();
  });

  it('MAC-33 keeps since when the storm lasts', () => {
    const conditions = [condition('StormGuardActive', 'True')];
    const before = { status: { conditions, storm: { since: ago(100) } } };
    expect(statusOf({ machines: 'ill ill' }).status.storm).toEqual({
      since: NOW.toISOString(),
      reason: 'TooManyUnavailable',
      unhealthy: 2,
      limit: 1,
    });
    expect(statusOf({ machines: 'ill ill', parts: before }).status.storm?.since).toBe(ago(100));
    expect(statusOf({ machines: 'ready ready', parts: before }).status.storm).toBeUndefined();
  });

  it('MAC-05 stays small in a set of 5000 machines', () => {
    const status = statusOf({ replicas: 0, machines: 'held '.repeat(5000) }).status;
    expect(JSON.stringify(status).length).toBeLessThan(8192);
  });
});

/** The name of the first machine of a set. */
const FIRST = members(machineSet(1), 'ready')[0]?.machine.metadata.name ?? '';
const after = (seconds: number): Date => new Date(NOW.getTime() + seconds * 1000);

describe('requeueAt', () => {
  it.each<[name: string, input: SetCase, want: Date | undefined]>([
    ['waits for changes only', { machines: 'ready ready' }, undefined],
    [
      'comes back when a machine becomes available',
      { machines: 'ready recovered', parts: { spec: { minReadySeconds: 200 } } },
      after(100),
    ],
    ['comes back when a start is too late', { machines: 'ready new' }, after(599)],
    [
      'comes back when a storm may be over',
      {
        machines: 'ready recovered recovered',
        parts: { status: { conditions: [condition('StormGuardActive', 'True')] } },
      },
      after(200),
    ],
    [
      'comes back when the Defender may grant it',
      { replicas: 1, machines: 'ready ready', denials: [DENIAL] },
      after(10),
    ],
    [
      'comes back soon when the Defender names no time',
      { replicas: 1, machines: 'ready ready', denials: [{ ...DENIAL, retryAt: after(900) }] },
      after(30),
    ],
    [
      'MAC-04 comes back when a wait is too long',
      { replicas: 0, machines: 'held', parts: { spec: { stormGuard: NO_STORM } } },
      after(1800),
    ],
    [
      'waits for changes only when it has been too long',
      {
        replicas: 0,
        machines: 'held',
        parts: {
          spec: { stormGuard: NO_STORM },
          status: {
            waiting: {
              reason: 'MachinesHeld',
              blocker: { kind: 'Machine', name: FIRST },
              since: ago(1800),
            },
          },
        },
      },
      undefined,
    ],
  ])('%s', (_, input, want) => {
    expect(statusOf(input).at).toEqual(want);
  });
});
