import { describe, expect, it } from 'vitest';
import { unsignedCommitStep } from '../../../../src/demo/tour/steps/unsigned-commit.ts';
import { createFailingTour } from '../../../support/demo/tour.ts';

describe('the step of a commit without a signature', () => {
  it('requires no signature any more, whichever expectation is not verified, and its key may be left', async () => {
    for (let failAt = 1; failAt <= 5; failAt += 1) {
      const { tour } = await createFailingTour(failAt);
      const before = await tour.repository.read('fleet/pipelines.ts');
      await expect(unsignedCommitStep.run(tour)).rejects.toThrow('not verified');
      expect(await tour.repository.read('fleet/pipelines.ts')).toBe(before);
    }
    const { tour, content, verified } = await createFailingTour(0);
    const before = content();
    await unsignedCommitStep.run(tour);
    expect([content(), verified()]).toEqual([before, 5]);
  });
});
