import { describe, expect, it } from 'vitest';
import type { MaintenanceEvent } from '../../../../src/api/generated/types.ts';
import { ANNOTATION_REPORTED_AT, LABEL_MANAGED_BY } from '../../../../src/api/names.ts';
import { type HardwareReportInput, planReport } from '../../../../src/controllers/hostdoctor/report/plan.ts';
import { ago, machine, NOW } from '../../../support/builders.ts';
import { type EventParts, maintenanceEvent } from '../../../support/maintenance.ts';
import { hardwareReport } from './reports.ts';

/** Seconds before now. */
function input(changes: Partial<HardwareReportInput> = {}, age = 0): HardwareReportInput {
  return {
    report: hardwareReport(),
    reportedAt: new Date(ago(age)),
    machine: machine('m-1', { spec: { infra: { provider: 'ssh', config: {} } } }),
    identity: { name: 'ssh-psu-7', eventID: 'psu-7' },
    before: undefined,
    now: NOW,
    ...changes,
  };
}

/** Reported this many seconds ago by a hardware system. */
function known(age: number, parts: EventParts = {}): MaintenanceEvent {
  const annotations = { [ANNOTATION_REPORTED_AT]: ago(age), 'example.com/kept': 'yes' };
  return maintenanceEvent({
    ...hardwareReport(),
    name: 'ssh-psu-7',
    provider: 'ssh',
    metadata: { resourceVersion: '7', annotations },
    ...parts,
  });
}

/** The type, and the state or the reason. */
function planned(plan: ReturnType<typeof planReport>): string {
  return `${plan.type}: ${'event' in plan ? plan.event.spec.state : plan.because}`;
}

describe('planReport', () => {
  it('creates the event of the provider of the machine, without the mark of polled events', () => {
    const plan = planReport(input());
    expect(plan).toMatchObject({
      type: 'Create',
      event: { metadata: { name: 'ssh-psu-7' }, spec: { ...hardwareReport(), provider: 'ssh' } },
    });
    expect('event' in plan && plan.event.metadata.labels).toEqual({ 'kubenode.dev/machine': 'm-1' });
    expect('event' in plan && plan.event.metadata.labels?.[LABEL_MANAGED_BY]).toBeUndefined();
  });

  it.each<[what: string, given: HardwareReportInput, expected: string]>([
    [
      'the next state',
      input({ before: known(60), report: hardwareReport({ state: 'Executing' }) }),
      'Update: Executing',
    ],
    [
      'an event that is taken back',
      input({ before: known(60), report: hardwareReport({ state: 'Cancelled' }) }),
      'Update: Cancelled',
    ],
    [
      'a date that is moved',
      input({ before: known(60), report: hardwareReport({ notBefore: ago(-9000) }) }),
      'Update: Scheduled',
    ],
    [
      'a state that cannot follow: the condition Inconsistent reports it',
      input({ before: known(60, { state: 'Executing' }) }),
      'Update: Scheduled',
    ],
    [
      'the same content again',
      input({ before: known(60) }),
      'Unchanged: MaintenanceEvent ssh-psu-7 has this content already',
    ],
    [
      'an older report, such as a repeated delivery',
      input({ before: known(60, { state: 'Executing' }) }, 61),
      'Ignored: MaintenanceEvent ssh-psu-7 has a report of 2030-01-01T11:59:00.000Z, and this one is of 2030-01-01T11:58:59.000Z',
    ],
    [
      'an older report of a later state',
      input({ before: known(60), report: hardwareReport({ state: 'Executing' }) }, 61),
      'Ignored: MaintenanceEvent ssh-psu-7 has a report of 2030-01-01T11:59:00.000Z, and this one is of 2030-01-01T11:58:59.000Z',
    ],
    ['an old report of an event that has not ended', input({}, 1_209_601), 'Create: Scheduled'],
    [
      'a report of the same second that goes on',
      input({ before: known(60), report: hardwareReport({ state: 'Executing' }) }, 60),
      'Update: Executing',
    ],
    [
      'a report of the same second that goes back',
      input({ before: known(60, { state: 'Executing' }) }, 60),
      'Ignored: MaintenanceEvent ssh-psu-7 has a report of 2030-01-01T11:59:00.000Z, and this one is of 2030-01-01T11:59:00.000Z',
    ],
    [
      'an event that ended',
      input({ before: known(60, { state: 'Cancelled' }) }),
      'Refused: MaintenanceEvent ssh-psu-7 is Cancelled, and an event that ended cannot begin again: use another eventID',
    ],
    [
      'the details of an event that ended',
      input({
        before: known(60, { state: 'Done' }),
        report: hardwareReport({ state: 'Done', details: 'new fan' }),
      }),
      'Update: Done',
    ],
    [
      'another type',
      input({ before: known(60), report: hardwareReport({ type: 'Stop' }) }),
      'Refused: MaintenanceEvent ssh-psu-7 has the type Reboot, which cannot change: report Stop with another eventID',
    ],
    [
      'an event of another reporter',
      input({
        before: maintenanceEvent({ ...hardwareReport(), name: 'ssh-psu-7' }),
        report: hardwareReport({ state: 'Cancelled' }),
      }),
      'Refused: MaintenanceEvent ssh-psu-7 was reported by another reporter: use another eventID',
    ],
  ])('R39 plans one change of one event for %s', (_, given, expected) => {
    expect(planned(planReport(given))).toBe(expected);
  });

  it('records an event that is taken back before it was known, so that a late report does not begin it', () => {
    expect(planned(planReport(input({ report: hardwareReport({ state: 'Cancelled' }) })))).toBe(
      'Create: Cancelled',
    );
  });

  it.each([
    [1_209_599, 'Create: Done'],
    [1_209_600, 'Ignored: event psu-7 ended long ago'],
  ])('does not bring back an event that ended %d s ago and was deleted', (age, expected) => {
    expect(planned(planReport(input({ report: hardwareReport({ state: 'Done' }) }, age)))).toBe(expected);
  });

  it('keeps the version for the compare-and-swap, and what others wrote in the metadata', () => {
    const plan = planReport(input({ before: known(60), report: hardwareReport({ state: 'Executing' }) }));
    expect('event' in plan && plan.event.metadata).toMatchObject({
      resourceVersion: '7',
      annotations: { 'example.com/kept': 'yes', [ANNOTATION_REPORTED_AT]: '2030-01-01T12:00:00.000Z' },
    });
  });
});
