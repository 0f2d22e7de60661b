import { all, condition, type NodeRemedierSpec, node } from 'kubenode/constructs';

/**
 * Hands a node off to people whose network the network plug-in or the cloud did not set up. Kubernetes itself keeps new Pods away
 * from it, so it needs no cordon.
 */
export const networkUnavailable: NodeRemedierSpec = {
  mode: 'Enforce',
  owner: { team: 'node-sre', runbook: 'docs/runbooks/network-unavailable.md' },
  faultClass: 'Network',
  priority: 420,
  target: { nodeSelector: { all: true }, controlPlane: 'OneAtATime', maxMatchPercent: 5 },
  rule: {
    conditions: condition('NetworkUnavailable').is('True', { for: '5m' }),
    // A new node gets its routes first. One that is not Ready has another fault, or is off.
    gate: all(condition('Ready').is('True'), node.ageSeconds.atLeast(1800)),
  },
  dedup: { group: 'network', coveredBy: ['reboot', 'replace'] },
  ladder: [
    {
      name: 'person',
      plan: [
        { step: 'CollectDiagnostics', timeoutSeconds: 180, onFailure: 'Continue' },
        { step: 'HandOff', with: { queue: 'node-sre', severity: 'page' } },
      ],
    },
  ],
  tests: [
    { name: 'no network', expect: 'Match', given: { ...conditions('True', 400), ...existsFor(86_400) } },
    {
      name: 'no network for a moment',
      expect: 'NoMatch',
      given: { ...conditions('True', 60), ...existsFor(86_400) },
    },
    { name: 'network', expect: 'NoMatch', given: { ...conditions('False', 9000), ...existsFor(86_400) } },
    { name: 'a new node', expect: 'Held', given: { ...conditions('True', 400), ...existsFor(500) } },
    {
      name: 'not Ready',
      expect: 'Held',
      given: { ...conditions('True', 400, 'Unknown'), ...existsFor(86_400) },
    },
    { name: 'no condition', expect: 'Indeterminate', given: existsFor(86_400) },
    { name: 'age unknown', expect: 'Indeterminate', given: conditions('True', 400) },
  ],
};

function conditions(
  unavailable: 'True' | 'False',
  observedSeconds: number,
  ready = 'True',
): Readonly<Record<string, unknown>> {
  return {
    condition: {
      NetworkUnavailable: { status: unavailable, observedSeconds },
      Ready: { status: ready, observedSeconds: 9000 },
    },
  };
}

function existsFor(ageSeconds: number): Readonly<Record<string, unknown>> {
  return { node: { ageSeconds } };
}
