import { describe, expect, it } from 'vitest';
import { planeData } from '../../../../src/controllers/hosting/drivers/data.ts';
import type { DataState } from '../../../../src/controllers/hosting/drivers/driver.ts';

describe('the data of all members of an etcd', () => {
  it.each<readonly [members: string, expected: DataState]>([
    ['Own', 'Own'],
    ['Empty', 'Empty'],
    ['Other', 'Other'],
    ['Own Empty Empty', 'Empty'],
    ['Own Own Empty', 'Own'],
    ['Empty Own Own', 'Own'],
    ['Own Own Other', 'Other'],
    ['Own Own Empty Empty Empty', 'Empty'],
    ['Own Own Own Empty Empty', 'Own'],
  ])('HOS-33 judges the data of members together: of %s it is %s', (members, expected) => {
    expect(planeData(members.split(' ') as DataState[])).toBe(expected);
  });
});
