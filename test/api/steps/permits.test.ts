import { describe, expect, it } from 'vitest';
import { DEFAULT_PERMITS, isPermitted, neededPermits } from '../../../src/api/steps/permits.ts';

function ruleWith(...plan: readonly unknown[]): unknown {
  return { ladder: [{ plan }] };
}

describe('neededPermits', () => {
  it.each<[name: string, spec: unknown, needs: readonly string[]]>([
    [
      'the service of a restart',
      ruleWith({ step: 'RestartService', with: { service: 'kubelet' } }),
      ['spec.ladder[0].plan[0].with.service: services kubelet'],
    ],
    [
      'the profile of a collection, and the default one',
      ruleWith({ step: 'CollectDiagnostics', with: { profile: 'deep' } }, { step: 'CollectDiagnostics' }),
      [
        'spec.ladder[0].plan[0].with.profile: profiles deep',
        'spec.ladder[0].plan[1].with.profile: profiles default',
      ],
    ],
    [
      'steps of every rung, and those after the verification',
      {
        ladder: [
          { plan: [{ step: 'Reboot' }] },
          { plan: [], onVerified: [{ step: 'RestartService', with: { service: 'crio' } }] },
        ],
      },
      ['spec.ladder[1].onVerified[0].with.service: services crio'],
    ],
    ['nothing for a restart without a service', ruleWith({ step: 'RestartService', with: {} }), []],
    ['nothing for steps that need no permit', ruleWith({ step: 'Cordon' }, { step: 'Drain' }), []],
    ['nothing for a step that does not exist', ruleWith({ step: 'Explode', with: { service: 'a' } }), []],
    ['nothing in values of other types', ruleWith('Reboot', 7, { step: ['RestartService'] }), []],
    ['nothing without a ladder', { ladder: 'none' }, []],
    ['nothing in no spec', undefined, []],
  ])('finds %s', (_, spec, needs) => {
    expect(neededPermits(spec).map(({ path, of, name }) => `${path}: ${of} ${name}`)).toEqual(needs);
  });
});

describe('isPermitted', () => {
  it.each([
    ['kubelet', true],
    ['sshd', false],
  ])('looks for service %s among those of the host', (service, permitted) => {
    const [needed] = neededPermits(ruleWith({ step: 'RestartService', with: { service } }));
    expect(needed && isPermitted(needed, DEFAULT_PERMITS)).toBe(permitted);
    expect(needed && isPermitted(needed, { services: [], profiles: [service] })).toBe(false);
  });
});
