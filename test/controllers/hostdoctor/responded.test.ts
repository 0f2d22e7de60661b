import { describe, expect, it } from 'vitest';
import type { JobStepAnswer } from '../../../src/api/generated/types.ts';
import { respondedTo } from '../../../src/controllers/hostdoctor/responded.ts';
import { maintenanceEvent, maintenanceJob } from '../../support/maintenance.ts';

const [EARLY, LATE] = ['2030-01-01T12:00:00Z', '2030-01-01T12:05:00Z'];

function jobWith(...answers: readonly Partial<JobStepAnswer>[]): ReturnType<typeof maintenanceJob> {
  const job = maintenanceJob();
  const steps = answers.map((each, index) => ({
    id: `s${index + 2}`,
    state: 'Running' as const,
    answer: { event: 'local-e-1', answer: 'StartNow' as const, intendedAt: EARLY, ...each },
  }));
  return { ...job, status: { conditions: [], steps: [{ id: 's1', state: 'Succeeded' }, ...steps] } };
}

describe('respondedTo', () => {
  it.each([
    ['no job has answered', [maintenanceJob()], {}],
    ['an answer that was not accepted', [jobWith({})], {}],
    ['an answer that may have been lost', [jobWith({ lostAt: EARLY })], {}],
    ['an answer to another event', [jobWith({ event: 'local-e-2', acceptedAt: EARLY })], {}],
    ['an accepted answer', [jobWith({ acceptedAt: EARLY })], { responded: 'Accepted', respondedAt: EARLY }],
    [
      'the last of two answers',
      [jobWith({ acceptedAt: EARLY }), jobWith({ answer: 'StartNow', acceptedAt: LATE })],
      { responded: 'Accepted', respondedAt: LATE },
    ],
  ])('R39 records what the provider has accepted: %s', (_, jobs, expected) => {
    expect(respondedTo(maintenanceEvent(), jobs)).toEqual(expected);
  });

  it('R39 keeps the record when the job was deleted', () => {
    const recorded = { responded: 'Accepted', respondedAt: EARLY } as const;
    expect(respondedTo(maintenanceEvent({ status: recorded }), [])).toEqual(recorded);
  });
});
