import { describe, expect, it } from 'vitest';
import type { Machine } from '../../../src/api/generated/types.ts';
import { permittedFinding } from '../../../src/controllers/remedy/permits.ts';
import { machine } from '../../support/builders.ts';
import { remedier } from '../../support/remediers.ts';

const DEFAULTS = ['kubelet', 'containerd'];

function reporting(name: string, ...services: readonly string[]): Machine {
  return machine(name, { status: { agent: { permits: { services, profiles: ['default'] } } } });
}

function restarts(service: string): ReturnType<typeof remedier> {
  const plan = [{ step: 'RestartService', with: { service } }];
  return remedier({ '/ladder': [{ name: 'restart', plan }] });
}

const HINT = 'add web to services in /etc/kubenode/jobs.json on these hosts, or change the rule';

describe('the steps of a rule beside what agents permit', () => {
  it.each<[string, service: string, readonly Machine[], string]>([
    [
      'are refused by every target',
      'web',
      [reporting('m-1', ...DEFAULTS), reporting('m-2')],
      `False NotPermitted: spec.ladder[0].plan[0].with.service: RestartService web is not permitted on 2 of 2 machines (m-1, m-2): ${HINT}`,
    ],
    [
      'are refused by some targets',
      'web',
      [reporting('m-1', 'web'), reporting('m-2'), machine('m-3')],
      `False PartlyPermitted: spec.ladder[0].plan[0].with.service: RestartService web is not permitted on 1 of 2 machines (m-2): ${HINT}`,
    ],
    [
      'are permitted by every target that reports',
      'kubelet',
      [reporting('m-1', ...DEFAULTS), machine('m-2')],
      'True AllPermitted: every target permits every step of the rule',
    ],
    [
      'are unknown while no agent reports',
      'web',
      [machine('m-1')],
      'Unknown NotReported: no agent of a target reports its permits yet',
    ],
  ])('%s', (_, service, targets, expected) => {
    const { status, reason, message } = permittedFinding(restarts(service), targets);
    expect(`${status} ${reason}: ${message}`).toBe(expected);
  });

  it('counts the other steps, and names the one that most hosts refuse', () => {
    const plan = [
      { step: 'CollectDiagnostics', with: { profile: 'gpu' } },
      { step: 'RestartService', with: { service: 'web' } },
    ];
    const rule = remedier({ '/ladder': [{ name: 'restart', plan }] });
    const targets = [reporting('m-1', 'web'), reporting('m-2')];
    expect(permittedFinding(rule, targets).message).toMatch(
      /^spec\.ladder\[0\]\.plan\[0\]\.with\.profile: CollectDiagnostics gpu .* \(and 1 more steps\)$/,
    );
  });
});
