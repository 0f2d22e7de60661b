import { expect, it } from 'vitest';
import { fleetLimitsStep } from '../../../../src/demo/tour/steps/fleet-limits.ts';
import { createFailingTour } from '../../../support/demo/tour.ts';

const STEPS = 3;

it('leaves the repository as it was, whichever expectation is not verified', async () => {
  for (let failAt = 1; failAt <= STEPS; failAt += 1) {
    const { tour, content } = await createFailingTour(failAt);
    const before = content();
    await expect(fleetLimitsStep.run(tour)).rejects.toThrow('not verified');
    expect(content()).toBe(before);
  }
  const { tour, content, verified } = await createFailingTour(0);
  const before = content();
  await fleetLimitsStep.run(tour);
  expect([content(), verified()]).toEqual([before, STEPS]);
});

it('resumes the fleet, also when not every cluster has stopped', async () => {
  const { tour, content } = await createFailingTour(0);
  const before = content();
  const shown: string[] = [];
  const show = async (args: readonly string[]): Promise<string> => {
    shown.push(args.slice(0, 2).join(' '));
    if (args[1] === 'stop') throw new Error('not every cluster has stopped yet');
    return '';
  };
  await expect(fleetLimitsStep.run({ ...tour, show })).rejects.toThrow('not every cluster');
  expect(shown).toEqual(['fleet status', 'fleet stop', 'fleet resume']);
  expect(content()).toBe(before);
});
