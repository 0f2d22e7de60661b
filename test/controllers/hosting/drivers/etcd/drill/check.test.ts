import { describe, expect, it } from 'vitest';
import {
  drillText,
  parseDrillCheck,
} from '../../../../../../src/controllers/hosting/drivers/etcd/drill/check.ts';
import { DRILLED } from '../../../../../support/hosting/objects.ts';

describe('what a drill has found', () => {
  it('HOS-32 is read from the report of a pod, also of a later version', () => {
    expect(parseDrillCheck(JSON.stringify({ ...DRILLED, later: 1 }))).toEqual(DRILLED);
  });

  it.each([undefined, '', 'copied', '[]', '{"objects":1}'])('HOS-32 is not known from %j', (text) => {
    expect(parseDrillCheck(text)).toBeUndefined();
  });

  it('HOS-32 is reported with the backup and what was counted', () => {
    expect(drillText(DRILLED)).toBe(
      'an API server read all 312 objects of 24 resources from 000001-20300101T000000Z, among them 4 namespaces and 7 objects of kubenode.dev',
    );
  });
});
