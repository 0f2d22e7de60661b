import { describe, expect, it } from 'vitest';
import { clusterNames } from '../../src/local/names.ts';

describe('clusterNames', () => {
  it('starts with the hub and numbers further clusters prod-2, prod-3, …', () => {
    expect(clusterNames(7)).toEqual(['hub', 'test', 'pre', 'prod', 'prod-2', 'prod-3', 'prod-4']);
  });
});
