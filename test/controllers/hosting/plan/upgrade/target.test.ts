import { describe, expect, it } from 'vitest';
import type { Hosted } from '../../../../../src/controllers/hosting/plan/input.ts';
import { targetDigest, targetProblem } from '../../../../../src/controllers/hosting/plan/upgrade/target.ts';
import { hostedWith } from '../../../../support/hosting/etcd.ts';
import { HOSTED, OLD_VERSION, settledPlane, VERSION } from '../../../../support/hosting/objects.ts';
import { type UpgradeParts, upgradeInput } from '../../../../support/hosting/upgrades.ts';

const NONE = /^none$/;
const TO = { version: VERSION };
const FAILED = { ...TO, digest: targetDigest(settledPlane(VERSION)), message: 'it hangs' };
const SHORT = { leafLifetimeSeconds: 3600, renewAtPercent: 50 };
const UPGRADE = HOSTED.upgrade;

function problem(parts: UpgradeParts): string {
  const found = targetProblem(upgradeInput(parts));
  return found ? `${found.reason}: ${found.message}` : 'none';
}

function programs(
  ...pairs: readonly (readonly [kubernetes: string, etcd: string])[]
): NonNullable<UpgradeParts['plane']> {
  return { programs: { versions: pairs.map(([kubernetes, etcd]) => ({ kubernetes, etcd })) } };
}

function to(version: string, more: Partial<Hosted> = {}): UpgradeParts {
  return { hosted: { version, ...more } };
}

describe('what a control plane is not changed to', () => {
  it.each<readonly [name: string, parts: UpgradeParts, expected: RegExp]>([
    ['the next minor version', {}, NONE],
    ['what it is', { settled: 'new' }, NONE],
    ['an older patch version', { ...to('v1.35.1'), plane: programs(['v1.35.1', 'v3.6.4']) }, NONE],
    [
      'a version two minors later',
      to('v1.37.0'),
      /^VersionSkew: v1.37.0 is 2 minor versions after v1.35.4; set spec.hosted.version to a version of 1.36 first/,
    ],
    [
      'the minor version before',
      { settled: 'new', ...to('v1.35.4') },
      /^RollbackImpossible: .*passed the point of no return to v1.36.3; set spec.hosted.version to v1.36.3/,
    ],
    [
      'another number of etcd members',
      { settled: 'new', ...to(VERSION, hostedWith(3)) },
      /^ReplicasFixed: .*created with 1 members of etcd, .*changed to 3; set spec.hosted.etcd.replicas to 1/,
    ],
    ['the next minor version, where its members are pods', { hosted: { driver: 'workload' } }, NONE],
    [
      'what the driver does not change',
      { hosted: { driver: 'workload' }, plane: { fixed: ['storageGiB is 8, not 20'] } },
      /^ChangeNotSupported: driver workload does not change this of a control plane that exists: storageGiB is 8, not 20; set it to what it was/,
    ],
    [
      'a version whose images are missing',
      { ...to('v1.36.9'), plane: { place: 'Namespace' } },
      /^VersionNotAvailable: .*not of v1.36.9; add v1.36.9 to the file of --images/,
    ],
    ['another major version', to('v2.35.0'), /^VersionSkew: /],
    [
      'a version whose programs are missing',
      to('v1.36.9'),
      /^VersionNotAvailable: this hosting has the programs of v1.35.4, v1.36.3, and not of v1.36.9; start hosting/,
    ],
    [
      'a version while no programs can be had',
      { plane: { programs: { problem: 'no network', isLoading: false } } },
      /^VersionNotAvailable: .*no network/,
    ],
    ['a version while programs are loaded', { plane: { programs: { problem: 'x', isLoading: true } } }, NONE],
    [
      'what was taken back',
      { status: { rolledBack: FAILED } },
      /^RolledBack: the change to v1.36.3 was taken back: it hangs; .*retryToken/,
    ],
    [
      'what was taken back, with another token',
      { status: { rolledBack: FAILED }, ...to(VERSION, { retryToken: 'b' }) },
      NONE,
    ],
    [
      'what was taken back with that token',
      { status: { rolledBack: { ...FAILED, retryToken: 'b' } }, ...to(VERSION, { retryToken: 'b' }) },
      /^RolledBack: /,
    ],
    [
      'what was taken back, with another lifetime of certificates',
      { status: { rolledBack: FAILED }, ...to(VERSION, { pki: SHORT }) },
      /^RolledBack: /,
    ],
    [
      'the same version with other flags than were taken back',
      { status: { rolledBack: FAILED }, ...to(VERSION, { scheduler: { extraArgs: { v: '4' } } }) },
      NONE,
    ],
    [
      'a flag that reads a file',
      to(VERSION, { apiServer: { extraArgs: { 'audit-policy-file': '/etc/shadow' } } }),
      /^NotSupported: spec.hosted.apiServer.extraArgs.audit-policy-file/,
    ],
    [
      'a flag that hosting sets',
      to(VERSION, { apiServer: { extraArgs: { 'emulated-version': '1.20' } } }),
      /^NotSupported: /,
    ],
    [
      'a minor version of etcd',
      { plane: programs([VERSION, 'v3.7.0']) },
      /^EtcdUpgradeNotAllowed: etcd would change from v3.6.5 to v3.7.0/,
    ],
    [
      'a minor version of etcd, where only the etcd that runs tells its version',
      {
        plane: {
          ...programs([VERSION, 'v3.7.0']),
          settled: { ...settledPlane(OLD_VERSION), etcdVersion: undefined },
        },
        but: { etcd: { version: 'v3.6.5' } },
      },
      /^EtcdUpgradeNotAllowed: etcd would change from v3.6.5 to v3.7.0/,
    ],
    [
      'a minor version of etcd that is allowed',
      {
        plane: programs([VERSION, 'v3.7.0']),
        ...to(VERSION, { upgrade: { ...UPGRADE, allowEtcdUpgrade: true } }),
      },
      NONE,
    ],
    [
      'an older minor version of etcd, also where newer ones are allowed',
      {
        plane: programs([VERSION, 'v3.5.21']),
        ...to(VERSION, { upgrade: { ...UPGRADE, allowEtcdUpgrade: true } }),
      },
      /^RollbackImpossible: etcd would change from v3.6.5 to v3.5.21/,
    ],
  ])('HOS-11 changes nothing and names the reason, where there is one: %s', (_, parts, expected) => {
    expect(problem(parts)).toMatch(expected);
  });

  it('HOS-11 keeps the hint of a long message', () => {
    const message = 'x'.repeat(5000);
    expect(problem({ status: { rolledBack: { ...FAILED, message } } })).toMatch(
      /then change spec.hosted.retryToken$/,
    );
  });
});
