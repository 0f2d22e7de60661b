import { describe, expect, it } from 'vitest';
import { fitStatus } from '../../../src/agent/status/fit.ts';

type Report = Parameters<typeof fitStatus>[0];

const DENIED = ['1', '2', '3', '4'].map((each) => `sha256:${each.repeat(64)}`);

function report(components: number, message: string): Report {
  const error = { code: 'Download', message };
  return {
    components: Array.from({ length: components }, (_, index) => ({
      name: `c${index}`,
      state: 'Failed',
      error,
      deniedDigests: DENIED,
    })),
    drift: [{ component: 'c0', path: '/etc/a', kind: 'Content', action: 'Corrected' }],
    conditions: [],
  };
}

describe('AGT-60 a report of a machine', () => {
  it('is unchanged while it is small', () => {
    expect(fitStatus(report(4, 'x'.repeat(1024)))).toEqual(report(4, 'x'.repeat(1024)));
  });

  it('loses the end of texts first', () => {
    const fitted = fitStatus(report(20, 'x'.repeat(1024)));
    expect(fitted.components[0]?.error?.message).toHaveLength(256);
    expect(fitted.components[0]?.deniedDigests).toEqual(DENIED);
    expect(fitted.drift).toHaveLength(1);
  });

  it('keeps the newest denied digest when there are many components', () => {
    const fitted = fitStatus(report(64, 'x'.repeat(1024)));
    expect(fitted.components).toHaveLength(64);
    expect(fitted.components[0]).toMatchObject({ state: 'Failed', deniedDigests: [DENIED[3]] });
  });
});
