import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { editLinger, freezeStep, POLICY_FILE } from '../../../../src/demo/tour/steps/freeze.ts';
import { createFailingTour } from '../../../support/demo/tour.ts';

const POLICY = readFileSync(
  new URL(`../../../../src/demo/template/templates/demo/${POLICY_FILE}`, import.meta.url),
  'utf8',
);

describe('a change that disturbs no machine', () => {
  it('S36 lets grants linger a second longer, each time', () => {
    const once = editLinger(POLICY);
    expect(once).toBe(POLICY.replace('lingerSeconds: 10 ', 'lingerSeconds: 11 '));
    expect(editLinger(once)).toContain('lingerSeconds: 12 ');
  });
});

describe('the step of a freeze', () => {
  it('leaves the repository as it was, whichever expectation is not verified', async () => {
    for (let failAt = 1; failAt <= 6; failAt += 1) {
      const { tour, content } = await createFailingTour(failAt);
      const before = content();
      await expect(freezeStep.run(tour)).rejects.toThrow('not verified');
      expect(content()).toBe(before);
    }
    const { tour, content, verified } = await createFailingTour(0);
    const before = content();
    await freezeStep.run(tour);
    expect([content(), verified()]).toEqual([before, 6]);
  });

  it.each([1, 2, 3])('takes back what it can when git does not revert once: at revert %i', async (failAt) => {
    const { tour, content } = await createFailingTour(0);
    const { repository } = tour;
    const before = content();
    let reverts = 0;
    const revert = async (commit: string): Promise<string> => {
      reverts += 1;
      if (reverts === failAt) throw new Error('git is locked');
      return await repository.revert(commit);
    };
    await expect(freezeStep.run({ ...tour, repository: { ...repository, revert } })).rejects.toThrow(
      'locked',
    );
    expect(content() === before).toBe(failAt < 3);
  });
});
