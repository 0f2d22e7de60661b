import { describe, expect, it } from 'vitest';
import { inactiveFields } from '../../../src/api/inactive/find.ts';
import type { Candidate } from '../../../src/api/validation/validate.ts';

function problemsOf(kind: string, spec: unknown, apiVersion = 'kubenode.dev/v1alpha1'): string[] {
  return inactiveFields({ apiVersion, kind, spec } as object).map(
    ({ path, message }) => `${path}: ${message}`,
  );
}

const NO = 'not supported in this version, because';
const CAUSE = { type: 'CommonCause', per: 'Cluster', dimensions: ['zone'] };

function rollout(fields: object): object {
  return { rollout: fields };
}

describe('the fields of an object that this version does not act on', () => {
  it.each<[kind: string, path: string, spec: object, message: string]>([
    ['Cluster', 'hosted.etcd.storageGiB', { hosted: { etcd: { storageGiB: 9 } } }, 'remove it'],
    ['Cluster', 'hosted.apiServer.cpuMillis', { hosted: { apiServer: { cpuMillis: 1 } } }, 'remove it'],
    ['Cluster', 'hosted.apiServer.memoryMiB', { hosted: { apiServer: { memoryMiB: 1 } } }, 'remove it'],
    [
      'Cluster',
      'hosted.controllerManager.cpuMillis',
      { hosted: { controllerManager: { cpuMillis: 1 } } },
      'remove it',
    ],
    [
      'Cluster',
      'hosted.controllerManager.memoryMiB',
      { hosted: { controllerManager: { memoryMiB: 1 } } },
      'remove it',
    ],
    ['Cluster', 'hosted.scheduler.cpuMillis', { hosted: { scheduler: { cpuMillis: 1 } } }, 'remove it'],
    ['Cluster', 'hosted.scheduler.memoryMiB', { hosted: { scheduler: { memoryMiB: 1 } } }, 'remove it'],
    ['Cluster', 'hosted.exposure.type', { hosted: { exposure: { type: 'NodePort' } } }, 'use ClusterIP'],
    ['Cluster', 'hosted.exposure.port', { hosted: { exposure: { port: 443 } } }, 'remove it'],
    ['Cluster', 'deletion.policy', { deletion: { policy: 'Orphan' } }, 'use Delete'],
    ['Cluster', 'deletion.force', { deletion: { force: true } }, 'remove it'],
    ['Cluster', 'deletion.timeoutSeconds', { deletion: { timeoutSeconds: 60 } }, 'remove it'],
    ['Machine', 'deletion.cleanup', { deletion: { cleanup: 'Wipe' } }, 'use Restore'],
    [
      'MachineSet',
      'template.deletion.cleanup',
      { template: { deletion: { cleanup: 'Orphan' } } },
      'use Restore',
    ],
    [
      'MachineSet',
      'updateStrategy.maxUnavailable',
      { updateStrategy: { maxUnavailable: '10%' } },
      'remove it',
    ],
    [
      'MachineSet',
      'updateStrategy.maxUnavailable',
      { updateStrategy: { type: 'OnDelete', maxUnavailable: 2 } },
      'remove it',
    ],
    [
      'MachineComponentSet',
      'rollout.gate.checks[0].failureLimit',
      rollout({ gate: { checks: [{ builtin: {}, failureLimit: 2 }] } }),
      'remove it',
    ],
    [
      'MachineComponentSet',
      'rollout.gate.checks[0].consecutiveSuccess',
      rollout({ gate: { checks: [{ builtin: {}, consecutiveSuccess: 2 }] } }),
      'remove it',
    ],
    ['DefenderPolicy', 'ruleWaves.waves', { ruleWaves: { waves: [1] } }, 'remove it'],
    ['DefenderPolicy', 'ruleWaves.soakSeconds', { ruleWaves: { soakSeconds: 1 } }, 'remove it'],
    ['DefenderPolicy', 'ruleWaves.minSuccessPercent', { ruleWaves: { minSuccessPercent: 1 } }, 'remove it'],
    ['DefenderPolicy', 'breakers[0].per', { breakers: [{ ...CAUSE, per: 'Zone' }] }, 'use Cluster'],
    [
      'DefenderPolicy',
      'breakers[0].per',
      { breakers: [{ type: 'IndeterminateRatio', per: 'Holder' }] },
      'use Cluster, Zone, Pool',
    ],
  ])('are named in a %s: %s', (kind, path, spec, hint) => {
    const problems = problemsOf(kind, spec);
    expect(problems).toEqual([expect.stringContaining(`spec.${path}: ${NO} `)]);
    expect(problems[0]?.endsWith(`: ${hint}`)).toBe(true);
  });

  it('HOS-52 do not include the port of a hosted control plane that has a host', () => {
    const exposure = { host: 'ci.example.com', port: 443 };
    expect(problemsOf('Cluster', { hosted: { driver: 'process', exposure } })).toEqual([]);
  });

  it('do not include the waves of rules in fleet-default, which are those of the cluster', () => {
    const ruleWaves = { waves: [1], soakSeconds: 1, minSuccessPercent: 1 };
    const named = (name: string): Candidate => {
      const policy = { apiVersion: 'kubenode.dev/v1alpha1', kind: 'DefenderPolicy', spec: { ruleWaves } };
      return Object.assign(policy, { metadata: { name } });
    };
    expect(inactiveFields(named('fleet-default'))).toEqual([]);
    expect(inactiveFields(named('other'))).toHaveLength(3);
  });

  it('do not include defaults, whether they are written or not', () => {
    const policy = {
      selfDoubt: { secondVantage: [] },
      blockers: {
        promql: [{ name: 'a', query: 'up' }],
        foreign: [{ taint: 'x' }, { lease: 'a/b' }],
        podLabels: ['gang'],
      },
      capacity: { simulateScheduling: true, minFreePercent: { cpu: 10 } },
      ruleWaves: { waves: [1, '5%', '20%', '100%'], soakSeconds: 1800, minSuccessPercent: 90 },
      breakers: [{ type: 'UnhealthyRatio', per: 'Zone', probes: 3 }, CAUSE],
    };
    expect(problemsOf('DefenderPolicy', policy)).toEqual([]);
    expect(problemsOf('MachineComponentSet', rollout({ partition: 0, windows: [] }))).toEqual([]);
    for (const kind of ['Pipeline', 'DefenderPolicy', 'Machine']) {
      expect(problemsOf(kind, {})).toEqual([]);
      expect(problemsOf(kind, 'not an object')).toEqual([]);
      expect(problemsOf(kind, undefined)).toEqual([]);
    }
  });

  it.each([
    ['the provider', { infra: { provider: 'ssh' }, import: { existingNode: 'Reject' } }],
    ['the cleanup', { infra: { provider: 'ssh' }, import: {}, deletion: { cleanup: 'Wipe' } }],
  ])('do not include %s of a host that is imported', (_, spec) => {
    expect(problemsOf('Machine', spec)).toEqual([]);
  });

  it('do not include how many machines a replacement may make unavailable', () => {
    const updateStrategy = { type: 'Replace', maxUnavailable: '10%', maxSurge: 2 };
    expect(problemsOf('MachineSet', { updateStrategy })).toEqual([]);
  });

  it('do not exist in kinds of other groups and in unknown kinds', () => {
    expect(problemsOf('Pipeline', { onFailure: 'PushRevert' }, 'example.com/v1')).toEqual([]);
    expect(problemsOf('constructor', { onFailure: 'PushRevert' })).toEqual([]);
    expect(inactiveFields({})).toEqual([]);
  });
});
