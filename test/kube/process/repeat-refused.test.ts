import { describe, expect, it } from 'vitest';
import { repeatRefused } from '../../../src/kube/process/repeat-refused.ts';

interface Repeated {
  /** Writes and waits, in order. */
  readonly steps: readonly string[];
  readonly refused: readonly string[];
}

/** Machines by how often each is refused. */
async function repeated(refusals: Readonly<Record<string, number>>): Promise<Repeated> {
  const steps: string[] = [];
  const refused: string[] = [];
  const left = { ...refusals };
  await repeatRefused(
    Object.keys(refusals),
    async (name) => {
      steps.push(name);
      left[name] = (left[name] ?? 0) - 1;
      return (left[name] ?? 0) >= 0 ? `${name} is refused` : undefined;
    },
    {
      sleep: async (ms) => void steps.push(`${ms} ms`),
      refused: (error) => void refused.push(String(error)),
    },
  );
  return { steps, refused };
}

describe('repeatRefused', () => {
  it('waits for nothing when nothing is refused', async () => {
    expect(await repeated({ a: 0, b: 0 })).toEqual({ steps: ['a', 'b'], refused: [] });
    expect(await repeated({})).toEqual({ steps: [], refused: [] });
  });

  it('repeats only what was refused, after all others', async () => {
    expect(await repeated({ a: 1, b: 0, c: 2 })).toEqual({
      steps: ['a', 'b', 'c', '50 ms', 'a', 'c', '150 ms', 'c'],
      refused: [],
    });
  });

  it('gives up what stays refused, with the last error of each', async () => {
    const { steps, refused } = await repeated({ a: 9, b: 1, c: 9 });
    expect(refused).toEqual(['a is refused', 'c is refused']);
    expect(steps.filter((step) => step === 'a')).toHaveLength(4);
  });
});
