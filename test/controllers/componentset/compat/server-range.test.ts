import { describe, expect, it } from 'vitest';
import type { KubernetesRange } from '../../../../src/api/generated/types.ts';
import { rangeText, serverOutside } from '../../../../src/controllers/componentset/compat/server-range.ts';

const RANGE = { min: '1.31', max: '1.34' };

describe('serverOutside', () => {
  it.each<[range: KubernetesRange, servers: string, expected: string]>([
    [RANGE, 'v1.31.0', 'within'],
    [RANGE, 'v1.34.9', 'within'],
    [RANGE, 'v1.34.2 v1.35.0', 'Newer v1.35.0'],
    [RANGE, 'v1.30.9', 'Older v1.30.9'],
    [{ min: '1.34.3' }, 'v1.34.2', 'Older v1.34.2'],
    [{ min: '1.34.3' }, 'v1.34', 'within'],
    [{ max: '1.9' }, 'v1.10.0', 'Newer v1.10.0'],
    [{ max: '1' }, 'v1.36.3', 'within'],
    [RANGE, 'main', 'Unknown main'],
    [{ min: 'latest' }, 'v1.34.0', 'Unknown v1.34.0'],
  ])('%o holds %s: %s', (range, servers, expected) => {
    const found = serverOutside(range, servers.split(' '));
    expect(found ? `${found.state} ${found.version}` : 'within').toBe(expected);
  });

  it('does not compare with no server at all', () => {
    expect(serverOutside(RANGE, [])).toEqual({ state: 'Unknown', version: '(none)' });
  });
});

describe('rangeText', () => {
  it('names the ends that are declared', () => {
    expect([RANGE, { min: '1.31' }, { max: '1.34' }].map(rangeText)).toEqual([
      '1.31 to 1.34',
      '1.31 or newer',
      '1.34 or older',
    ]);
  });
});
