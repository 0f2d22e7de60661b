import { describe, expect, it } from 'vitest';
import { MAX_LOGIN_CLUSTERS } from '../../../../src/console/login/members/clusters-file.ts';
import { createMachinePlaces, PLACE_LIMITS } from '../../../../src/console/login/members/machine-places.ts';
import { MAX_FLEETS } from '../../../../src/console/login/user-fleets.ts';

const LIMITS = { total: 100, perPerson: 60, perCluster: 10 };

describe('createMachinePlaces', () => {
  it('CON-33 has places for all fleets with all clusters of the file, when these are small', () => {
    expect(MAX_FLEETS * MAX_LOGIN_CLUSTERS * PLACE_LIMITS.perCluster).toBeLessThanOrEqual(PLACE_LIMITS.total);
  });

  it('CON-33 counts the machines of clusters, a small one as a larger one, and frees each once', () => {
    const places = createMachinePlaces(LIMITS);
    const [small, large] = [places.take('anna', 2), places.take('anna', 50)];
    expect(places.taken).toBe(60);
    for (const free of [small, small, large]) if (typeof free === 'function') free();
    expect(places.taken).toBe(0);
    expect(typeof places.take('anna', 60)).toBe('function');
  });

  it('CON-33 refuses more than a person may read, and more than all may read, with the numbers', () => {
    const places = createMachinePlaces(LIMITS);
    places.take('anna', 50);
    expect(places.take('anna', 11)).toContain(
      'you read 50 machines of other clusters, this one has 11 (counted as at least 10), and 60 is the limit of a person',
    );
    places.take('ben', 45);
    expect(places.take('carl', 2)).toContain(
      'all people read 95 machines of other clusters, this one has 2 (counted as at least 10), and 100 is the limit of the console',
    );
    expect(places.taken).toBe(95);
  });
});
