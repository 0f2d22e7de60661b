import { component, type NodeRemedierSpec, probe } from 'kubenode/constructs';

const runtime = probe('runtime');

/** Restarts a container runtime that does not answer. Containers keep running: their shims are not part of its service. */
export const containerRuntimeDown: NodeRemedierSpec = {
  mode: 'Enforce',
  owner: { team: 'node-sre', runbook: 'docs/runbooks/container-runtime-down.md' },
  faultClass: 'Runtime',
  // Before kubelet-not-ready: a kubelet is not Ready without its runtime, and a restart of the kubelet changes nothing.
  priority: 580,
  target: { nodeSelector: { matchLabels: { pool: 'general' } }, maxMatchPercent: 10 },
  rule: {
    conditions: { all: [runtime.result.is('Fail'), runtime.ageSeconds.atLeast(120)] },
    // The rollout repairs an update that is in progress.
    gate: component('containerd').state.in('Committed', 'RolledBack'),
    clearSeconds: 300,
  },
  dedup: { group: 'restart-containerd', coveredBy: ['reboot', 'replace'] },
  ladder: [
    {
      name: 'restart',
      plan: [
        { step: 'CollectDiagnostics', timeoutSeconds: 180, onFailure: 'Continue' },
        { step: 'RestartService', with: { service: 'containerd' }, timeoutSeconds: 120 },
      ],
      verify: { conditions: runtime.result.is('Pass'), holdSeconds: 120, timeoutSeconds: 600 },
    },
    {
      name: 'person',
      plan: [
        { step: 'Cordon', timeoutSeconds: 30 },
        { step: 'HandOff', with: { queue: 'node-sre', severity: 'page' } },
      ],
    },
  ],
  tests: [
    {
      name: 'does not answer',
      expect: 'Match',
      given: { ...answers('Fail', 150), ...containerd('Committed') },
    },
    {
      name: 'did not answer once',
      expect: 'NoMatch',
      given: { ...answers('Fail', 30), ...containerd('Committed') },
    },
    { name: 'answers', expect: 'NoMatch', given: { ...answers('Pass', 9000), ...containerd('Committed') } },
    {
      name: 'an update is in progress',
      expect: 'Held',
      given: { ...answers('Fail', 150), ...containerd('Activating') },
    },
    { name: 'agent silent', expect: 'Indeterminate', given: {} },
    { name: 'another runtime', expect: 'Indeterminate', given: answers('Fail', 150) },
  ],
};

function answers(result: 'Pass' | 'Fail', ageSeconds: number): Readonly<Record<string, unknown>> {
  return { probe: { runtime: { result, ageSeconds } } };
}

function containerd(state: string): Readonly<Record<string, unknown>> {
  return { component: { containerd: { state } } };
}
