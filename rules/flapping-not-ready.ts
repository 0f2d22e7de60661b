import { condition, type NodeRemedierSpec, node } from 'kubenode/constructs';

const READY = condition('Ready');

/**
 * Keeps new Pods away from a node that becomes Ready and not Ready again and again, and hands it off to people. Each outage alone
 * is too short for kubelet-not-ready.
 */
export const flappingNotReady: NodeRemedierSpec = {
  mode: 'Enforce',
  owner: { team: 'node-sre', runbook: 'docs/runbooks/flapping-not-ready.md' },
  faultClass: 'Other',
  // After the rules that know the cause of one outage.
  priority: 250,
  target: { nodeSelector: { all: true }, controlPlane: 'OneAtATime', maxMatchPercent: 5 },
  rule: {
    // Three outages within an hour.
    conditions: READY.transitionsPerHour.atLeast(6),
    // After a boot the kubelet is Ready late. A node that boots again and again has another fault.
    gate: node.uptimeSeconds.atLeast(1800),
    clearSeconds: 3600,
  },
  dedup: { group: 'flapping', coveredBy: ['restart-kubelet', 'reboot', 'replace'] },
  ladder: [
    {
      name: 'person',
      plan: [
        { step: 'CollectDiagnostics', timeoutSeconds: 180, onFailure: 'Continue' },
        { step: 'Cordon', timeoutSeconds: 30 },
        { step: 'HandOff', with: { queue: 'node-sre', severity: 'ticket' } },
      ],
    },
  ],
  tests: [
    { name: 'three outages in an hour', expect: 'Match', given: { ...ready(6), ...upFor(86_400) } },
    { name: 'two outages in an hour', expect: 'NoMatch', given: { ...ready(5), ...upFor(86_400) } },
    { name: 'calm', expect: 'NoMatch', given: { ...ready(0), ...upFor(86_400) } },
    { name: 'just booted', expect: 'Held', given: { ...ready(6), ...upFor(900) } },
    {
      name: 'not observed for an hour',
      expect: 'Indeterminate',
      given: { condition: { Ready: { status: 'True' } }, ...upFor(86_400) },
    },
    { name: 'boot time unknown', expect: 'Indeterminate', given: ready(6) },
  ],
};

function ready(transitionsPerHour: number): Readonly<Record<string, unknown>> {
  return { condition: { Ready: { status: 'True', transitionsPerHour } } };
}

function upFor(uptimeSeconds: number): Readonly<Record<string, unknown>> {
  return { node: { uptimeSeconds } };
}
