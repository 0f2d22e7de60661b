import { describe, expect, it } from 'vitest';
import type { Machine, RemedyOperationJob } from '../../../../src/api/generated/types.ts';
import { leastRepaired } from '../../../../src/demo/tour/steps/kernel-hang.ts';

const machines = ['a', 'b'].map((name) => ({ metadata: { name } })) as unknown as readonly Machine[];
const jobsOf = (...names: readonly string[]): readonly RemedyOperationJob[] =>
  names.map((name) => ({ spec: { machine: { name } } }) as never);

describe('the machine that is repaired', () => {
  it.each([
    [[], 'a'],
    [['a'], 'b'],
    [['a', 'b'], 'a'],
    [['a', 'a', 'b'], 'b'],
  ])('after repairs of %j is %s', (repaired, name) => {
    expect(leastRepaired(machines, jobsOf(...repaired)).metadata.name).toBe(name);
  });

  it('must exist', () => {
    expect(() => leastRepaired([], [])).toThrow('has no machine');
  });
});
