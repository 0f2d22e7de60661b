import { describe, expect, it } from 'vitest';
import {
  hostReason,
  outsideOf,
  outsideText,
} from '../../../../../src/controllers/hosting/plan/exposure/outside.ts';
import { HOSTED } from '../../../../support/hosting/objects.ts';

const EXPOSURE = HOSTED.exposure;

describe('where other machines reach a control plane of processes', () => {
  it.each<[host: string, expected: string]>([
    ['ci.example.com', 'https://ci.example.com:6443'],
    ['CI.Example.COM', 'https://ci.example.com:6443'],
    ['192.0.2.10', 'https://192.0.2.10:6443'],
    ['2001:DB8::10', 'https://[2001:db8::10]:6443'],
    ['::ffff:192.0.2.10', 'https://[::ffff:192.0.2.10]:6443'],
    ['223.255.255.1', 'https://223.255.255.1:6443'],
    ['ff::1', 'https://[ff::1]:6443'],
    ['64:ff9b::192.0.2.33', 'https://[64:ff9b::192.0.2.33]:6443'],
    ['xn--bcher-kva.example', 'https://xn--bcher-kva.example:6443'],
    [`${'a'.repeat(63)}.example.com`, `https://${'a'.repeat(63)}.example.com:6443`],
  ])('HOS-41 is the host %s of the spec', (host, expected) => {
    const exposure = { ...EXPOSURE, host };
    expect(outsideText(outsideOf({ ...HOSTED, exposure }))).toBe(expected);
    expect(outsideOf({ ...HOSTED, driver: 'workload', exposure })).toBeUndefined();
  });

  it('HOS-41 is loopback only where the spec has no host, whatever the port', () => {
    const exposure = { ...EXPOSURE, port: 7443 };
    expect(outsideText(outsideOf({ ...HOSTED, exposure }))).toBe('loopback only');
  });

  it.each([
    ['0.0.0.0', 'clients cannot connect to it'],
    ['::', 'clients cannot connect to it'],
    ['0:0:0:0:0:0:0:0', 'clients cannot connect to it'],
    ['::ffff:0.0.0.0', 'clients cannot connect to it'],
    ['127.0.0.1', 'clients cannot connect to it'],
    ['127.0.0.2', 'clients cannot connect to it'],
    ['::1', 'clients cannot connect to it'],
    ['::ffff:127.0.0.1', 'clients cannot connect to it'],
    ['LocalHost', 'clients cannot connect to it'],
    ['ci.localhost', 'clients cannot connect to it'],
    ['224.0.0.1', 'clients cannot connect to it'],
    ['255.255.255.255', 'clients cannot connect to it'],
    ['ff02::1', 'clients cannot connect to it'],
    ['240.0.0.1', 'clients cannot connect to it'],
    ['::192.0.2.1', 'clients cannot connect to it'],
    ['::ffff:169.254.1.1', 'clients cannot connect to it'],
    ['0:0:0:0:0:0:0:1', 'clients cannot connect to it'],
    ['169.254.169.254', 'clients cannot connect to it'],
    ['fe80::1', 'clients cannot connect to it'],
    ['192.0.2.300', 'neither a DNS name nor an address'],
    ['999.1.1.1', 'neither a DNS name nor an address'],
    ['1.2.3', 'neither a DNS name nor an address'],
    ['0x7f.1', 'neither a DNS name nor an address'],
    ['10', 'neither a DNS name nor an address'],
    [`${'a'.repeat(64)}.example.com`, 'neither a DNS name nor an address'],
    [`${'a.'.repeat(126)}com`, 'neither a DNS name nor an address'],
    ['fe80::1%eth0', 'an address with a zone'],
    ['[2001:db8::10]', 'neither a DNS name nor an address'],
    ['ci.example.com:6443', 'neither a DNS name nor an address'],
    ['https://ci.example.com', 'neither a DNS name nor an address'],
    ['ci.example.com.', 'neither a DNS name nor an address'],
    ['*.example.com', 'neither a DNS name nor an address'],
    ['', 'neither a DNS name nor an address'],
  ])('HOS-41 is never the host %j, and the reason names another one', (host, reason) => {
    expect(hostReason(host)).toContain(reason);
    expect(outsideOf({ ...HOSTED, exposure: { ...EXPOSURE, host } })).toBeUndefined();
  });
});
