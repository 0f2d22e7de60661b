import { describe, expect, it } from 'vitest';
import { hasPrepared, jobOfEvent } from '../../../src/controllers/hostdoctor/event-job.ts';
import { condition } from '../../support/builders.ts';
import { maintenanceEvent, maintenanceJob } from '../../support/maintenance.ts';
import { remedyJob } from '../../support/remediers.ts';

const event = maintenanceEvent();
const ended = { outcome: 'Succeeded' } as const;

describe('the job of an event', () => {
  it('is one of the rule that prepares machines only', () => {
    expect(jobOfEvent(event, [remedyJob({ begun: 30 })])).toBeUndefined();
  });

  it('is the one at work, also when it began before the event', () => {
    const older = maintenanceJob({ begun: 600, case: '11111111' });
    const newer = maintenanceJob({ begun: 20, ...ended });
    expect(jobOfEvent(event, [newer, older])).toBe(older);
  });

  it('is otherwise the last one since the event', () => {
    const jobs = [50, 40, 600].map((begun) => maintenanceJob({ begun, ...ended }));
    expect(jobOfEvent(event, jobs)).toBe(jobs[1]);
    expect(jobOfEvent(event, jobs.slice(2))).toBeUndefined();
    const sameSecond = maintenanceJob({ begun: 60, ...ended });
    expect(jobOfEvent(event, [sameSecond])).toBe(sameSecond);
  });
});

describe('a job', () => {
  it('has prepared the machine when each of its drains has succeeded, and is not undone', () => {
    const states = (['draining', 'drained', 'undone'] as const).map((state) =>
      hasPrepared(maintenanceJob({}, state)),
    );
    expect(states).toEqual([false, true, false]);
  });

  it('that drains nothing has prepared the machine when its steps are done', () => {
    const job = remedyJob();
    const executed = { ...job, status: { conditions: [condition('Executed', 'True')] } };
    expect([hasPrepared(job), hasPrepared(executed)]).toEqual([false, true]);
  });
});
