import { describe, expect, it } from 'vitest';
import { REMEDY_OPERATION_JOBS } from '../../../../src/api/generated/resources.ts';
import type { AgentStep } from '../../../../src/api/generated/types.ts';
import { bootIdOfHost } from '../../../../src/sim/rollout/hosts.ts';
import { stepJobs } from '../../../../src/sim/rollout/repairs/job-agent.ts';
import { createHospital, type Hospital, jobOn } from './hospital.ts';

/** Nothing that happens by chance happens, and all else happens at once. */
const CALM = { chance: () => false, below: () => 0 };

function stepFor(hospital: Hospital, seconds: number): void {
  for (let second = 0; second < seconds; second += 5) {
    hospital.clock.nowMs += 5000;
    stepJobs(hospital.host, hospital.context);
  }
}

function answers({ context: { api } }: Hospital): readonly AgentStep[] {
  return api.list(REMEDY_OPERATION_JOBS).flatMap(({ status }) => status?.agent?.steps ?? []);
}

describe('stepJobs', () => {
  it('reboots once for a release, and reports the new boot when it is back', () => {
    const hospital = createHospital(CALM);
    const { context, host, patient } = hospital;
    patient.illness = { fault: 'hung', cure: 'Reboot', endsMs: 1e15 };
    const before = bootIdOfHost(host);
    context.api.put(jobOn(hospital, host.name, {}));
    stepFor(hospital, 10);
    expect(answers(hospital)).toMatchObject([{ id: 's1', try: 1, state: 'Running' }]);
    stepFor(hospital, 120);
    expect(host.boots).toBe(2);
    expect(patient.illness).toBeUndefined();
    const [answer] = answers(hospital);
    expect(answer).toMatchObject({
      state: 'Succeeded',
      bootIDBefore: before,
      bootIDAfter: bootIdOfHost(host),
    });
  });

  it.each([
    ['of another boot', { bootID: 'boot-x' }, 'WrongBoot'],
    ['for another Node', { nodeUID: 'other' }, 'WrongNode'],
    ['that has ended', { notAfter: '2029-01-01T00:00:00Z' }, 'ReleaseExpired'],
  ])('refuses a release %s', (_, release, code) => {
    const hospital = createHospital(CALM);
    hospital.context.api.put(jobOn(hospital, hospital.host.name, release));
    stepFor(hospital, 60);
    expect(hospital.host.boots).toBe(1);
    expect(answers(hospital)).toMatchObject([{ state: 'Refused', code }]);
  });

  it('does nothing while it is cut off', () => {
    const hospital = createHospital(CALM);
    Object.assign(hospital.host, { silentUntilMs: 1e15 });
    hospital.context.api.put(jobOn(hospital, hospital.host.name, {}));
    stepFor(hospital, 60);
    expect(answers(hospital)).toEqual([]);
    expect(hospital.host.boots).toBe(1);
  });

  it('reports a reboot that never happens as one whose end is not known', () => {
    const chances = [false, false, true];
    const hospital = createHospital({ ...CALM, chance: () => chances.shift() === true });
    hospital.context.api.put(jobOn(hospital, hospital.host.name, {}));
    stepFor(hospital, 320);
    expect(hospital.host.boots).toBe(1);
    expect(answers(hospital)).toMatchObject([{ state: 'Ambiguous' }]);
  });
});
