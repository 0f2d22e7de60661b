import { describe, expect, it } from 'vitest';
import {
  ALIBABA,
  alibabaConfigReason,
  readAlibabaConfig,
  vSwitchOf,
} from '../../../src/providers/alibaba/config.ts';
import { CONFIG } from './harness.ts';

const TWO_ZONES = { ...CONFIG, vSwitchIds: { a: 'vsw-1', b: 'vsw-2' } };

describe('alibabaConfigReason', () => {
  it.each<[name: string, config: object, reason: string | undefined, zone?: string]>([
    ['a config', CONFIG, undefined],
    ['a host that joins by itself', {}, undefined, 'anywhere'],
    ['a type of another cloud', { ...CONFIG, instanceType: 'm7i.large' }, '.instanceType: expected a type'],
    ['no security group', { ...CONFIG, securityGroupIds: [] }, '.securityGroupIds'],
    [
      'more security groups than ECS accepts',
      { ...CONFIG, securityGroupIds: Array(6).fill('sg-1') },
      '.securityGroupIds',
    ],
    [
      'an id of another kind',
      { ...CONFIG, securityGroupIds: ['vsw-1'] },
      '.securityGroupIds[0]: expected an id',
    ],
    ['no zone', { ...CONFIG, vSwitchIds: {} }, '.vSwitchIds: expected the vSwitch'],
    ['a zone that is missing in the spec', TWO_ZONES, 'spec.zone: expected one of a, b'],
    ['a zone that has a vSwitch', TWO_ZONES, undefined, 'b'],
    ['a zone with the name of a built-in', TWO_ZONES, 'no vSwitch for zone toString', 'toString'],
    ['a price of nothing', { ...CONFIG, spot: { maxPricePerHour: 0 } }, '.spot.maxPricePerHour'],
    ['a small disk', { ...CONFIG, systemDisk: { sizeGiB: 10 } }, '.systemDisk.sizeGiB'],
    ['a reserved tag', { ...CONFIG, tags: { 'acs:x': 'y' } }, '.tags: expected no tag'],
    ['an address as a value', { ...CONFIG, tags: { x: 'http://y' } }, '.tags: expected no tag'],
    ['our tag in capitals', { ...CONFIG, tags: { 'Kubenode-Set': 'y' } }, '.tags: expected no tag'],
  ])('gives the reason for %s', (_, config, reason, zone) => {
    const shape = {
      config: { ...config },
      host: 'systemd',
      ...(zone === undefined ? {} : { zone }),
    } as const;
    const found = alibabaConfigReason(shape);
    expect(found ?? 'accepted').toContain(reason ?? 'accepted');
  });
});

describe('vSwitchOf', () => {
  it('puts no instance in a zone by chance', () => {
    const config = readAlibabaConfig({ config: TWO_ZONES, host: 'systemd' });
    expect([vSwitchOf(config, 'b'), vSwitchOf(config, 'c'), vSwitchOf(config, undefined)]).toEqual([
      'vsw-2',
      undefined,
      undefined,
    ]);
  });
});

describe('the kind of provider alibaba', () => {
  it('never starts an instance that a person or a repair stopped', () => {
    expect(ALIBABA.capabilities.startsStopped).toBe(false);
  });
});
