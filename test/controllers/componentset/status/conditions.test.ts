import { describe, expect, it } from 'vitest';
import type { Rollout } from '../../../../src/api/generated/types.ts';
import { ago, condition, machine } from '../../../support/builders.ts';
import { COMPLETED, member, NEW, OLD, progressOf } from '../rollout/rollout-input.ts';
import { message, read, statusOf } from './set-report.ts';
import { DIFFERS, DONE, FAILED, IN_WORK, LOOSENED, SITUATIONS, STEADY } from './situations.ts';

describe('setFindings', () => {
  it.each(SITUATIONS)('has conditions, phase and wait: $name', (row) => {
    const { phase, ready, progressing, waiting, stalled = 'False AsWanted', gates, ...parts } = row;
    const status = statusOf(parts);
    const { reason, blocker } = status.waiting ?? {};
    expect({
      phase: status.phase,
      ready: read(status, 'Ready'),
      progressing: read(status, 'Progressing'),
      waiting: reason && `${reason} ${blocker?.kind}/${blocker?.name}`,
      stalled: read(status, 'Stalled'),
      gates: read(status, 'GatesPassed'),
    }).toEqual({ phase, ready, progressing, waiting, stalled, gates });
  });

  it('is stalled with a field that nothing acts on, until a failure of the rollout is more urgent', () => {
    const checks = [
      {
        name: 'slow',
        builtin: {},
        intervalSeconds: 30,
        failureLimit: 3,
        inconclusiveLimit: 3,
        consecutiveSuccess: 1,
      },
    ] as unknown as Rollout['gate']['checks'];
    const rollout = { gate: { soakSeconds: 300, checks, approval: 'None' } } as const;
    const status = statusOf({ members: [member('a')], rollout });
    expect(read(status, 'Stalled')).toBe('True NotSupported');
    expect(message(status, 'Stalled')).toMatch(
      /^spec\.rollout\.gate\.checks\[0\]\.failureLimit: not supported in this version/,
    );
    const failure = { maxFailed: 0, per: 'Rollout', onFailure: 'Pause' } as const;
    const failed = statusOf({ members: [member('a', FAILED)], rollout: { ...rollout, failure } });
    expect(read(failed, 'Stalled')).toBe('True FailureBudgetSpent');
  });

  it('tells in Stalled that a person lets the rollout continue, where nothing has failed', () => {
    const members = [member('a'), member('b')];
    const loosened = statusOf({ members, progress: progressOf({ gateInForce: LOOSENED }) });
    expect(message(loosened, 'Stalled')).toBe('nothing has failed; a person lets it continue: GateLoosened');
    expect(message(statusOf({ members, paused: true }), 'Stalled')).toContain(': Paused');
    expect(message(statusOf({ members }), 'Stalled')).toBe('no person is needed');
  });

  it('ROL-21 names a machine that was unhealthy before, while the rollout goes on and at its end', () => {
    const because = 'Node a is NotReady, as before the update';
    const step = 'UnhealthyBefore';
    const before = member('a', { ...DONE, step, reason: step, because, readiness: 'NotReady' });
    const parts = { members: [before, member('b', DONE)], rollout: { maxUnavailable: 0 } };
    for (const progress of [progressOf(), STEADY]) {
      const status = statusOf({ ...parts, progress });
      expect(status.failedMachines).toBeUndefined();
      expect(read(status, 'Stalled')).toBe('False AsWanted');
      expect(message(status, 'Ready')).toBe(`1 of 2 machines run app 2; a: ${because}`);
      expect(message(status, 'Available')).toBe('machines unavailable: 1, allowed: 0; a: out of service');
    }
  });

  it('MAC-19 tells how many adopted machines are left as their hosts are, and what changes them', () => {
    const left = { ...STEADY, history: [...STEADY.history] };
    const members = [member('a', DIFFERS), member('b', DONE), member('c', DIFFERS), member('d', IN_WORK)];
    const status = statusOf({ members, progress: left });
    expect(status.failedMachines).toBeUndefined();
    expect(status.counts).toMatchObject({ selected: 4, updated: 1, failed: 0 });
    expect(read(status, 'Stalled')).toBe('False AsWanted');
    expect(message(status, 'UpToDate')).toBe(
      '1 of 4 machines run app 2; d: app is Fetching; adopted and left as their hosts are: 2 (a, c); to change them, set spec.import.existingNode to Converge there, or commit the next version; a: app: a file has other content',
    );
  });

  it('ROL-32 names the machines and the error of a revision that was rolled back', () => {
    const failedMachines = [{ name: 'a', code: 'UnitFailed', message: 'app: exit code 3' }];
    const progress = progressOf({
      history: [{ revision: NEW.name, result: 'RolledBack', finishedAt: ago(60) }],
    });
    const before = { updateRevision: NEW.name, failedMachines };
    const status = statusOf({ members: [member('a')], progress, before });
    expect(message(status, 'Ready')).toMatch(
      /^app 2 was rolled back\. Change the set, or give spec.retryToken a new value to try it again; UnitFailed on 1 of 1: app: exit code 3; machines: a$/,
    );
  });

  it('ROL-34 is never up to date with a new revision while it is paused', () => {
    const progress = { ...STEADY, updateRevision: OLD.name, history: [COMPLETED] };
    const status = statusOf({ members: [member('a')], progress, paused: true });
    expect(read(status, 'UpToDate')).toBe('False MachinesBehind');
    expect(read(status, 'Ready')).toBe('False MachinesBehind');
  });

  it.each<[what: string, members: readonly ReturnType<typeof member>[], expected: string]>([
    [
      'the machine that failed, before those that wait',
      [member('a'), member('b', DONE), member('c', FAILED)],
      '1 of 3 machines run app 2; c: app: probes fail; also not: a',
    ],
    [
      'the machine that is in work, and what it does',
      [
        member('a'),
        member('b', {
          step: 'InWork',
          reason: 'Probation',
          because: 'app is Probation: probe greets answered 500',
          holdsGrant: true,
        }),
      ],
      '0 of 2 machines run app 2; b: app is Probation: probe greets answered 500; also not: a',
    ],
  ])('tells in words and versions why it is behind, by %s', (_, members, expected) => {
    // Within the budget nothing goes back.
    const rollout = { failure: { maxFailed: 1, per: 'Rollout', onFailure: 'Pause' } } as const;
    const status = statusOf({ members, rollout });
    expect(message(status, 'UpToDate')).toBe(expected);
    expect(message(status, 'Ready')).toBe(expected);
  });

  it('names the machine that waits, and for what', () => {
    const denial = { reason: 'ZoneDark', message: 'zone b is dark', policy: 'fleet-default' } as never;
    const status = statusOf({ members: [member('a')], denials: [{ machine: 'a', denial }] });
    expect(message(status, 'UpToDate')).toBe(
      '0 of 1 machines run app 2; a: ZoneDark: zone b is dark (DefenderPolicy fleet-default)',
    );
  });

  it('ROL-11 is available while no more machines than permitted are out of service', () => {
    const members = [member('a', FAILED), member('b')];
    expect(read(statusOf({ members, rollout: { maxUnavailable: 1 } }), 'Available')).toBe('True AsWanted');
    const status = statusOf({ members, rollout: { maxUnavailable: 0 } });
    expect(read(status, 'Available')).toBe('False TooManyUnavailable');
    expect(message(status, 'Available')).toBe('machines unavailable: 1, allowed: 0; a: out of service');
  });

  it('lists machines that report drift', () => {
    const conditions = [condition('DriftDetected', 'True')];
    const drifted = { ...member('b', DONE), machine: machine('b', { status: { conditions } }) };
    const status = statusOf({ members: [member('a', DONE), drifted], progress: STEADY });
    expect(read(status, 'DriftDetected')).toBe('True DriftReported');
    expect(message(status, 'DriftDetected')).toBe('1: b');
    expect(status.counts?.drifted).toBe(1);
  });

  it('ROL-40 is Ready without a machine, and tells so', () => {
    const status = statusOf({ members: [] });
    expect(read(status, 'Ready')).toBe('True NoMachines');
    expect(read(status, 'UpToDate')).toBe('True NoMachines');
    expect(message(status, 'Ready')).toBe('0 of 0 machines run app 2: none is selected');
    expect(status.phase).toBe('Completed');
  });

  it('leaves held and pinned machines out of what is up to date', () => {
    const members = [
      member('a', DONE),
      member('b', { hold: { reason: 'mine', scope: 'All' } }),
      member('c', { pinned: ['app'] }),
    ];
    const status = statusOf({ members, progress: STEADY });
    expect(read(status, 'UpToDate')).toBe('True AsWanted');
    expect(message(status, 'UpToDate')).toBe('1 of 1 machines run app 2');
    expect(status.counts).toMatchObject({ selected: 3, updated: 1, held: 1, pinned: 1 });
  });
});
