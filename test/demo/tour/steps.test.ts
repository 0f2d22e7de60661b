import { describe, expect, it } from 'vitest';
import { TOUR_STEPS } from '../../../src/demo/tour/steps.ts';

describe('the steps of the tour', () => {
  it.each(TOUR_STEPS.map((step) => [step.name, step] as const))(
    'have a name for --step, a title and two lines of explanation: %s',
    (name, { title, explanation }) => {
      expect(name).toMatch(/^[a-z]+(-[a-z]+)*$/);
      expect(title).toMatch(/^[A-Z]/);
      expect(explanation).toHaveLength(2);
      for (const line of explanation) expect(line.length).toBeLessThanOrEqual(120);
    },
  );

  it('show rollouts, failures, repairs and crashes, each once', () => {
    expect(TOUR_STEPS.map(({ name }) => name)).toEqual([
      'rollout',
      'bad-version',
      'fleet-limits',
      'repair',
      'kernel-hang',
      'dark-zone',
      'bad-rule',
      'unsigned-commit',
      'freeze',
      'push-hook',
      'hosted-cluster',
      'crash',
    ]);
  });
});
