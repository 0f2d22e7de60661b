import { any, component, condition, type NodeRemedierSpec } from 'kubenode/constructs';

/** Restarts a kubelet whose node is not Ready, then hands off to people. */
export const kubeletNotReady: NodeRemedierSpec = {
  mode: 'Enforce',
  owner: { team: 'node-sre', runbook: 'docs/runbooks/kubelet-not-ready.md' },
  faultClass: 'Runtime',
  priority: 550,
  target: { nodeSelector: { matchLabels: { pool: 'general' } }, maxMatchPercent: 10 },
  rule: {
    conditions: any(
      condition('Ready').is('False', { for: '3m' }),
      condition('Ready').is('Unknown', { for: '3m' }),
    ),
    // The rollout repairs an update that is in progress.
    gate: component('kubelet').state.in('Committed', 'RolledBack'),
    clearSeconds: 300,
    // A kubelet that was restarted twice within an hour is for a person.
    flap: { windowSeconds: 3600, maxTransitions: 4 },
  },
  dedup: { group: 'restart-kubelet', coveredBy: ['reboot', 'replace'] },
  ladder: [
    {
      name: 'restart',
      plan: [
        { step: 'CollectDiagnostics', timeoutSeconds: 180, onFailure: 'Continue' },
        { step: 'RestartService', with: { service: 'kubelet' }, timeoutSeconds: 120 },
      ],
      verify: { conditions: condition('Ready').is('True'), holdSeconds: 120, timeoutSeconds: 600 },
    },
    { name: 'person', plan: [{ step: 'HandOff', with: { queue: 'node-sre', severity: 'page' } }] },
  ],
  tests: [
    { name: 'not ready', expect: 'Match', given: { ...ready('False', 200), ...kubelet('Committed') } },
    {
      name: 'node lease lost',
      expect: 'Match',
      given: { ...ready('Unknown', 200), ...kubelet('Committed') },
    },
    {
      name: 'not ready for a minute',
      expect: 'NoMatch',
      given: { ...ready('False', 60), ...kubelet('Committed') },
    },
    { name: 'ready', expect: 'NoMatch', given: { ...ready('True', 9000), ...kubelet('Committed') } },
    {
      name: 'an update is in progress',
      expect: 'Held',
      given: { ...ready('False', 200), ...kubelet('Probation') },
    },
    { name: 'no condition', expect: 'Indeterminate', given: kubelet('Committed') },
    { name: 'agent silent', expect: 'Indeterminate', given: ready('Unknown', 200) },
  ],
};

function ready(
  status: 'True' | 'False' | 'Unknown',
  observedSeconds: number,
): Readonly<Record<string, unknown>> {
  return { condition: { Ready: { status, observedSeconds } } };
}

function kubelet(state: string): Readonly<Record<string, unknown>> {
  return { component: { kubelet: { state } } };
}
