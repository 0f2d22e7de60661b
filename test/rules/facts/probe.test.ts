import { describe, expect, it } from 'vitest';
import { ago } from '../../support/builders.ts';
import { reporting } from '../live/facts-bed.ts';

const PROBE = { name: 'hung-tasks' };

describe('the fact probe', () => {
  it('has the result of a probe and its age; Unknown is neither Pass nor Fail', () => {
    const bed = reporting({
      facts: {
        probes: [
          { name: 'hung-tasks', result: 'Fail', at: ago(20) },
          { name: 'dns', result: 'Unknown', at: ago(20) },
        ],
      },
    });
    expect(bed.read('probe', PROBE)).toEqual({ result: 'Fail', ageSeconds: 20 });
    expect(bed.read('probe', { name: 'dns' })).toEqual({ ageSeconds: 20 });
  });
});
