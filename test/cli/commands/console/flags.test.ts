import { describe, expect, it } from 'vitest';
import { checkConsoleFlags } from '../../../../src/cli/commands/console/flags.ts';
import { EXIT } from '../../../../src/cli/errors.ts';
import { runCommandLine } from '../../../../src/cli/run.ts';
import { testIo } from '../../../support/test-io.ts';

const url = new URL('https://console.example.com');

describe('checkConsoleFlags', () => {
  it.each([
    ['a console without a login', { host: '127.0.0.1' }],
    ['a console without a login on another address, as before', { host: '0.0.0.0' }],
    ['a login on this machine', { host: '127.0.0.1', login: 'token' }],
    ['a login on this machine by IPv6', { host: '::1', login: 'token' }],
    [
      'a login with a Prometheus of one cluster, whose series have no label',
      { host: '127.0.0.1', login: 'token', prometheusUrl: 'http://prometheus', prometheusCluster: '' },
    ],
    [
      'other clusters with a login at an issuer',
      { host: '127.0.0.1', login: 'oidc', oidc: 'oidc.yaml', loginClusters: 'clusters.yaml' },
    ],
    ['a login behind an address with TLS', { host: '0.0.0.0', login: 'token', url }],
  ] as const)('accepts %s', (_, flags) => {
    expect(() => checkConsoleFlags(flags)).not.toThrow();
  });

  it.each([
    [
      'a login in a network without TLS',
      { host: '0.0.0.0', login: 'token' },
      '--login on 0.0.0.0 needs --url',
    ],
    ['a login on an address of IPv6', { host: 'fd00::1', login: 'token' }, '--login on fd00::1 needs --url'],
    [
      'a Prometheus of unknown clusters with a login',
      { host: '127.0.0.1', login: 'token', prometheusUrl: 'http://prometheus' },
      '--login with --prometheus-url needs --prometheus-cluster',
    ],
    [
      'other clusters for tokens that people enter',
      { host: '127.0.0.1', login: 'token', loginClusters: 'clusters.yaml' },
      '--login-clusters needs --login oidc',
    ],
    [
      'other clusters without a login',
      { host: '127.0.0.1', loginClusters: 'clusters.yaml' },
      '--login-clusters needs --login oidc',
    ],
    ['an address without a login', { host: '127.0.0.1', url }, '--url needs --login'],
  ] as const)('CON-21 refuses %s, with the flag that is missing', (_, flags, message) => {
    expect(() => checkConsoleFlags(flags)).toThrow(message);
  });
});

describe('kubenode console', () => {
  it.each([
    [['--login', 'password'], 'Allowed choices are token'],
    [['--login', 'token', '--url', 'http://console.example.com'], 'Expected https://NAME[:PORT]'],
    [['--login', 'token', '--url', 'https://console.example.com/console'], 'Expected https://NAME[:PORT]'],
    [['--login', 'token', '--host', '10.0.0.1'], '--login on 10.0.0.1 needs --url'],
    [['--prometheus-cluster', 'eu-1'], '--prometheus-cluster needs --prometheus-url'],
    [['--prometheus-url', 'http://me:secret@prometheus'], 'Expected an http or https URL without a user'],
  ])('refuses %j as a usage error', async (args, message) => {
    const io = testIo();
    expect(await runCommandLine(io, ['console', ...args])).toBe(EXIT.usage);
    expect(io.stderr).toContain(message);
  });
});
