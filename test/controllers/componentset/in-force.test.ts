import { describe, expect, it } from 'vitest';
import { type InForce, recordInForce } from '../../../src/controllers/componentset/in-force.ts';

interface Part extends InForce {
  readonly limit: number;
}

function part(spec: string, declared: string, limit: number): Part {
  return { spec, declared, limit };
}

const strictest = (before: Part, now: Part): Part => ({ ...now, limit: Math.min(before.limit, now.limit) });

describe('recordInForce', () => {
  const before = part('a', 'x', 1);

  it.each<[what: string, before: Part | undefined, now: Part, limit: number]>([
    ['nothing was recorded before', undefined, part('a', 'x', 5), 5],
    ['the part alone changed', before, part('a', 'y', 5), 5],
    ['the rest alone changed', before, part('b', 'x', 1), 1],
    ['both changed, and the part is looser', before, part('b', 'y', 5), 1],
    ['both changed, and the part is stricter', before, part('b', 'y', 0), 0],
  ])('is judged by what it should be where %s', (_, recorded, now, limit) => {
    expect(recordInForce(recorded, now, strictest)).toEqual({ ...now, limit });
  });

  it('keeps the record itself while nothing changes, with what a change before loosened', () => {
    const judged = recordInForce(before, part('b', 'y', 5), strictest);
    expect(recordInForce(judged, part('b', 'y', 5), strictest)).toBe(judged);
  });

  it('is in force as declared after the next change of the rest, which keeps the part', () => {
    const judged = recordInForce(before, part('b', 'y', 5), strictest);
    expect(recordInForce(judged, part('c', 'y', 5), strictest).limit).toBe(5);
  });
});
